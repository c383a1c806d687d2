from collections import deque

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from cases import AWKWARD
from ghr import memory
from ghr.hierarchy import Coarsen, Graclus
from ghr.testing import path_graph, random_graph
from ghr.transforms import HopEdges


def slow_distances(edge_index, num_nodes):
    """How many edges the shortest path from the first to the second node of a pair has, by walking."""
    found = {}
    onward = {node: [] for node in range(num_nodes)}
    for j, i in edge_index.T.tolist():
        onward[j].append(i)
    for start in range(num_nodes):
        distance, queue = {start: 0}, deque([start])
        while queue:
            node = queue.popleft()
            for other in onward[node]:
                if other not in distance:
                    distance[other] = distance[node] + 1
                    queue.append(other)
        found.update({(start, end): hops for end, hops in distance.items() if end != start})
    return found


def read_pairs(data):
    pairs = [tuple(pair) for pair in data.hop_edge_index.T.tolist()]
    assert len(set(pairs)) == len(pairs)  # every pair once, so no two distances share one
    return dict(zip(pairs, data.hop_distance.tolist(), strict=True))


def check_pairs(edge_index, num_nodes, max_hops):
    data = HopEdges(max_hops)(Data(edge_index=edge_index, num_nodes=num_nodes))
    expected = {pair: hops for pair, hops in slow_distances(edge_index, num_nodes).items() if 2 <= hops <= max_hops}
    assert read_pairs(data) == expected
    assert data.hop_distance.tolist() == sorted(data.hop_distance.tolist())
    assert data.hop_limit.tolist() == [max_hops]


@given(st.integers(1, 12), st.integers(0, 20), st.integers(1, 6), st.booleans(), st.integers(0, 10**6))
def test_all_pairs_at_their_distance(num_nodes, num_edges, max_hops, directed, seed):
    edge_index = random_graph(num_nodes, num_edges, seed=seed).edge_index
    if directed:
        edge_index = edge_index[:, torch.rand(edge_index.size(1), generator=torch.Generator().manual_seed(seed)) < 0.5]
    check_pairs(edge_index, num_nodes, max_hops)


@pytest.mark.parametrize("name", AWKWARD)
def test_odd_graphs(name):
    num_nodes, edges = AWKWARD[name]
    check_pairs(torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T, num_nodes, 4)


def lattice(side):
    node = torch.arange(side * side).reshape(side, side)
    pairs = [(node, node.roll(1, 0)), (node, node.roll(1, 1))]
    there = torch.cat([torch.stack([a.flatten(), b.flatten()]) for a, b in pairs], dim=1)
    return Data(x=torch.ones(side * side, 1), edge_index=torch.cat([there, there.flip(0)], dim=1))


def test_a_lattice_has_four_times_k_nodes_at_distance_k():
    count = torch.bincount(HopEdges(5)(lattice(32)).hop_distance.long())
    assert count.tolist() == [0, 0, *(32 * 32 * 4 * hops for hops in (2, 3, 4, 5))]


def test_too_many_pairs_are_refused_with_their_memory(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**20)
    with pytest.raises(ValueError, match=r"Finding the pairs at distance \d among 4,096 nodes needs .* GiB of memory"):
        HopEdges(20)(lattice(64))
    assert HopEdges(3)(lattice(8)).hop_edge_index.size(1) == 64 * 20


@pytest.mark.parametrize("coarsen", [False, True])
def test_goes_through_batches(coarsen):
    graphs = [path_graph(size) for size in (1, 5, 2, 4)]
    if coarsen:
        graphs = [Coarsen(Graclus(rounds=1))(graph) for graph in graphs]
    graphs = [HopEdges(3)(graph) for graph in graphs]
    batch = Batch.from_data_list(graphs)
    assert batch.hop_limit.tolist() == [3, 3, 3, 3]
    edges = slow_distances(batch.edge_index, batch.num_nodes)
    assert read_pairs(batch) == {pair: hops for pair, hops in edges.items() if 2 <= hops <= 3}
    again = batch.to_data_list()[1]
    assert torch.equal(again.hop_edge_index, graphs[1].hop_edge_index)


def test_the_graph_that_is_given_stays_as_it_is():
    data = path_graph(4)
    HopEdges(2)(data)
    assert "hop_edge_index" not in data


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="max_hops must be a whole number of at least 1; got 0"):
        HopEdges(0)
    with pytest.raises(ValueError, match="no edge_index"):
        HopEdges(2)(Data(num_nodes=3))
    with pytest.raises(ValueError, match="edge_index has node 7"):
        HopEdges(2)(Data(edge_index=torch.tensor([[0], [7]]), num_nodes=3))
    assert repr(HopEdges(4)) == "HopEdges(4)"
