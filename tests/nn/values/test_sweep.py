import math

import pytest
import torch

from cases import randomise, relative_error
from ghr.nn.values import Candidates, Holder, SweepCell
from ghr.nn.values.sweep import SOFT, STEEP

BATCH = torch.tensor([0, 0, 0, 1, 1])
EDGES = torch.tensor([[0, 2, 1, 0, 1, 2, 3, 4, 4], [1, 1, 2, 2, 0, 0, 4, 3, 4]])
M, H = 2, 6


def make(edge_dim=2, *, sharpness=1.3):
    torch.manual_seed(0)
    cell = randomise(SweepCell(M, H, edge_dim, 3))
    cell.sharpness.fill_(sharpness)
    return cell


def draw(*shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


def linear(layer, row):
    lines = layer.weight.tolist()
    bias = [0.0] * len(lines) if layer.bias is None else layer.bias.tolist()
    return [b + sum(w * v for w, v in zip(line, row, strict=True)) for line, b in zip(lines, bias, strict=True)]


def relu(row):
    return [max(0.0, v) for v in row]


def step_of(cell, features):
    (raw,) = linear(cell.edges.step[2], relu(linear(cell.edges.step[0], features)))
    return math.log1p(math.exp(raw))


def test_scores_and_gates_equal_the_loops():
    cell, x, values = make(), draw(5, 3), draw(5, M, seed=2)
    given = cell.read_values(cell.read_input(x), values, BATCH, 2)
    scores = []
    for node in range(5):
        graph = [values[other].tolist() for other in range(5) if BATCH[other] == BATCH[node]]
        own = values[node].tolist()
        largest = [math.tanh(own[c] - max(row[c] for row in graph)) for c in range(M)]
        smallest = [math.tanh(own[c] - min(row[c] for row in graph)) for c in range(M)]
        said, read = linear(cell.gate_input, x[node].tolist()), linear(cell.gate_graph, [*largest, *smallest])
        mixed = linear(cell.gate, relu([a + b for a, b in zip(said, read, strict=True)]))
        far = cell.farthest.tolist()
        scores.append([STEEP * (mixed[c] + far[c] * largest[c]) for c in range(M)])
    below, gates = [], []
    for node in range(5):
        best = [max(scores[other][c] for other in range(5) if BATCH[other] == BATCH[node]) for c in range(M)]
        below.append([scores[node][c] - best[c] for c in range(M)])
        gates.append([1 - math.exp(1.3 * value) for value in below[-1]])
    assert relative_error(given, below) < 1e-12
    assert relative_error(cell.open(given, None), gates) < 1e-12


def test_one_node_of_every_graph_is_where_a_channel_starts():
    cell = make(sharpness=50.0)
    gate = cell.open(cell.read_values(cell.read_input(draw(5, 3)), draw(5, M, seed=2), BATCH, 2), None)
    for graph in range(2):
        assert (gate[graph == BATCH] == 0).sum(dim=0).tolist() == [1] * M


@pytest.mark.parametrize("edge_dim", [0, 2])
def test_a_choice_equals_the_loops(edge_dim):
    cell, values = make(edge_dim), draw(5, M, seed=3)
    features = draw(9, 2, seed=4) if edge_dim else None
    source, target = EDGES
    candidates = Candidates(source, target, *cell.edges(features, values))
    found = cell.choose(Holder(values, None), [(Holder(values, None), candidates)])
    rows = [[1.0]] * 9 if features is None else features.tolist()
    unit = step_of(cell, [0.0, 0.0] if edge_dim else [1.0])
    above, below = cell.slopes.tolist()
    expected = []
    for node in range(5):
        arriving = [edge for edge in range(9) if target[edge] == node]
        line = []
        for c in range(M):
            own, weights, brought = values[node, c].item(), [], []
            for edge in arriving:
                other = values[source[edge], c].item()
                d = (other - own) / unit
                said = linear(cell.choice, relu(linear(cell.edges.base, rows[edge])))[c]
                weights.append(math.exp(1.3 * (above[c] * max(0.0, d) - below[c] * max(0.0, -d) + said)))
                brought.append(other + step_of(cell, rows[edge]))
            total = sum(w * b for w, b in zip(weights, brought, strict=True))
            line.append(total / sum(weights) if arriving else own)
        expected.append(line)
    assert relative_error(found, expected) < 1e-12


def test_it_starts_as_a_soft_minimum_and_at_the_farthest_node():
    cell = SweepCell(M, H, 1, 3)
    assert (cell.slopes == -SOFT).all()
    assert (cell.farthest == 1).all()
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.fill_(7)
    cell.reset_parameters()
    assert (cell.slopes == -SOFT).all()
    assert (cell.farthest == 1).all()


def test_coarse_levels_have_no_gate():
    cell = SweepCell(M, H, 1, None, members=True)
    assert cell.gate_graph is None
    assert not any("gate" in name or "farthest" in name for name in cell.state_dict())
    given = torch.ones(2, H)
    assert cell.read_values(given, torch.ones(2, M), BATCH[:2], 1) is given
    assert cell.open(None, None) is None


def test_codes_have_a_unit_too():
    cell = make([3, 2])
    unit = cell.edges.unit()
    expected = torch.nn.functional.softplus(cell.edges.step(torch.zeros(1, 2, dtype=torch.long)))
    torch.testing.assert_close(unit, expected.detach())
    assert not unit.requires_grad
