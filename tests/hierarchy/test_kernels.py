import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_lists

from ghr.hierarchy import kernels


def unpack(edges):
    return edges[0].numpy(), edges[1].numpy()


@given(edge_lists())
def test_is_symmetric_agrees_with_a_count_of_pairs(graph):
    pairs = [pair for pair in graph[0].T.tolist() if pair[0] != pair[1]]
    expected = sorted(pairs) == sorted([v, u] for u, v in pairs)
    assert kernels.is_symmetric(*unpack(graph[0])) == expected


@given(edge_lists())
def test_rows_hold_every_edge_in_both_directions(graph):
    edges, num_nodes = graph
    source, target = unpack(edges)
    symmetric = kernels.is_symmetric(source, target)
    start, row, neighbour, _ = kernels.build_rows(source, target, np.empty(0), num_nodes, symmetric)
    assert all((row[start[u] : start[u + 1]] == u).all() for u in range(num_nodes))
    start, row, neighbour, _ = kernels.merge_repeats(row, neighbour, np.empty(0), num_nodes)
    assert all((row[start[u] : start[u + 1]] == u).all() for u in range(num_nodes))
    expected = {(u, v) for a, b in edges.T.tolist() for u, v in ((a, b), (b, a)) if u != v}
    found = [(u, int(v)) for u in range(num_nodes) for v in neighbour[start[u] : start[u + 1]]]
    assert len(found) == len(set(found)), "a neighbour is listed twice"
    assert set(found) == expected


@given(edge_lists())
def test_contracted_weights_are_sums(graph):
    edges, num_nodes = graph
    source, target = unpack(edges)
    weight = np.random.default_rng(0).random(source.size) + 0.1
    label = (np.arange(num_nodes) % 3).astype(np.int32)
    num_clusters = int(label.max()) + 1
    rows = kernels.build_rows(source, target, weight, num_nodes, False)
    joined = kernels.join_rows(*rows, label, num_clusters)
    start, _, neighbour, strength = kernels.merge_repeats(*joined, num_clusters)
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


def test_quotient_names_the_coarse_edge_of_every_edge():
    edges = torch.tensor([[0, 1, 3, 0, 2], [1, 2, 0, 3, 2]])
    coarse, became, order, start = kernels.build_quotient(edges.numpy(), np.array([0, 0, 1, 1]), 2)
    assert coarse.tolist() == [[0, 1], [1, 0]]
    assert became.tolist() == [-1, 0, 1, 0, -1]
    assert [sorted(order[start[k] : start[k + 1]].tolist()) for k in range(2)] == [[1, 3], [2]]
    assert start[-1] == order.size == 3


def test_runs_are_shifted_in_every_row():
    number = np.arange(10).reshape(2, 5)
    kernels.shift_runs(number, np.array([0, 2, 2, 5]), np.array([100, 7, 200]))
    assert number.tolist() == [[100, 101, 202, 203, 204], [105, 106, 207, 208, 209]]


@given(edge_lists())
def test_ends_are_the_smallest_and_the_largest_node(graph):
    numbers = graph[0].flatten().tolist() or [0]
    assert kernels.find_ends(graph[0].numpy()) == (min(numbers), max(numbers))


@given(st.lists(st.integers(-5, 25), min_size=1, max_size=20))
def test_number_clusters_keeps_the_order_of_the_labels(labels):
    number, count = kernels.number_clusters(np.array(labels))
    values = sorted(set(labels))
    assert count == len(values)
    assert number.tolist() == [values.index(label) for label in labels]


@given(st.lists(st.integers(-1, 6), max_size=20))
def test_group_lists_the_members_of_every_group(groups):
    member, start = kernels.group(np.array(groups, dtype=np.int64), 7)
    found = [member[start[key] : start[key + 1]].tolist() for key in range(7)]
    assert found == [[item for item, group in enumerate(groups) if group == key] for key in range(7)]
    assert start[-1] == member.size


@given(edge_lists(), st.integers(1, 4))
def test_a_signature_counts_nodes_and_edges_of_every_graph(graph, num_graphs):
    edges, num_nodes = graph
    batch = np.sort(np.random.default_rng(0).integers(0, num_graphs, num_nodes))
    row = kernels.sign_graphs(edges.numpy(), batch, num_graphs, 3)
    assert row[:, 0].tolist() == [3] * num_graphs
    assert row[:, 1].tolist() == np.bincount(batch, minlength=num_graphs).tolist()
    assert row[:, 2].tolist() == np.bincount(batch[edges[0].numpy()], minlength=num_graphs).tolist()


@given(edge_lists())
def test_a_graph_signs_alone_as_in_a_batch_of_two(graph):
    edges, num_nodes = graph[0].numpy(), graph[1]
    twice = np.concatenate([edges, edges + num_nodes], axis=1)
    alone = kernels.sign_graphs(edges, np.zeros(num_nodes, np.int64), 1, 2)
    both = kernels.sign_graphs(twice, np.repeat([0, 1], num_nodes), 2, 2)
    assert both.tolist() == alone.tolist() * 2
    assert (alone.dtype, alone.shape) == (both.dtype, (1, 4))


def test_a_signature_leaves_out_what_is_out_of_range():
    edges = np.array([[0, 1, 2, -1, 1], [1, 2, 9, 0, 0]])
    row = kernels.sign_graphs(edges, np.array([0, 0, 5]), 1, 2)
    assert row[0, :3].tolist() == [2, 2, 3]


def test_hashes_of_edges_hardly_ever_meet():
    codes = {
        int(kernels.sign_graphs(np.array([[u], [v]]), np.zeros(300, np.int64), 1, 2)[0, 3])
        for u in range(60)
        for v in range(60)
    }
    assert len(codes) == 3600


@given(st.lists(st.integers(0, 6), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_clusters_of_late_nodes_come_first_in_the_next_round(labels, random):
    label, count = kernels.number_clusters(np.array(labels))
    order = random.sample(range(label.size), label.size)
    later = kernels.reorder(np.array(order, np.int32), label, count)
    assert later.tolist() == list(dict.fromkeys(label[np.array(order[::-1])].tolist()))
