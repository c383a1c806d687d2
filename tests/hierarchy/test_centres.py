import math
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_lists
from torch_geometric.data import Batch, Data

from ghr import CentrePaths, Coarsen, Graclus
from ghr.datasets import RGGSSSP
from ghr.hierarchy.data import levels_of
from ghr.testing import path_graph


def lengths(edges, num_nodes):
    """Lengths of shortest paths between all pairs, by relaxing every edge until nothing changes."""
    table = [[0.0 if u == v else math.inf for v in range(num_nodes)] for u in range(num_nodes)]
    for _ in range(num_nodes):
        for u, v, length in edges:
            for row in table:
                row[v] = min(row[v], row[u] + length)
    return table


@st.composite
def graphs(draw):
    """Undirected, with lengths or without, with self loops and repeats."""
    edges, num_nodes = draw(edge_lists())
    data = Data(x=torch.ones(num_nodes, 1), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    if draw(st.booleans()):
        length = draw(st.lists(st.floats(0, 9), min_size=edges.size(1), max_size=edges.size(1)))
        data.edge_attr = torch.tensor(length, dtype=torch.double).repeat(2).unsqueeze(1)
    return data


def edge_list(level):
    length = [1.0] * level.edge_index.size(1) if level.edge_attr is None else level.edge_attr[:, 0].tolist()
    return [(u, v, cost) for (u, v), cost in zip(level.edge_index.T.tolist(), length, strict=True)]


@given(graphs(), st.integers(1, 2), st.integers(1, 2))
def test_centres_are_least_far_and_edges_run_through_them(data, rounds, coarse_levels):
    levels = Coarsen(Graclus(rounds=rounds), CentrePaths(), levels=coarse_levels)(data).levels
    for fine, coarse in pairwise(levels):
        up, edges = coarse.assignment.tolist(), edge_list(fine)
        inside = lengths([(u, v, cost) for u, v, cost in edges if up[u] == up[v]], fine.num_nodes)
        distance = coarse.centre_distance.tolist()
        for cluster in range(coarse.num_nodes):
            members = [i for i, c in enumerate(up) if c == cluster]
            radius = min(max(inside[centre][i] for i in members) for centre in members)
            found = [distance[i] for i in members]
            assert max(found) == pytest.approx(radius, rel=1e-6)
            assert any(all(abs(inside[centre][i] - distance[i]) < 1e-5 for i in members) for centre in members)
        for u, v, cost in edge_list(coarse):
            ways = [distance[i] + e + distance[j] for i, j, e in edges if (up[i], up[j]) == (u, v)]
            assert cost == pytest.approx(min(ways), rel=1e-6)


@given(graphs(), st.integers(1, 3))
def test_no_way_over_the_coarse_level_is_shorter_than_the_shortest_path(data, rounds):
    fine, coarse = Coarsen(Graclus(rounds=rounds), CentrePaths())(data).levels
    below, above = (lengths(edge_list(level), level.num_nodes) for level in (fine, coarse))
    up, distance = coarse.assignment.tolist(), coarse.centre_distance.tolist()
    for u in range(fine.num_nodes):
        for v in range(fine.num_nodes):
            over = distance[u] + above[up[u]][up[v]] + distance[v]
            assert over >= below[u][v] - 1e-5
            assert math.isfinite(over) == math.isfinite(below[u][v])


def test_the_distances_go_along_in_a_batch_and_in_the_cache(tmp_path):
    transform = Coarsen(Graclus(rounds=1), CentrePaths(), levels=2)
    graphs = [transform(path_graph(size)) for size in (5, 3, 8)]
    batch = Batch.from_data_list(graphs)
    for k in (1, 2):
        together = torch.cat([graph.levels[k].centre_distance for graph in graphs])
        assert torch.equal(batch.levels[k].centre_distance, together)
        assert together.shape == (batch.levels[k - 1].num_nodes,)
    assert torch.equal(batch[1].levels[1].centre_distance, graphs[1].levels[1].centre_distance)

    first, again = (RGGSSSP(tmp_path, num_graphs=3, weighted=True, pre_transform=transform) for _ in range(2))
    assert torch.equal(first[2].level2_centre_distance, again[2].level2_centre_distance)
    assert float(first[2].level1_centre_distance.max()) > 0


def test_another_column_holds_the_length():
    data = path_graph(4)
    data.edge_attr = torch.tensor([[9.0, 1.0], [9.0, 2.0], [9.0, 4.0]]).repeat(2, 1)
    coarse = Coarsen(Graclus(rounds=1, seed=0), CentrePaths(column=1))(data).levels[1]
    assert coarse.edge_attr.shape == (coarse.edge_index.size(1), 1)
    assert float(coarse.edge_attr.max()) < 9


def test_what_has_no_centres_gets_a_sentence():
    path = path_graph(4)
    one_way = Data(x=path.x, edge_index=path.edge_index[:, :3])
    with pytest.raises(ValueError, match=r"undirected.* from node 0 to node 1 are not those from 1 to 0"):
        Coarsen(Graclus(), CentrePaths())(one_way)
    path.edge_attr = torch.tensor([[1.0], [1.0], [1.0], [1.0], [1.0], [2.0]])
    with pytest.raises(ValueError, match="undirected"):
        Coarsen(Graclus(), CentrePaths())(path)
    path.edge_attr = -torch.ones(6, 1)
    with pytest.raises(ValueError, match="cannot be negative; the smallest is -1"):
        Coarsen(Graclus(), CentrePaths())(path)
    path.edge_attr = torch.ones(6, 1)
    with pytest.raises(ValueError, match="reads column 2 of edge_attr, which has 1 columns"):
        Coarsen(Graclus(), CentrePaths(column=2))(path)
    with pytest.raises(ValueError, match="inside cluster 0 no path joins node"):
        Coarsen(lambda edge_index, num_nodes: torch.tensor([0, 1, 1, 0]), CentrePaths())(path)
    for column in (-1, 1.5, "0", True, None):
        with pytest.raises(ValueError, match=f"column must be a whole number of at least 0; got {column!r}"):
            CentrePaths(column)


STEP = (torch.tensor([0, 0, 1, 1]), 2, torch.tensor([[0, 1], [1, 0]]), torch.tensor([-1, 0, -1, -1, 1, -1]))


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (0, torch.tensor([0, 0, 1]), r"label has the shape \(3,\) for 4 nodes"),
        (0, torch.tensor([0, 0, 1, 2]), "label has 2, but must be in 0 to 1"),
        (0, [0, 0, 1, 1], "label must be an int64 tensor"),
        (1, 0, "num_clusters must be a whole number of at least 1"),
        (1, "2", "num_clusters must be a whole number"),
        (2, torch.tensor([[0, 1], [1, 2]]), "coarse_edges has node 2"),
        (3, torch.tensor([-1, 0, -1, -1, 2, -1]), "became has 2, but must be in -1 to 1"),
        (3, torch.tensor([0.5]), "became must be an int64 tensor"),
    ],
)
def test_bad_steps_get_a_sentence(place, value, words):
    level = levels_of(path_graph(4))[0]
    CentrePaths()(level, *STEP)
    step = [*STEP]
    step[place] = value
    with pytest.raises(ValueError, match=words):
        CentrePaths()(level, *step)
    with pytest.raises(ValueError, match="CentrePaths coarsens a Level; got the int 5"):
        CentrePaths()(5, *STEP)


