import numpy as np
from hypothesis import given

from ghr.hierarchy.kernels.hashes import is_symmetric
from ghr.hierarchy.kernels.rows import build_rows, join_rows, merge_repeats
from hierarchy.strategies import edge_lists


@given(edge_lists())
def test_rows_hold_every_edge_in_both_directions(graph):
    edges, num_nodes = graph
    source, target = edges.numpy()
    symmetric = is_symmetric(source, target)
    start, row, neighbour, _ = build_rows(source, target, np.empty(0), num_nodes, symmetric)
    assert all((row[start[u] : start[u + 1]] == u).all() for u in range(num_nodes))
    start, row, neighbour, _ = merge_repeats(row, neighbour, np.empty(0), num_nodes)
    assert all((row[start[u] : start[u + 1]] == u).all() for u in range(num_nodes))
    expected = {(u, v) for a, b in edges.T.tolist() for u, v in ((a, b), (b, a)) if u != v}
    found = [(u, int(v)) for u in range(num_nodes) for v in neighbour[start[u] : start[u + 1]]]
    assert len(found) == len(set(found)), "a neighbour is listed twice"
    assert set(found) == expected


@given(edge_lists())
def test_contracted_weights_are_sums(graph):
    edges, num_nodes = graph
    source, target = edges.numpy()
    weight = np.random.default_rng(0).random(source.size) + 0.1
    label = (np.arange(num_nodes) % 3).astype(np.int32)
    num_clusters = int(label.max()) + 1
    rows = build_rows(source, target, weight, num_nodes, False)
    joined = join_rows(*rows, label, num_clusters)
    start, _, neighbour, strength = merge_repeats(*joined, num_clusters)
    expected = np.zeros((num_clusters, num_clusters))
    for u, v, w in zip(label[source], label[target], weight, strict=True):
        expected[u, v] += w
        expected[v, u] += w
    np.fill_diagonal(expected, 0)
    found = np.zeros_like(expected)
    if source.size:
        for u in range(num_clusters):
            for entry in range(start[u], start[u + 1]):
                found[u, neighbour[entry]] = strength[entry]
    np.testing.assert_allclose(found, expected)
