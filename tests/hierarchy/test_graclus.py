import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import INFINITE, distances, edge_lists

from ghr import Graclus, memory
from ghr.testing import random_graph

modes = st.sampled_from(["min_degree", "heavy_edge", "random"])


def undirected_neighbours(edges, num_nodes):
    near = [set() for _ in range(num_nodes)]
    for u, v in edges.T.tolist():
        if u != v:
            near[u].add(v)
            near[v].add(u)
    return near


@given(edge_lists(), modes, st.integers(0, 5))
def test_one_round_is_a_maximal_matching(graph, mode, seed):
    edges, num_nodes = graph
    label = Graclus(rounds=1, mode=mode, seed=seed)(edges, num_nodes)
    near = undirected_neighbours(edges, num_nodes)
    members = [(label == c).nonzero().flatten().tolist() for c in range(int(label.max()) + 1)]
    assert all(1 <= len(cluster) <= 2 for cluster in members)
    assert all(b in near[a] for a, b in (cluster for cluster in members if len(cluster) == 2)), "a pair is no edge"
    alone = [cluster[0] for cluster in members if len(cluster) == 1]
    assert not any(b in near[a] for a in alone for b in alone), "two free nodes are neighbours: not maximal"


@given(edge_lists(), modes, st.integers(1, 3))
def test_clusters_are_small_and_connected_and_labels_have_no_gaps(graph, mode, rounds):
    edges, num_nodes = graph
    label = Graclus(rounds=rounds, mode=mode)(edges, num_nodes)
    count = torch.bincount(label)
    assert count.min() >= 1
    assert count.max() <= 2**rounds
    inside = edges[:, label[edges[0]] == label[edges[1]]]
    within = distances(torch.cat([inside, inside.flip(0)], dim=1), num_nodes)
    for u in range(num_nodes):
        for v in range(num_nodes):
            assert label[u] != label[v] or within[u][v] < INFINITE


def test_a_node_takes_its_neighbour_of_lowest_degree():
    # Node 0 sees 1 (degree 3), 2 (degree 2) and 3 (degree 1): whoever starts, 0 never takes 1 before 3 is gone.
    edges = torch.tensor([[0, 0, 0, 1, 1, 2], [1, 2, 3, 4, 5, 6]])
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(7)
        label = Graclus(rounds=1, seed=seed)(edges, 7)
        if order[0] == 0:
            assert label[0] == label[3]


def test_heavy_edge_takes_the_heaviest_and_adds_up_weights_over_rounds():
    square = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    weight = torch.tensor([5.0, 1.0, 5.0, 1.0])
    for seed in range(10):
        label = Graclus(rounds=1, mode="heavy_edge", seed=seed)(square, 4, weight)
        assert label.tolist() == [0, 0, 1, 1]
    # Pairs {0,1}, {2,3}, {4,5}: the two edges of weight 2 between the first two beat the one of weight 3.
    edges = torch.tensor([[0, 2, 4, 0, 1, 3], [1, 3, 5, 2, 3, 4]])
    weight = torch.tensor([9.0, 9.0, 9.0, 2.0, 2.0, 3.0])
    for seed in range(10):
        label = Graclus(rounds=2, mode="heavy_edge", seed=seed)(edges, 6, weight)
        assert label[0] == label[2] or label[4] == label[2], "maximal"
        if label[4] != label[2]:
            assert label.tolist() == [0, 0, 0, 0, 1, 1]
    middle_first = [
        s for s in range(10) if torch.equal(Graclus(2, "heavy_edge", s)(edges, 6, weight)[[0, 2]], torch.tensor([0, 0]))
    ]
    assert middle_first, "the sum of weights never won"


def test_same_seed_same_clusters_and_other_seeds_differ():
    data = random_graph(60, 150)
    first = Graclus(rounds=2, seed=3)(data.edge_index, 60)
    assert torch.equal(first, Graclus(rounds=2, seed=3)(data.edge_index, 60))
    assert not torch.equal(first, Graclus(rounds=2, seed=4)(data.edge_index, 60))
    shuffled = data.edge_index[:, torch.randperm(data.num_edges, generator=torch.Generator().manual_seed(0))]
    assert torch.equal(first, Graclus(rounds=2, seed=3)(shuffled, 60)), "the listing of the edges mattered"


