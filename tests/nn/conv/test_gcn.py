import pytest
import torch
from torch_geometric.nn import GCNConv

import reference
from cases import AWKWARD, awkward, naive_edges, randomise, relative_error
from ghr.nn import GCN


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("edge_dim", [None, 1])
def test_equals_the_loops(name, edge_dim):
    conv = randomise(GCN(5, edge_dim))
    x, edge_index, edge_attr = awkward(name, 5, edge_dim)
    expected, _ = reference.gcn(
        reference.read_weights(conv), reference.read_rows(x), naive_edges(edge_index, edge_attr)
    )
    assert relative_error(conv(x, edge_index, edge_attr), expected) <= 1e-10


# Where the graph itself has a weighted self loop the two differ: PyG keeps its weight, ours is one.
@pytest.mark.parametrize(
    ("name", "edge_dim"), [(name, dim) for name in AWKWARD for dim in (None, 1) if dim is None or "loop" not in name]
)
def test_equals_pyg(name, edge_dim):
    ours, theirs = randomise(GCN(5, edge_dim)), GCNConv(5, 5).double()
    theirs.lin.weight.data.copy_(ours.linear.weight)
    theirs.bias.data.copy_(ours.linear.bias)
    x, edge_index, edge_attr = awkward(name, 5, edge_dim)
    expected = theirs(x, edge_index, None if edge_attr is None else edge_attr.reshape(-1)).relu().detach()
    assert relative_error(ours(x, edge_index, edge_attr), expected) <= 1e-12


def test_constant_features_on_a_ring_stay_constant():
    torch.manual_seed(0)  # some weights give zero everywhere
    conv = randomise(GCN(5))
    here = torch.arange(6)
    ring = torch.cat([torch.stack([here, (here + 1) % 6]), torch.stack([(here + 1) % 6, here])], dim=1)
    out = conv(torch.ones(6, 5, dtype=torch.double), ring)
    assert torch.allclose(out, out[:1].expand_as(out), rtol=0, atol=1e-14)
    assert out.abs().max() > 0


def test_isolated_node_keeps_its_own_features():
    conv = randomise(GCN(5))
    x, edge_index, _ = awkward("isolated", 5, None)
    assert torch.allclose(conv(x, edge_index)[1], conv.linear(x[1]).relu(), rtol=1e-14, atol=0)


def test_starts_like_pyg():
    torch.manual_seed(0)
    conv = GCN(64)
    assert conv.linear.bias.abs().max() == 0
    assert float(conv.linear.weight.detach().abs().max()) == pytest.approx((6 / 128) ** 0.5, rel=0.01)


def test_edge_encoder_gives_one_weight_above_zero():
    encoder, width = GCN.edge_encoder(3, 5)
    weight = encoder(10 * torch.randn(20, 3))
    assert width == 1
    assert weight.shape == (20, 1)
    assert (weight > 0).all()
