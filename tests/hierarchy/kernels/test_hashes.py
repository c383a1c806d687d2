import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ghr.hierarchy.kernels.hashes import is_symmetric, sign_graphs
from hierarchy.strategies import edge_lists


@given(edge_lists())
def test_is_symmetric_agrees_with_a_count_of_pairs(graph):
    pairs = [pair for pair in graph[0].T.tolist() if pair[0] != pair[1]]
    expected = sorted(pairs) == sorted([v, u] for u, v in pairs)
    assert is_symmetric(*graph[0].numpy()) == expected


@given(edge_lists(), st.integers(1, 4))
def test_a_signature_counts_nodes_and_edges_of_every_graph(graph, num_graphs):
    edges, num_nodes = graph
    batch = np.sort(np.random.default_rng(0).integers(0, num_graphs, num_nodes))
    row = sign_graphs(edges.numpy(), batch, num_graphs, 3)
    assert row[:, 0].tolist() == [3] * num_graphs
    assert row[:, 1].tolist() == np.bincount(batch, minlength=num_graphs).tolist()
    assert row[:, 2].tolist() == np.bincount(batch[edges[0].numpy()], minlength=num_graphs).tolist()


@given(edge_lists())
def test_a_graph_signs_alone_as_in_a_batch_of_two(graph):
    edges, num_nodes = graph[0].numpy(), graph[1]
    twice = np.concatenate([edges, edges + num_nodes], axis=1)
    alone = sign_graphs(edges, np.zeros(num_nodes, np.int64), 1, 2)
    both = sign_graphs(twice, np.repeat([0, 1], num_nodes), 2, 2)
    assert both.tolist() == alone.tolist() * 2
    assert (alone.dtype, alone.shape) == (both.dtype, (1, 4))


def test_a_signature_leaves_out_what_is_out_of_range():
    edges = np.array([[0, 1, 2, -1, 1], [1, 2, 9, 0, 0]])
    row = sign_graphs(edges, np.array([0, 0, 5]), 1, 2)
    assert row[0, :3].tolist() == [2, 2, 3]


def test_hashes_of_edges_hardly_ever_meet():
    codes = {
        int(sign_graphs(np.array([[u], [v]]), np.zeros(300, np.int64), 1, 2)[0, 3])
        for u in range(60)
        for v in range(60)
    }
    assert len(codes) == 3600
