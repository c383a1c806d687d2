import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from cases import AWKWARD, awkward
from ghr.transforms.walk import read_graph, walk_matrix


@pytest.mark.parametrize("name", AWKWARD)
def test_every_step_takes_one_of_the_edges_that_leave(name):
    x, edge_index, _ = awkward(name, 1, None)
    expected = np.zeros((len(x), len(x)))
    for node in range(len(x)):
        leaving = [target for source, target in edge_index.T.tolist() if source == node]
        for target in leaving:
            expected[node, target] += 1 / len(leaving)
    np.testing.assert_allclose(walk_matrix(edge_index, len(x)).toarray(), expected, rtol=1e-15)


def test_rows_add_up_to_one_or_to_nothing():
    edge_index = torch.tensor([[0, 0, 0, 1], [1, 2, 2, 0]])
    assert walk_matrix(edge_index, 4).sum(axis=1) == pytest.approx([1, 1, 0, 0])


def test_a_graph_has_edges_and_a_number_of_nodes():
    edges = torch.tensor([[0], [1]])
    found, count = read_graph(Data(x=torch.zeros(3, 1), edge_index=edges))
    assert (found is edges, count) == (True, 3)
    with pytest.raises(ValueError, match=r"has no edge_index; give an empty tensor of shape \(2, 0\)"):
        read_graph(Data(x=torch.zeros(3, 1)))
