import networkx as nx
import pytest
import torch
from torch_geometric.data import Data

from ghr import CentrePaths, Coarsen, Graclus
from ghr.datasets import RGGSSSP
from ghr.paper.trial_data import Budget, Offsets, WidestPath, constant_coarse_edges, exact_centre_paths


@pytest.fixture
def graphs(tmp_path):
    return RGGSSSP(tmp_path, "small", "val", weighted=True, num_graphs=5)


def table(data):
    graph = nx.Graph()
    graph.add_nodes_from(range(data.num_nodes))
    ends = zip(data.edge_index.T.tolist(), data.edge_attr[:, 0].tolist(), strict=True)
    graph.add_weighted_edges_from((a, b, length) for (a, b), length in ends)
    return graph


def test_an_offset_is_as_long_as_its_edge(graphs):
    for data in graphs:
        length = data.edge_attr[:, 0].clone()
        changed = Offsets()(data)
        assert changed.edge_attr.shape == (data.num_edges, 2)
        torch.testing.assert_close(changed.edge_attr.norm(dim=1), length)


def test_the_widest_path_has_the_shortest_longest_edge(graphs):
    for data in graphs:
        nodes = range(data.num_nodes)
        longest = [[0.0 if i == j else float("inf") for j in nodes] for i in nodes]
        for (i, j), length in zip(data.edge_index.T.tolist(), data.edge_attr[:, 0].tolist(), strict=True):
            longest[i][j] = length
        for via in nodes:
            for i in nodes:
                longest[i] = [min(old, max(longest[i][via], longest[via][j])) for j, old in enumerate(longest[i])]
        expected = torch.tensor(longest[int(data.x.argmax())]).where(data.mask, torch.tensor(0.0))
        torch.testing.assert_close(WidestPath()(data).y[:, 0], expected)


def test_a_budget_is_half_of_the_longest_way(graphs):
    for data in graphs:
        distance = data.y.clone()
        asked = Budget()(data)
        half = float(distance[data.mask].max()) / 2
        assert float(asked.budget[0]) == pytest.approx(half)
        assert asked.budget.shape == asked.scale.shape == asked.y.shape
        assert float(asked.scale[0]) == pytest.approx(float(data.edge_attr.mean()))
        assert asked.y[:, 0].tolist() == [float(d <= half) for d in distance[:, 0].tolist()]


def coarse(data):
    return Coarsen(Graclus(rounds=3), CentrePaths())(data)


def test_exact_centre_paths_are_the_shortest_between_centres(graphs):
    for data in graphs:
        cheap = coarse(data)
        before = cheap.level1_edge_attr.clone()
        exact, graph = exact_centre_paths(cheap), table(data)
        assert torch.equal(cheap.level1_edge_attr, before), "the graph given stays as it is"
        level = exact.levels[1]
        centre = {}
        for node, (cluster, r) in enumerate(
            zip(level.assignment.tolist(), level.centre_distance.tolist(), strict=True)
        ):
            if r == 0:
                centre[cluster] = node
        for (a, b), length in zip(level.edge_index.T.tolist(), level.edge_attr[:, 0].tolist(), strict=True):
            expected = nx.dijkstra_path_length(graph, centre[a], centre[b])
            assert length == pytest.approx(expected, rel=1e-5)
        assert bool((level.edge_attr <= before * (1 + 1e-6)).all())


def test_constant_coarse_edges_keep_the_mean(graphs):
    cheap = coarse(graphs[0])
    constant = constant_coarse_edges(cheap).level1_edge_attr
    assert constant.unique().numel() == 1
    assert float(constant[0]) == pytest.approx(float(cheap.level1_edge_attr.mean()))
    alone = Data(x=torch.ones(1, 1), edge_index=torch.empty(2, 0, dtype=torch.long), edge_attr=torch.empty(0, 1))
    assert constant_coarse_edges(coarse(alone)).level1_edge_attr.shape == (0, 1)
