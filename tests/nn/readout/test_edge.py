import pytest
import torch

import reference
from cases import naive_edges, randomise, relative_error
from ghr import GHR
from ghr.nn import EdgeReadout
from ghr.nn.readout import ReadoutInput


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("edge_dim", [None, 2])
def test_equals_the_loops(layers, edge_dim):
    readout = randomise(EdgeReadout(4, 3, edge_dim=edge_dim, layers=layers))
    state = torch.randn(5, 4, dtype=torch.double)
    edge_index = torch.tensor([[0, 1, 4, 2], [1, 0, 4, 3]])
    edge_attr = None if edge_dim is None else torch.randn(4, edge_dim, dtype=torch.double)
    given = ReadoutInput(state, torch.zeros(5, dtype=torch.long), 1, edge_index, edge_attr)
    edges, rows = naive_edges(edge_index, edge_attr), reference.read_rows(state)
    expected = reference.read_out(reference.read_weights(readout), "edge", rows, edges, [0] * 5, 1)
    assert readout(given).shape == (4, 3)
    assert relative_error(readout(given), expected) <= 1e-12


def test_source_comes_first():
    readout = EdgeReadout(1, 1, edge_dim=1)
    given = ReadoutInput(torch.tensor([[1.0], [2]]), torch.zeros(2), 1, torch.tensor([[0], [1]]), torch.tensor([[5.0]]))
    assert readout.rows(given).tolist() == [[1, 2, 5]]


def test_a_graph_without_edges_has_no_predictions():
    given = ReadoutInput(torch.randn(2, 4), torch.zeros(2), 1, torch.empty(2, 0, dtype=torch.long), None)
    assert EdgeReadout(4, 3)(given).shape == (0, 3)


def test_without_the_edge_features_it_wants():
    given = ReadoutInput(torch.ones(2, 1), torch.zeros(2).long(), 1, torch.tensor([[0], [1]]), None)
    with pytest.raises(ValueError, match=r"EdgeReadout\(edge_dim=1\) reads edge features, but the model has none"):
        EdgeReadout(1, 1, edge_dim=1)(given)


@pytest.mark.parametrize(("edge_dim", "has"), [(None, "none"), (1, "4, as its message passing encodes them")])
def test_a_model_has_the_edge_features_that_its_readout_wants(edge_dim, has):
    with pytest.raises(ValueError, match=rf"EdgeReadout\(edge_dim=3\) reads 3 edge features, but the model has {has}"):
        GHR(2, 4, 1, conv="gine", edge_dim=edge_dim, readout=EdgeReadout(4, 1, edge_dim=3))


@pytest.mark.parametrize("value", [0, 1.5, "3", [3]])
def test_the_width_of_edge_features_is_a_whole_number(value):
    with pytest.raises(ValueError, match="edge_dim must be a whole number of at least 1, or None"):
        EdgeReadout(4, 1, edge_dim=value)
