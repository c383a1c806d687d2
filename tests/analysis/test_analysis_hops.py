import numpy as np
import torch

from ghr.analysis import count_hops
from ghr.testing import path_graph, random_graph


def test_hops_go_along_edges_either_way():
    one_way = torch.tensor([[1, 2, 3], [0, 1, 2]])
    assert count_hops(one_way, 5, [0, 2]).tolist() == [[0, 1, 2, 3, -1], [2, 1, 0, 1, -1]]


def test_without_edges_only_the_node_itself_is_reached():
    assert count_hops(torch.zeros(2, 0, dtype=torch.long), 2, [1]).tolist() == [[-1, 0]]


def test_it_is_a_search_in_breadth():
    data = random_graph(30, 36, seed=3)
    near = [set() for _ in range(30)]
    for source, target in data.edge_index.T.tolist():
        near[source].add(target)
    expected = np.full(30, -1)
    border, hop = {4}, 0
    while border:
        expected[list(border)] = hop
        border, hop = {other for node in border for other in near[node] if expected[other] < 0}, hop + 1
    assert (count_hops(data.edge_index, 30, [4])[0] == expected).all()
    assert count_hops(path_graph(7).edge_index, 7, [0]).tolist() == [[0, 1, 2, 3, 4, 5, 6]]
