import math

import pytest
import torch

from cases import randomise, relative_error
from ghr.nn.readout import MixtureReadout, ReadoutInput
from ghr.nn.readout.mixture import LEAN, STEEP

BATCH = torch.tensor([0, 0, 0, 1, 1])
EDGES = torch.tensor([[0, 1, 4], [1, 2, 3]])


def given(seed=1):
    values = torch.rand(5, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.double) + 0.5
    return ReadoutInput(torch.zeros(5, 0, dtype=torch.double), BATCH, 2, EDGES, None, values)


def by_loops(readout, rows, level):
    values = rows.values.tolist()
    members = [[node for node in range(5) if BATCH[node] == graph] for graph in range(2)]
    sizes = [math.sqrt(sum(v * v for node in nodes for v in values[node]) / (3 * len(nodes))) for nodes in members]
    if level == "node":
        made = [(values[node], sizes[BATCH[node]]) for node in range(5)]
    elif level == "edge":
        made = []
        for s, t in EDGES.T.tolist():
            apart = [abs(a - b) for a, b in zip(values[s], values[t], strict=True)]
            made.append(([*values[s], *values[t], *apart], sizes[BATCH[s]]))
    else:
        made = []
        for nodes, size in zip(members, sizes, strict=True):
            columns = [*zip(*(values[node] for node in nodes), strict=True)]
            row = [kind(column) for kind in (max, lambda c: sum(c) / len(c), min) for column in columns]
            made.append((row, size))
    predictions = []
    for row, size in made:
        line = []
        for out in range(readout.out_channels):
            lean = 0.0 if readout.lean is None else STEEP * readout.sharpness.item() * readout.lean[out].item()
            weight = [math.exp(w + lean * v / size) for w, v in zip(readout.weight[out].tolist(), row, strict=True)]
            mean = sum(w * v for w, v in zip(weight, row, strict=True)) / sum(weight)
            line.append(readout.factor[out].item() * mean)
        predictions.append(line)
    return predictions


@pytest.mark.parametrize("level", ["node", "graph", "edge"])
@pytest.mark.parametrize("lean", [False, True])
def test_predictions_equal_the_loops(level, lean):
    readout, rows = randomise(MixtureReadout(level, 3, 2, lean=lean)), given()
    readout.sharpen(1.7)
    assert relative_error(readout(rows), by_loops(readout, rows, level)) < 1e-12


@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_twice_the_values_are_twice_the_prediction_at_any_size(lean, size):
    readout, rows = randomise(MixtureReadout("graph", 3, 2, lean=lean)), given()
    torch.testing.assert_close(readout(rows._replace(values=size * rows.values)), size * readout(rows))


def test_graphs_do_not_know_of_each_other():
    readout, rows = randomise(MixtureReadout("node", 3, 1, lean=True)), given()
    other = rows._replace(values=torch.cat([rows.values[:3], 50 * rows.values[3:]]))
    torch.testing.assert_close(readout(other)[:3], readout(rows)[:3])
    torch.testing.assert_close(readout(other)[3:], 50 * readout(rows)[3:])


def test_it_starts_as_a_mean_or_leaning_a_little_and_sharpness_makes_it_the_largest():
    rows = given()
    mean = rows.values.mean(dim=1, keepdim=True)
    torch.testing.assert_close(MixtureReadout("node", 3, 1).double()(rows), mean)
    readout = MixtureReadout("node", 3, 1, lean=True).double()
    assert (readout.lean == LEAN).all()
    largest = rows.values.amax(dim=1, keepdim=True)
    start = readout(rows)
    assert ((mean < start) & (start < largest)).all()
    readout.sharpen(1e4)
    torch.testing.assert_close(readout(rows), largest)
    readout.reset_parameters()
    torch.testing.assert_close(readout(rows), start)  # soft again


def test_values_that_are_all_zero_have_no_size_and_do_no_harm():
    readout, rows = MixtureReadout("node", 3, 1, lean=True).double(), given()
    values = torch.zeros_like(rows.values, requires_grad=True)
    out = readout(rows._replace(values=values))
    out.sum().backward()
    assert not out.any()
    assert values.grad.isfinite().all()


def test_without_values_it_is_a_sentence():
    with pytest.raises(ValueError, match="reads values; build the model with values='select' or values='sum'"):
        MixtureReadout("node", 3, 1)(given()._replace(values=None))