def test_an_edge_weight_is_a_length_and_whole_numbers_are_lengths():
    weighted, lengths = path_graph(4), path_graph(4)
    weighted.edge_weight = torch.tensor([1.0, 5.0, 2.0]).repeat(2)
    lengths.edge_attr = torch.tensor([[1], [5], [2]]).repeat(2, 1)
    coarsen = Coarsen(lambda edge_index, num_nodes: torch.tensor([0, 0, 1, 1]), "centre_paths")
    for path in (weighted, lengths):
        coarse = coarsen(path).levels[1]
        assert coarse.centre_distance.tolist() == [0, 1, 0, 2]
        assert coarse.edge_attr.tolist() == [[6], [6]]
        assert coarse.edge_attr.dtype == torch.float32


def test_a_cluster_has_at_least_one_node_and_a_feature_has_values():
    (level,) = levels_of(path_graph(2, edge_dim=1))
    label, edges, became = torch.zeros(2).long(), torch.empty(2, 0).long(), torch.full((2,), -1)
    with pytest.raises(
        ValueError, match="num_clusters must be a whole number of at most 2, as many as there are nodes"
    ):
        CentrePaths()(level, label, 2**31 - 1, edges, became)
    with pytest.raises(ValueError, match="became is on the device meta"):
        CentrePaths()(level, label, 1, edges, became.to("meta"))
    nowhere = replace(level, edge_attr=level.edge_attr.to("meta"))
    with pytest.raises(ValueError, match="edge_attr is on the device meta"):
        CentrePaths()(nowhere, label, 1, edges, became)
