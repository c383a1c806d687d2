import networkx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ghr.datasets.generators.eccentricity import hop_eccentricity, label_agreement, quantile_classes
from ghr.testing import path_graph, random_graph


def slow(edge_index, num_nodes, weight, hops):
    graph = networkx.MultiGraph()
    graph.add_nodes_from(range(num_nodes))
    for (u, v), length in zip(edge_index.t().tolist(), weight.tolist(), strict=True):
        graph.add_edge(u, v, weight=length)
    result = []
    for node in range(num_nodes):
        near = networkx.single_source_shortest_path_length(graph, node, cutoff=hops)
        inside = graph.subgraph(near)
        result.append(max(networkx.single_source_dijkstra_path_length(inside, node).values()))
    return torch.tensor(result, dtype=torch.float64)


@given(st.integers(1, 40), st.floats(0.2, 3.0), st.integers(0, 20), st.integers(0, 10**6))
def test_equals_networkx(num_nodes, density, hops, seed):
    data = random_graph(num_nodes, int(density * num_nodes), seed=seed)
    weight = torch.rand(data.num_edges // 2, generator=torch.Generator().manual_seed(seed)).double().repeat(2)
    found = hop_eccentricity(data.edge_index, num_nodes, weight, hops=hops)
    assert torch.allclose(found, slow(data.edge_index, num_nodes, weight, hops), rtol=1e-12)


def test_path_by_hand():
    edges = path_graph(6).edge_index
    assert hop_eccentricity(edges, 6, hops=2).tolist() == [2, 2, 2, 2, 2, 2]
    assert hop_eccentricity(edges, 6).tolist() == [5, 4, 3, 3, 4, 5]
    assert hop_eccentricity(edges, 6, hops=0).tolist() == [0] * 6


def test_ways_round_outside_the_surroundings_do_not_count():
    # A triangle-like detour: 0 - 1 is long, 0 - 2 - 3 - 1 is short but passes node 3, two hops away.
    pairs = torch.tensor([[0, 0, 2, 3], [1, 2, 3, 1]])
    edges, weight = torch.cat([pairs, pairs.flip(0)], dim=1), torch.tensor([10.0, 1, 1, 1]).repeat(2)
    assert hop_eccentricity(edges, 4, weight, hops=1)[0] == 10
    assert hop_eccentricity(edges, 4, weight, hops=2)[0] == 3


def test_parallel_edges_and_lonely_nodes():
    edges = torch.tensor([[0, 1, 0, 1, 0], [1, 0, 1, 0, 0]])
    assert hop_eccentricity(edges, 3, torch.tensor([5.0, 5, 2, 2, 1])).tolist() == [2, 2, 0]
    assert hop_eccentricity(torch.zeros(2, 0, dtype=torch.long), 2).tolist() == [0, 0]
    assert hop_eccentricity(torch.zeros(2, 0, dtype=torch.long), 0).tolist() == []


@pytest.mark.parametrize(
    ("weight", "hops", "message"),
    [
        (torch.ones(3), 2, r"One weight per edge is needed; got \(3,\) for 2 edges"),
        (torch.tensor([1.0, -1.0]), 2, "finite and not negative"),
        (torch.tensor([1.0, float("nan")]), 2, "finite and not negative"),
        (None, -1, "hops must be at least 0; got -1"),
    ],
)
def test_wrong_arguments_are_named(weight, hops, message):
    with pytest.raises(ValueError, match=message):
        hop_eccentricity(path_graph(2).edge_index, 2, weight, hops=hops)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=60), st.integers(1, 12))
def test_classes_are_runs_of_the_sorted_values(values, classes):
    found = quantile_classes(torch.tensor(values, dtype=torch.float64), classes).tolist()
    run = len(values) // classes + 1
    order = sorted(range(len(values)), key=lambda index: values[index])
    assert [found[index] for index in order] == [rank // run for rank in range(len(values))]
    assert max(found) < classes


def test_agreement_with_labels():
    data = random_graph(200, 300, seed=1)
    weight = torch.rand(data.num_edges // 2).repeat(2)
    labels = quantile_classes(hop_eccentricity(data.edge_index, 200, weight))
    assert label_agreement(data.edge_index, labels, weight) == {"equal": 1.0, "near": 1.0}
    labels[:50] = (labels[:50] + 1).clamp(max=9)
    changed = label_agreement(data.edge_index, labels, weight)
    assert changed["equal"] < 1.0
    assert changed["near"] == 1.0
    assert label_agreement(data.edge_index, labels)["equal"] < 0.9
