import pytest
import torch
from torch_geometric.nn import GATv2Conv

import reference
from cases import AWKWARD, awkward, naive_edges, randomise, relative_error
from ghr.nn import GAT


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("edge_dim", [None, 3])
def test_equals_the_loops(name, edge_dim):
    conv = randomise(GAT(6, edge_dim))
    x, edge_index, edge_attr = awkward(name, 6, edge_dim)
    expected, _ = reference.gat(
        reference.read_weights(conv), reference.read_rows(x), naive_edges(edge_index, edge_attr)
    )
    assert relative_error(conv(x, edge_index, edge_attr), expected) <= 1e-10


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("edge_dim", [None, 3])
def test_equals_pyg(name, edge_dim):
    ours, theirs = randomise(GAT(6, edge_dim)), GATv2Conv(6, 6, heads=1, edge_dim=edge_dim).double()
    theirs.lin_l.load_state_dict(ours.source.state_dict())
    theirs.lin_r.load_state_dict(ours.target.state_dict())
    theirs.att.data.copy_(ours.attention.view(1, 1, -1))
    theirs.bias.data.copy_(ours.bias)
    if edge_dim is not None:
        theirs.lin_edge.load_state_dict(ours.edge.state_dict())
    x, edge_index, edge_attr = awkward(name, 6, edge_dim)
    expected = theirs(x, edge_index, edge_attr).relu().detach()
    assert relative_error(ours(x, edge_index, edge_attr), expected) <= 1e-10


@pytest.mark.parametrize("name", AWKWARD)
def test_attention_sums_to_one(name):
    conv = randomise(GAT(6, 3))
    with torch.no_grad():  # every value is then the same vector, and so must be what attention makes of them
        conv.source.weight.zero_()
        conv.source.bias.fill_(2)
        conv.bias.zero_()
    x, edge_index, edge_attr = awkward(name, 6, 3)
    out = conv(x, edge_index, edge_attr)
    assert torch.allclose(out, torch.full_like(out, 2), rtol=1e-14, atol=0)


def test_attention_is_not_uniform():
    conv = randomise(GAT(6, 3), scale=1.0)
    x, edge_index, edge_attr = awkward("triangle and tail", 6, 3)
    shares = reference.attention(
        reference.read_weights(conv), reference.read_rows(x), naive_edges(edge_index, edge_attr), 2
    )
    assert max(share for _, share in shares) > 0.5 > 2 * min(share for _, share in shares)


def test_large_scores_do_not_overflow():
    conv = GAT(6)
    with torch.no_grad():
        conv.attention.fill_(1e4)
    x, edge_index, _ = awkward("triangle and tail", 6, None)
    assert torch.isfinite(conv(x.float(), edge_index)).all()


def test_starts_like_pyg():
    torch.manual_seed(0)
    conv = GAT(64, 3)
    assert conv.bias.abs().max() == conv.source.bias.abs().max() == 0
    assert float(conv.source.weight.detach().abs().max()) == pytest.approx((6 / 128) ** 0.5, rel=0.01)
    assert float(conv.attention.detach().abs().max()) <= (6 / 65) ** 0.5


@pytest.mark.parametrize("edge_dim", [None, 2])
def test_loops_are_left_out_alike_where_nothing_may_be_looked_at(edge_dim, monkeypatch):
    x, edge_index, edge_attr = awkward("self loops", 3, edge_dim)
    conv = randomise(GAT(3, edge_dim))
    expected = conv.propagate(x, conv.prepare(edge_index, edge_attr, len(x)))[0]
    monkeypatch.setattr("ghr.nn.conv.gat.at_hand", lambda value: False)
    ours = conv.propagate(x, conv.prepare(edge_index, edge_attr, len(x)))[0]
    assert torch.allclose(ours, expected, rtol=1e-12)
    ours.sum().backward()
    assert all(torch.isfinite(value.grad).all() for value in conv.parameters())