def test_without_a_seed_the_clusters_follow_pytorch():
    data = random_graph(60, 150)
    partition = Graclus(rounds=1, seed=None)
    torch.manual_seed(1)
    draws = [partition(data.edge_index, 60) for _ in range(3)]
    torch.manual_seed(1)
    assert torch.equal(draws[0], partition(data.edge_index, 60))
    assert not torch.equal(draws[0], draws[1])


def test_a_round_halves_a_connected_graph():
    ring = torch.stack([torch.arange(100), (torch.arange(100) + 1) % 100])
    label = Graclus(rounds=1)(ring, 100)
    assert 50 <= int(label.max()) + 1 <= 67


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"rounds": 0}, "rounds must be a whole number of at least 1; got 0"),
        ({"rounds": 1.5}, "rounds must be a whole number of at least 1; got 1.5"),
        ({"rounds": True}, "rounds must be a whole number of at least 1; got True"),
        ({"rounds": 99999999999}, "rounds must be a whole number of at most 64; got 99999999999"),
        ({"seed": -1}, "seed must be a whole number of at least 0, or None; got -1"),
        ({"seed": "0"}, "seed must be a whole number of at least 0, or None; got '0'"),
        ({"mode": "best"}, "Unknown mode 'best'; known are min_degree, heavy_edge, random"),
        ({"mode": ["random"]}, "Unknown mode"),
    ],
)
def test_bad_arguments(arguments, words):
    with pytest.raises(ValueError, match=words):
        Graclus(**arguments)


def test_repr_names_every_option():
    assert repr(Graclus(2, "random", 7)) == "Graclus(rounds=2, mode='random', seed=7)"


def test_whole_numbers_of_numpy_are_options():
    partition = Graclus(rounds=np.int64(2), seed=np.uint8(3))
    assert repr(partition) == "Graclus(rounds=2, mode='min_degree', seed=3)"
    assert {type(value) for value in partition.config.values()} == {int, str}


def test_more_rounds_than_there_is_to_merge_change_nothing():
    data = random_graph(60, 150)
    assert torch.equal(*(Graclus(rounds=rounds)(data.edge_index, 60) for rounds in (20, 64)))


def sum_weights(pairs, size):
    near = [{} for _ in range(size)]
    for u, v, weight in pairs:
        if u != v:
            near[u][v] = near[u].get(v, 0) + weight
            near[v][u] = near[v].get(u, 0) + weight
    return near


def match_once(near, order, mode):
    def choose(u, v):
        return {"min_degree": len(near[v]), "heavy_edge": -round(near[u][v], 9), "random": 0}[mode], order.index(v)

    partner, number = {}, {}
    for u in order:
        if u not in partner:
            free = [(choose(u, v), v) for v in near[u] if v not in partner]
            best = min(free)[1] if free else u
            partner[u], partner[best] = best, u
    return [number.setdefault(frozenset((u, partner[u])), len(number)) for u in range(len(order))]


@given(edge_lists(), modes, st.integers(1, 4), st.integers(0, 3))
def test_clusters_are_those_of_a_plain_program(graph, mode, rounds, seed):
    edges, num_nodes = graph
    weight = torch.rand(edges.size(1), generator=torch.Generator().manual_seed(seed), dtype=torch.double)
    pairs = [(u, v, w) for (u, v), w in zip(edges.T.tolist(), weight.tolist(), strict=True)]
    order = np.random.default_rng(seed).permutation(num_nodes).tolist()
    cluster = list(range(num_nodes))
    for _ in range(rounds):
        new = match_once(sum_weights(pairs, len(order)), order, mode)
        cluster, pairs = [new[c] for c in cluster], [(new[u], new[v], w) for u, v, w in pairs]
        order = list(dict.fromkeys(new[u] for u in reversed(order)))
    assert Graclus(rounds=rounds, mode=mode, seed=seed)(edges, num_nodes, weight).tolist() == cluster


def test_few_nodes_are_left_alone_after_several_rounds():
    data = random_graph(3000, 9000, seed=1)
    size = torch.bincount(Graclus(rounds=3, mode="random")(data.edge_index, 3000))
    assert (size == 1).sum() < 0.08 * size.numel(), "nodes without a partner come first in the next round"


