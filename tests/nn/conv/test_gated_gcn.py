import pytest
import torch

import reference
from cases import AWKWARD, awkward, naive_edges, randomise, relative_error
from ghr.nn import GatedGCN


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("edge_dim", [None, 6])
def test_equals_the_loops_over_three_updates(name, edge_dim):
    conv = randomise(GatedGCN(6, edge_dim))
    x, edge_index, edge_attr = awkward(name, 6, edge_dim)
    weights, rows, naive = reference.read_weights(conv), reference.read_rows(x), naive_edges(edge_index, edge_attr)
    edges = conv.prepare(edge_index, edge_attr, x.size(0))
    for _ in range(3):
        x, edges = conv.propagate(x, edges)
        rows, naive = reference.gated_gcn(weights, rows, naive)
        assert relative_error(x, rows) <= 1e-10
        assert edges.attr.shape == (edge_index.size(1), 6)
        assert relative_error(edges.attr, [edge.feature for edge in naive]) <= 1e-10


def test_gates_of_a_node_sum_to_almost_one():
    conv = randomise(GatedGCN(6))
    with torch.no_grad():
        conv.own.weight.zero_()
        conv.own.bias.zero_()
        conv.neighbour.weight.zero_()
        conv.neighbour.bias.fill_(1)  # then the sum over neighbours is the sum of the gates
        conv.norm.weight.fill_(1)
    seen = []
    conv.norm.register_forward_hook(lambda module, given, out: seen.append(given[0]))
    x, edge_index, _ = awkward("directed", 6, None)
    conv(x, edge_index)
    raw = conv.edge_target(x)[edge_index[1]] + conv.edge_source(x)[edge_index[0]] + conv.edge.bias
    total = torch.zeros_like(x).index_add(0, edge_index[1], raw.sigmoid())
    assert torch.allclose(seen[0], total / (total + 1e-6), rtol=1e-12, atol=0)
    reached = edge_index[1].unique()
    assert (seen[0][reached] - 1).abs().max() < 1e-4
    assert seen[0][3].abs().max() == 0  # nobody points at node 3


def test_isolated_node_has_itself_alone():
    conv = randomise(GatedGCN(6))
    x, edge_index, _ = awkward("isolated", 6, None)
    assert torch.allclose(conv(x, edge_index)[1], conv.norm(conv.own(x[1])).relu(), rtol=1e-14, atol=0)


def test_the_two_ends_of_an_edge_have_different_maps():
    conv = randomise(GatedGCN(6))
    x = torch.randn(2, 6, dtype=torch.double)
    there, back = torch.tensor([[0], [1]]), torch.tensor([[1], [0]])

    def edge_state(edge_index):
        return conv.propagate(x, conv.prepare(edge_index, None, 2))[1].attr

    assert not torch.allclose(edge_state(there), edge_state(back))
    conv.edge_source.load_state_dict(conv.edge_target.state_dict())
    assert torch.allclose(edge_state(there), edge_state(back))


def test_edge_width_must_be_the_state_width():
    with pytest.raises(ValueError, match="as wide as its states, 6; got edge_dim=3"):
        GatedGCN(6, 3)
