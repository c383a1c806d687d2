import numpy as np
import pytest
import torch

from cases import relative_error
from dynamics_cases import ODD, adjacency, gcn_matrix, odd_graph, undirected_adjacency
from ghr.nn.aggregation import count_degree, make_aggregation, make_undirected


@pytest.mark.parametrize("graph", ODD)
@pytest.mark.parametrize("name", ["naive", "gcn"])
@pytest.mark.parametrize("undirected", [False, True])
def test_equals_the_dense_matrix(graph, name, undirected):
    data = odd_graph(graph, None)
    matrix = undirected_adjacency(data) if undirected else adjacency(data)
    expected = torch.from_numpy(np.array(matrix if name == "naive" else gcn_matrix(matrix)))
    aggregation = make_aggregation(name, data.edge_index, data.num_nodes, torch.double, undirected=undirected)
    found = aggregation(torch.eye(data.num_nodes).double())
    assert relative_error(found, expected) <= 1e-14
    if undirected:
        assert torch.equal(found, found.T)
    counts = aggregation.sum_features(torch.ones(data.num_edges, 1).double())[:, 0]
    for i in range(data.num_nodes):  # an edge weighs what its two ends weigh each other by, however often it is given
        edges = [
            (j, k)
            for j, k in data.edge_index.T.tolist()
            if k == i and (j != k or (name, undirected) == ("naive", False))
        ]
        entry = {j: float(expected[i, j]) / (1 if undirected else matrix[i, j]) for j, _ in edges}
        assert float(counts[i]) == pytest.approx(sum(entry[j] for j, _ in edges))


def test_undirected_edges_are_there_once_in_both_directions():
    index = torch.tensor([[0, 0, 1, 2, 3], [1, 1, 0, 2, 1]])
    assert make_undirected(index, 5).T.tolist() == [[0, 1], [1, 0], [1, 3], [3, 1]]
    assert make_undirected(index[:, :0], 5).shape == (2, 0)


def test_degrees_are_at_least_one():
    index = torch.tensor([[0, 2, 3], [1, 1, 0]])
    assert count_degree(index, 4, torch.double).T.tolist() == [[1.0, 2.0, 1.0, 1.0]]


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="Unknown aggregation 'mean'; known are naive, gcn"):
        make_aggregation("mean", torch.zeros(2, 0).long(), 1, torch.float)