@pytest.mark.parametrize("node", [3, 10**9, -1])
def test_edges_out_of_range_are_refused(node):
    with pytest.raises(ValueError, match=f"edge_index has node {node}, but nodes run from 0 to 2"):
        Graclus()(torch.tensor([[0, 1], [1, node]]), 3)


EDGES = torch.tensor([[0, 1], [1, 2]])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[0, 1], [1, 2]], 3), "edge_index must be an int64 tensor of shape .*; got the list"),
        ((None, 3), "edge_index must be an int64 tensor"),
        ((torch.tensor(3), 3), r"got torch.int64 of shape \(\)"),
        ((torch.tensor([0, 1]), 3), r"got torch.int64 of shape \(2,\)"),
        ((EDGES.float(), 3), "got torch.float32"),
        ((EDGES.int(), 3), "got torch.int32"),
        ((EDGES.to_sparse(), 3), "layout"),
        ((EDGES, 0), "num_nodes must be a whole number of at least 1; got 0"),
        ((EDGES, 3.0), "num_nodes must be a whole number of at least 1; got 3.0"),
        ((EDGES, "3"), "num_nodes must be a whole number"),
        ((EDGES, None), "num_nodes must be a whole number"),
        ((EDGES, 10**12), "num_nodes must be a whole number of at most 2147483647"),
        ((EDGES, torch.tensor(3)), "num_nodes must be a whole number"),
    ],
)
@pytest.mark.parametrize("mode", ["min_degree", "heavy_edge"])
def test_bad_graphs_get_a_sentence(arguments, words, mode):
    with pytest.raises(ValueError, match=words):
        Graclus(mode=mode)(*arguments)


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (torch.ones(1), r"one weight per edge, shape \(2,\); got the shape \(1,\)"),
        (torch.ones(3), r"got the shape \(3,\)"),
        (torch.ones(2, 2), r"got the shape \(2, 2\)"),
        (torch.tensor(1.0), "edge_weight must be a tensor"),
        (torch.ones(2, dtype=torch.cfloat), "real numbers"),
        ([1.0, 2.0], "edge_weight must be a tensor; got the list"),
        (torch.tensor([1.0, float("nan")]), "edge_weight has 1 entries that are not finite"),
        (torch.tensor([float("inf"), 1.0]), "not finite"),
        (torch.tensor([1.0, -2.0]), "at least 0 to be compared and summed; the smallest is -2"),
    ],
)
def test_bad_weights_get_a_sentence(weight, words):
    with pytest.raises(ValueError, match=words):
        Graclus(mode="heavy_edge")(EDGES, 3, weight)


def test_weights_may_be_whole_numbers_and_a_column_and_zero():
    square = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    for weight in (torch.tensor([5, 0, 5, 0]), torch.tensor([[5.0], [0.0], [5.0], [0.0]], requires_grad=True)):
        assert Graclus(mode="heavy_edge")(square, 4, weight).tolist() == [0, 0, 1, 1]
    assert Graclus(mode="heavy_edge")(square, 4, torch.zeros(4)).max() == 1, "edges of weight zero are edges"


def test_fewer_weights_than_edges_never_read_other_memory():
    edges = torch.randint(100_000, (2, 1_000_000), generator=torch.Generator().manual_seed(0))
    with pytest.raises(ValueError, match="one weight per edge"):
        Graclus(mode="heavy_edge")(edges, 100_000, torch.ones(10))


def test_edges_may_be_a_view_of_anything():
    data = random_graph(30, 60)
    expected = Graclus(rounds=2)(data.edge_index, 30)
    assert torch.equal(expected, Graclus(rounds=2)(data.edge_index.T.contiguous().T, 30))


def test_what_cannot_be_clustered_here_is_refused_at_once(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**30)
    empty = torch.empty(2, 0, dtype=torch.long)
    with pytest.raises(ValueError, match="Graclus of num_nodes=2,000,000,000 needs 60 GiB"):
        Graclus()(empty, 2 * 10**9)
    with pytest.raises(ValueError, match="edge_weight is on the device meta"):
        Graclus(mode="heavy_edge")(torch.tensor([[0], [1]]), 2, torch.ones(1, device="meta"))
    with pytest.raises(ValueError, match="edge_index is on the device meta"):
        Graclus()(empty.to("meta"), 2)
