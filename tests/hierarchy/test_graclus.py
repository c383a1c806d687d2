import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import INFINITE, distances, edge_lists

from ghr import Graclus
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
        order = torch.from_numpy(__import__("numpy").random.default_rng(seed).permutation(7))
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
        ({"seed": -1}, "seed must be a whole number of at least 0, or None; got -1"),
        ({"mode": "best"}, "min_degree, heavy_edge"),
    ],
)
def test_bad_arguments(arguments, words):
    with pytest.raises(ValueError, match=words):
        Graclus(**arguments)


def test_repr_names_every_option():
    assert repr(Graclus(2, "random", 7)) == "Graclus(rounds=2, mode='random', seed=7)"


@pytest.mark.parametrize("node", [3, 10**9, -1])
def test_edges_out_of_range_are_refused(node):
    with pytest.raises(ValueError, match=f"edge_index has node {node}, but nodes run from 0 to 2"):
        Graclus()(torch.tensor([[0, 1], [1, node]]), 3)
