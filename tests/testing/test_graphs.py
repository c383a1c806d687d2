import torch

from ghr.testing import path_graph, random_graph


def test_path_graph_is_a_path_with_its_first_node_marked():
    data = path_graph(4, edge_dim=2)
    assert data.x.flatten().tolist() == [1, 0, 0, 0]
    assert sorted(map(tuple, data.edge_index.T.tolist())) == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
    assert data.edge_attr.shape == (6, 2)
    assert path_graph(1).edge_index.shape == (2, 0)


def test_random_graph_is_simple_undirected_and_repeatable():
    data = random_graph(30, 60, in_channels=3, edge_dim=1, seed=5)
    pairs = list(map(tuple, data.edge_index.T.tolist()))
    assert len(pairs) == len(set(pairs))
    assert {(v, u) for u, v in pairs} == set(pairs)
    assert all(u != v for u, v in pairs)
    attr = dict(zip(pairs, data.edge_attr.flatten().tolist(), strict=True))
    assert all(attr[u, v] == attr[v, u] for u, v in pairs)
    assert torch.equal(data.x, random_graph(30, 60, in_channels=3, edge_dim=1, seed=5).x)
