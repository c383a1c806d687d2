import pytest
import torch

from cases import randomise, relative_error
from ghr.nn.readout import BilinearReadout, ReadoutInput

BATCH = torch.tensor([0, 0, 0, 2, 2])  # the second graph has no nodes
EDGES = torch.tensor([[0, 1, 4], [1, 2, 3]])


def given(x, channels=3):
    values = torch.randn(5, channels, generator=torch.Generator().manual_seed(1), dtype=torch.double)
    return ReadoutInput(torch.zeros(5, 0, dtype=torch.double), BATCH, 3, EDGES, None, values, x)


def by_loops(rows, readout, level):
    """`rows` are what the map makes of every node, :math:`(A x)` for one output after the other."""
    nodes = []
    for values, weight in zip(rows.values.tolist(), readout.map(rows.x).tolist(), strict=True):
        m = len(values)
        outputs = range(readout.out_channels)
        nodes.append([sum(weight[out * m + c] * values[c] for c in range(m)) for out in outputs])
    if level == "node":
        return nodes
    if level == "edge":
        return [[a + b for a, b in zip(nodes[s], nodes[t], strict=True)] for s, t in EDGES.T.tolist()]
    graphs = [[0.0] * readout.out_channels for _ in range(3)]
    for graph, node in zip(BATCH.tolist(), nodes, strict=True):
        graphs[graph] = [a + b for a, b in zip(graphs[graph], node, strict=True)]
    return graphs


@pytest.mark.parametrize("level", ["node", "graph", "edge"])
@pytest.mark.parametrize("codes", [False, True])
def test_predictions_equal_the_loops(level, codes):
    x = torch.tensor([[0, 1], [2, 0], [1, 1], [0, 0], [2, 1]])
    rows = given(x if codes else x.double() - 0.7)
    readout = randomise(BilinearReadout(level, [3, 2] if codes else 2, 3, 2))
    assert relative_error(readout(rows), by_loops(rows, readout, level)) < 1e-12


def test_it_has_no_constant_and_is_linear_in_values_and_in_the_input():
    readout, rows = randomise(BilinearReadout("graph", 2, 3, 1)), given(torch.ones(5, 2).double())
    once = readout(rows)
    torch.testing.assert_close(readout(rows._replace(values=3 * rows.values)), 3 * once)
    torch.testing.assert_close(readout(rows._replace(x=-2 * rows.x)), -2 * once)
    assert not readout(rows._replace(values=0 * rows.values)).any()


def test_predictions_start_at_the_size_of_the_values():
    torch.manual_seed(0)
    readout = BilinearReadout("node", 1, 400, 1)
    assert readout.map.weight.abs().max() <= 0.5 / 20
    assert readout.map.weight.std().item() == pytest.approx(0.5 / 20 / 3**0.5, rel=0.1)


def test_without_values_or_input_it_is_a_sentence():
    readout, rows = BilinearReadout("node", 2, 3, 1), given(torch.ones(5, 2).double())
    for missing in ({"values": None}, {"x": None}):
        with pytest.raises(ValueError, match="reads values and the input; build the model with values='sum'"):
            readout(rows._replace(**missing))
