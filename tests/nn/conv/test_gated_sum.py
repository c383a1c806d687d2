import pytest
import torch

from cases import AWKWARD, awkward, randomise, relative_error
from ghr.nn.conv.gated_sum import GatedSum


def slow(layer, x, edge_index, edge_attr):
    """The sums of the docstring, edge by edge."""
    source, target = edge_index.tolist()
    raw = []
    for e, (j, i) in enumerate(zip(source, target, strict=True)):
        state = torch.zeros(x.size(1)).double() if edge_attr is None else edge_attr[e]
        raw.append(layer.edge_target(x[i]) + layer.edge_source(x[j]) + layer.edge(state))
    out = []
    for i in range(len(x)):
        arriving = [e for e in range(len(raw)) if target[e] == i]
        open_ = sum((raw[e].sigmoid() for e in arriving), torch.zeros(x.size(1)).double())
        passed = [raw[e].sigmoid() / (open_ + 1e-6) * layer.neighbour(x[source[e]]) for e in arriving]
        out.append(layer.own(x[i]) + sum(passed, torch.zeros(x.size(1)).double()))
    return torch.stack(out), torch.stack(raw) if raw else x.new_zeros(0, x.size(1))


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("edge_dim", [5, None])
def test_equals_the_loops(name, edge_dim):
    layer, (x, edge_index, edge_attr) = randomise(GatedSum(5, edge_dim)), awkward(name, 5, edge_dim)
    out, edges = layer.propagate(x, layer.prepare(edge_index, edge_attr, len(x)))
    expected, raw = slow(layer, x, edge_index, edge_attr)
    assert relative_error(out, expected) <= 1e-12
    assert relative_error(edges.attr, raw) <= 1e-12


def test_gates_add_up_to_their_sum_over_itself_and_a_little():
    layer, (x, edge_index, _) = randomise(GatedSum(5)), awkward("isolated", 5, None)
    for part in (layer.own, layer.neighbour):
        torch.nn.init.zeros_(part.weight)
        torch.nn.init.zeros_(part.bias)
    torch.nn.init.ones_(layer.neighbour.bias)  # now the output is the sum of the gates
    out, edges = layer.propagate(x, layer.prepare(edge_index, None, len(x)))
    total = torch.zeros_like(x).index_add(0, edge_index[1], edges.attr.sigmoid())
    torch.testing.assert_close(out, total / (total + 1e-6))
    assert torch.equal(out[1], torch.zeros_like(out[1]))


def test_the_direction_of_an_edge_counts():
    layer, (x, edge_index, _) = randomise(GatedSum(5)), awkward("directed", 5, None)
    given = [
        layer.propagate(x, layer.prepare(index, None, len(x)))[1].attr for index in (edge_index, edge_index.flip(0))
    ]
    assert not torch.allclose(*given)
    layer.edge_source.load_state_dict(layer.edge_target.state_dict())
    given = [
        layer.propagate(x, layer.prepare(index, None, len(x)))[1].attr for index in (edge_index, edge_index.flip(0))
    ]
    assert torch.allclose(*given)


def test_features_of_another_width_are_refused():
    with pytest.raises(ValueError, match="GatedGCN needs edge features as wide as its states, 5; got edge_dim=3"):
        GatedSum(5, 3)
