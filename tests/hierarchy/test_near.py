"""Nodes of large graphs are brought near their neighbours; nothing else changes."""

import pytest
import torch
from torch_geometric.data import Batch, Data

from ghr import Coarsen, Graclus
from ghr.bench.graphs import geometric_graph
from ghr.hierarchy import near
from ghr.hierarchy.data import levels_of
from ghr.hierarchy.near import bring_near
from ghr.testing import path_graph


@pytest.fixture(autouse=True)
def few_rows_are_far(monkeypatch):
    monkeypatch.setattr(near, "FAR", 20)


def mean_distance(level) -> float:
    return float((level.edge_index[0] - level.edge_index[1]).abs().double().mean())


def test_levels_are_the_same_graphs_under_other_numbers():
    data = Coarsen(Graclus(rounds=1), levels=2)(geometric_graph(200))
    found = bring_near(data.levels)
    assert torch.equal(found.order[found.place], torch.arange(200))
    place = found.place
    for before, after in zip(data.levels, found.levels, strict=True):
        if before.assignment is not None:
            below, place = place, torch.full((before.num_nodes,), -1)
            place[before.assignment] = after.assignment[below]  # every member agrees where its cluster is
            assert torch.equal(place[before.assignment], after.assignment[below])
        assert torch.equal(place.sort().values, torch.arange(before.num_nodes))
        assert torch.equal(place[before.edge_index], after.edge_index)
        assert torch.equal(before.batch, after.batch[place])
        assert before.edge_attr is after.edge_attr
        assert mean_distance(after) < mean_distance(before) / 3


def test_clusters_are_ordered_by_their_first_member():
    found = bring_near(Coarsen(Graclus(rounds=2))(geometric_graph(200)).levels)
    assignment = found.levels[1].assignment
    firsts = [int((assignment == cluster).nonzero()[0]) for cluster in range(found.levels[1].num_nodes)]
    assert firsts == sorted(firsts)


def test_batches_keep_nodes_and_graphs_together():
    batch = Batch.from_data_list([Coarsen(Graclus())(geometric_graph(size)) for size in (150, 90)])
    found = bring_near(batch.levels)
    assert torch.equal(found.levels[0].batch, batch.batch[found.order])
    assert torch.equal(found.levels[1].batch[found.levels[1].assignment], found.levels[0].batch)


def test_distances_to_centres_move_along():
    data = Coarsen(Graclus(rounds=2), "centre_paths")(geometric_graph(200))
    found = bring_near(data.levels)
    assert torch.equal(found.levels[1].centre_distance, data.levels[1].centre_distance[found.order])


@pytest.mark.parametrize(
    "graph",
    [
        path_graph(500),  # neighbours are near
        geometric_graph(20),  # all are
        Data(x=torch.ones(500, 1), edge_index=torch.empty(2, 0, dtype=torch.long)),
        geometric_graph(500).to("meta"),
    ],
)
def test_others_stay_as_they_are(graph):
    assert bring_near(levels_of(graph)) is None


def test_edges_of_one_direction_count_as_both():
    graph = geometric_graph(300)
    one_way = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    found = bring_near(levels_of(Data(x=graph.x, edge_index=one_way)))
    both = bring_near(levels_of(graph))
    assert mean_distance(found.levels[0]) == pytest.approx(mean_distance(both.levels[0]), rel=0.3)
