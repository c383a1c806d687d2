import pytest
import torch

import reference
from cases import randomise, relative_error
from ghr.nn import GraphReadout
from ghr.nn.readout import ReadoutInput


@pytest.mark.parametrize("layers", [1, 2])
def test_equals_the_loops_on_graphs_of_unequal_size(layers):
    readout = randomise(GraphReadout(4, 3, layers=layers))
    state, batch = torch.randn(6, 4, dtype=torch.double), [0, 0, 0, 1, 2, 2]
    given = ReadoutInput(state, torch.tensor(batch), 3, torch.empty(2, 0, dtype=torch.long), None)
    rows = reference.read_rows(state)
    expected = reference.read_out(reference.read_weights(readout), "graph", rows, [], batch, 3)
    assert readout(given).shape == (3, 3)
    assert relative_error(readout(given), expected) <= 1e-12


def test_order_is_maximum_mean_sum():
    readout = GraphReadout(1, 1)
    given = ReadoutInput(torch.tensor([[1.0], [2], [6]]), torch.zeros(3, dtype=torch.long), 1, torch.empty(2, 0), None)
    assert readout.rows(given).tolist() == [[6, 3, 9]]


def test_widths():
    shapes = [tuple(value.shape) for value in GraphReadout(4, 1, layers=2).state_dict().values()]
    assert shapes == [(4, 12), (4,), (1, 4), (1,)]
