import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import INFINITE, distances, edge_lists
from torch_geometric.data import Batch, Data, HeteroData

from ghr import CentrePaths, Coarsen, Graclus, GridBlocks
from ghr.hierarchy.coarsen import PARTITIONS, make_coarsen
from ghr.hierarchy.lattice import lattice_edges
from ghr.testing import assert_quotient, random_graph


def coarsened(graph, rounds=1, levels=1):
    edges, num_nodes = graph
    return Coarsen(Graclus(rounds=rounds), levels=levels)(Data(x=torch.ones(num_nodes, 1), edge_index=edges))


@given(edge_lists(), st.integers(1, 2), st.integers(1, 3))
def test_every_level_is_a_quotient_graph(graph, rounds, levels):
    data = coarsened(graph, rounds, levels)
    assert data.num_levels == levels + 1
    assert_quotient(data)


@given(edge_lists(), st.integers(1, 2), st.integers(1, 2))
def test_distances_never_grow(graph, rounds, levels):
    data = coarsened(graph, rounds, levels)
    for fine, coarse in zip(data.levels[:-1], data.levels[1:], strict=True):
        below = distances(fine.edge_index, fine.num_nodes)
        above = distances(coarse.edge_index, coarse.num_nodes)
        up = coarse.assignment.tolist()
        for u in range(fine.num_nodes):
            for v in range(fine.num_nodes):
                assert above[up[u]][up[v]] <= below[u][v], "a distance grew, or a connection was lost"


@given(edge_lists())
def test_components_are_neither_joined_nor_split(graph):
    edges, num_nodes = graph
    data = coarsened((torch.cat([edges, edges.flip(0)], dim=1), num_nodes), rounds=2)
    below = distances(data.edge_index, num_nodes)
    above = distances(data.levels[1].edge_index, data.levels[1].num_nodes)
    up = data.levels[1].assignment.tolist()
    for u in range(num_nodes):
        for v in range(num_nodes):
            assert (below[u][v] < INFINITE) == (above[up[u]][up[v]] < INFINITE)


@given(st.integers(0, 50), st.integers(1, 3))
def test_coarse_edge_features_are_reductions_of_the_finest_edges_merged(seed, levels):
    names = ("min", "mean", "max", "sum")
    data = Coarsen(Graclus(rounds=1), names, levels)(random_graph(20, 40, edge_dim=2, seed=seed))
    up = torch.arange(20)
    for level in data.levels[1:]:
        up = level.assignment[up]
        for column, (u, v) in enumerate(level.edge_index.T.tolist()):
            merged = data.edge_attr[(up[data.edge_index[0]] == u) & (up[data.edge_index[1]] == v)]
            expected = torch.cat([merged.amin(0), merged.mean(0), merged.amax(0), merged.sum(0)])
            torch.testing.assert_close(level.edge_attr[column], expected)


def test_directed_edges_stay_directed():
    data = coarsened((torch.tensor([[0, 1, 2], [1, 2, 3]]), 4))
    assert data.levels[1].edge_index.tolist() == [[0], [1]]


@pytest.mark.parametrize(
    ("edges", "num_nodes", "sizes"),
    [
        ([], 1, [1, 1]),
        ([], 3, [3, 3]),
        ([(0, 0)], 1, [1, 1]),
        ([(0, 1), (1, 0)], 2, [2, 1]),
        ([(0, 1), (0, 1), (1, 1)], 2, [2, 1]),
        ([(0, 1), (2, 3)], 5, [5, 3]),
    ],
)
def test_degenerate_graphs(edges, num_nodes, sizes):
    edge_index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T
    data = Coarsen(Graclus(), ("min", "mean"))(
        Data(x=torch.ones(num_nodes, 1), edge_index=edge_index, edge_attr=torch.ones(len(edges), 1))
    )
    assert [level.num_nodes for level in data.levels] == sizes
    assert data.levels[1].edge_attr.shape == (data.levels[1].edge_index.size(1), 2)
    assert_quotient(data)


def test_any_callable_is_a_partition_and_its_labels_may_have_gaps():
    graph = Data(x=torch.ones(4, 1), edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]))
    data = Coarsen(lambda edge_index, num_nodes: torch.tensor([7, 7, -3, 100]))(graph)
    assert data.levels[1].assignment.tolist() == [1, 1, 0, 2]
    assert_quotient(data)


def test_a_callable_gives_the_coarse_edge_features():
    def label_gap(edges, assignment, num_clusters):
        assert assignment.shape == (6,)
        assert num_clusters == 3
        return (edges[0] - edges[1]).abs().float().unsqueeze(1)

    ring = Data(x=torch.ones(6, 1), edge_index=torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]]))
    data = Coarsen(lambda edge_index, num_nodes: torch.arange(num_nodes) // 2, label_gap)(ring)
    assert sorted(data.levels[1].edge_attr.flatten().tolist()) == [1.0, 1.0, 2.0]


def test_heavy_edge_reads_the_weights_of_the_data():
    square = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    weight = torch.tensor([1.0, 5.0, 1.0, 5.0])
    partition = Graclus(mode="heavy_edge")
    for data in (
        Data(x=torch.ones(4, 1), edge_index=square, edge_attr=weight.unsqueeze(1)),
        Data(x=torch.ones(4, 1), edge_index=square, edge_weight=weight),
    ):
        assert Coarsen(partition)(data).levels[1].assignment.tolist() == [0, 1, 1, 0]
    with pytest.raises(ValueError, match="one weight per edge"):
        Coarsen(partition)(Data(x=torch.ones(4, 1), edge_index=square, edge_attr=torch.ones(4, 3)))


def test_without_weights_all_edges_weigh_the_same_until_they_are_merged():
    graph = Data(x=torch.ones(64, 1), edge_index=lattice_edges(8))
    partition = Graclus(rounds=2, mode="heavy_edge")
    found = Coarsen(partition)(graph).levels[1].assignment
    assert torch.equal(found, partition(graph.edge_index, 64))
    graph.edge_weight = torch.ones(graph.num_edges)
    assert torch.equal(Coarsen(partition)(graph).levels[1].assignment, found)
    assert not torch.equal(Coarsen(Graclus(rounds=2, mode="random"))(graph).levels[1].assignment, found)


def test_the_given_graph_is_left_alone_and_its_attributes_come_along():
    graph = random_graph(10, 20, edge_dim=1)
    graph.y = torch.arange(10.0)
    keys = set(graph.keys())
    data = Coarsen(Graclus())(graph)
    assert set(graph.keys()) == keys
    assert torch.equal(data.y, graph.y)
    assert data.num_nodes == 10


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("made", [GridBlocks(2), Graclus(), Graclus(mode="random")])
def test_features_come_in_the_precision_of_the_graph(dtype, made):
    ring = torch.tensor([[0, 1, 2, 3, 1, 2, 3, 0], [1, 2, 3, 0, 0, 1, 2, 3]])
    given = [
        Data(x=torch.ones(4, 1, dtype=dtype), edge_index=ring),
        Data(x=torch.ones(4, 1, dtype=dtype), edge_index=ring, edge_attr=torch.ones(8, 1).long()),
        Data(edge_index=ring, edge_attr=torch.ones(8, 1, dtype=dtype), num_nodes=4),
    ]
    for graph in given:
        assert Coarsen(made, CentrePaths())(graph).levels[1].edge_attr.dtype == dtype
        assert Coarsen(made, CentrePaths())(graph).levels[1].centre_distance.dtype == dtype
        edge_attr = Coarsen(made)(graph).levels[1].edge_attr
        assert edge_attr is None or edge_attr.dtype == dtype


def test_a_graph_of_positions_needs_no_number_of_nodes_beside():
    data = Coarsen(Graclus())(Data(pos=torch.rand(5, 2), edge_index=torch.tensor([[0], [1]])))
    assert "num_nodes" not in data
    assert [level.num_nodes for level in data.levels] == [5, 4]


def test_a_graph_without_features_keeps_its_size():
    data = Coarsen(Graclus())(Data(edge_index=torch.tensor([[0], [1]]), num_nodes=5))
    assert [level.num_nodes for level in data.levels] == [5, 4]
    assert Batch.from_data_list([data, data]).levels[0].num_nodes == 10


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"x": torch.ones(0, 1), "edge_index": torch.empty(2, 0, dtype=torch.long)}, "no nodes"),
        ({"edge_index": torch.tensor([[0], [9]])}, "has node 9, but nodes run from 0 to 3"),
        ({"edge_index": torch.tensor([[0], [-1]])}, "has node -1"),
        ({"edge_index": torch.tensor([[0.0], [1.0]])}, "int64 tensor of shape"),
        ({"x": torch.tensor([[1.0], [float("nan")], [1.0], [1.0]])}, "x has 1 entries that are not finite"),
        ({"edge_attr": torch.full((3, 1), float("inf"))}, "edge_attr of level 0 has 3 entries"),
        ({"edge_attr": torch.ones(2, 1)}, "2 rows for 3 edges"),
        ({"edge_index": None}, "no edge_index"),
        ({"batch": torch.zeros(4, dtype=torch.long)}, "before batching"),
    ],
)
def test_bad_graphs(change, words):
    graph = Data(x=torch.ones(4, 1), edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]))
    for name, value in change.items():
        graph[name] = value
    with pytest.raises(ValueError, match=words):
        Coarsen(Graclus())(graph)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((Graclus(), "median"), "Unknown edge_reduce 'median'; known are min, mean, max, sum"),
        ((Graclus(), ("min", "median")), "'median'"),
        ((Graclus(), ()), "Unknown edge_reduce"),
        ((Graclus(), 2), "Unknown edge_reduce 2; known are min"),
        ((Graclus(), ("min", 2)), "Unknown edge_reduce"),
        ((Graclus(), np.array(["min"])), "Unknown edge_reduce"),
        ((Graclus(), torch.tensor(1)), "Unknown edge_reduce"),
        ((Graclus(), {"min"}), "Unknown edge_reduce"),
        ((Graclus(), CentrePaths), r"an object and not a class; write CentrePaths\(...\)"),
        ((Graclus(), None, 0), "levels must be a whole number of at least 1; got 0"),
        ((Graclus(), None, True), "levels must be a whole number of at least 1; got True"),
        ((Graclus(), None, 10**9), "levels must be a whole number of at most 64"),
        ((Graclus(), None, 1, 3), "codes must list how many codes every column of edge_attr has; got 3"),
        ((Graclus(), None, 1, ()), "codes must list"),
        ((Graclus(), None, 1, "34"), "codes must list"),
        ((Graclus(), None, 1, (3, 0)), "number of codes of a column must be a whole number of at least 1; got 0"),
        ((Graclus(), None, 1, (10**9,)), "at most 10000"),
        (("graclus",), "callable"),
        ((Graclus,), "callable"),
        ((None,), "callable"),
    ],
)
def test_bad_arguments(arguments, words):
    with pytest.raises(ValueError, match=words):
        Coarsen(*arguments)


def test_coarsening_twice_and_bad_labels_are_refused():
    graph = random_graph(6, 9)
    with pytest.raises(ValueError, match="already has 2 levels"):
        Coarsen(Graclus())(Coarsen(Graclus())(graph))
    with pytest.raises(ValueError, match="one integer label per node"):
        Coarsen(lambda edge_index, num_nodes: torch.zeros(3, dtype=torch.long))(graph)
    with pytest.raises(ValueError, match=r"one integer label per node, shape \(6,\); got the list"):
        Coarsen(lambda edge_index, num_nodes: [0] * num_nodes)(graph)
    with pytest.raises(ValueError, match="one integer label per node"):
        Coarsen(lambda edge_index, num_nodes: torch.zeros(num_nodes))(graph)


@pytest.mark.parametrize("given", [5, None, "graph", [1, 2], torch.ones(3), HeteroData(), [random_graph(4, 5)]])
def test_what_is_no_graph_gets_a_sentence(given):
    with pytest.raises(ValueError, match=r"Coarsen takes a torch_geometric.data.Data; got \w+"):
        Coarsen(Graclus())(given)


def test_a_plain_graph_that_carries_levels_is_refused_too():
    with pytest.raises(ValueError, match="already has 2 levels"):
        Coarsen(Graclus())(Data.from_dict(Coarsen(Graclus())(random_graph(6, 9)).to_dict()))


def test_an_edge_weight_is_reduced_with_the_features():
    graph = random_graph(12, 30, edge_dim=2)
    graph.edge_weight = torch.rand(graph.num_edges, generator=torch.Generator().manual_seed(0))
    together = random_graph(12, 30, edge_dim=2)
    together.edge_attr = torch.cat([together.edge_attr, graph.edge_weight.unsqueeze(1)], dim=1)
    first, second = (Coarsen(Graclus(), ("min", "mean"), 2)(given) for given in (graph, together))
    for one, two in zip(first.levels, second.levels, strict=True):
        assert torch.equal(one.edge_attr, two.edge_attr)
    assert first.levels[1].edge_attr.size(1) == 6


def test_heavy_edge_reads_the_weight_and_not_the_features():
    square = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    weight = torch.tensor([1.0, 5.0, 1.0, 5.0])
    data = Data(x=torch.ones(4, 1), edge_index=square, edge_weight=weight, edge_attr=weight.flip(0).unsqueeze(1))
    assert Coarsen(Graclus(mode="heavy_edge"))(data).levels[1].assignment.tolist() == [0, 1, 1, 0]
    data.edge_weight = -weight
    with pytest.raises(ValueError, match="at least 0"):
        Coarsen(Graclus(mode="heavy_edge"))(data)


CONFIGS = {
    "default": Coarsen(Graclus(rounds=3)),
    "graclus": Coarsen(Graclus(2, "heavy_edge", 7), ("min", "mean"), 2),
    "no seed": Coarsen(Graclus(2, "random", None), "max"),
    "grid": Coarsen(GridBlocks(4), levels=2),
    "centres": Coarsen(Graclus(rounds=2), CentrePaths()),
    "codes": Coarsen(Graclus(rounds=2), codes=(4, 3)),
    "numpy": Coarsen(Graclus(np.int64(2), seed=np.int32(1)), levels=np.int64(2), codes=[np.int64(4)]),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_the_config_builds_it_again(name):
    coarsen = CONFIGS[name]
    config = json.loads(json.dumps(coarsen.config))
    again = make_coarsen(**config)
    assert repr(again) == repr(coarsen)
    assert again.config == coarsen.config
    assert make_coarsen().config == {**CONFIGS["default"].config}


def test_what_json_cannot_hold_has_no_config():
    assert Coarsen(lambda edge_index, num_nodes: torch.zeros(num_nodes).long()).config is None
    assert Coarsen(Graclus(), lambda edges, assignment, count: edges.T.float()).config is None
    assert Coarsen(Graclus(), CentrePaths(column=1)).config is None


def test_every_partition_has_a_name():
    assert {"graclus": Graclus, "grid": GridBlocks} == PARTITIONS
    for name, cls in PARTITIONS.items():
        assert isinstance(make_coarsen(partition=name).partition, cls)
        assert set(cls().config) == set(cls.options)
    with pytest.raises(ValueError, match="Unknown partition 'metis'; known are graclus, grid"):
        make_coarsen(partition="metis")


def test_repr_names_every_option_that_is_set():
    expected = "Coarsen(GridBlocks(block=2), edge_reduce=('min', 'mean'), levels=2, codes=[3])"
    assert repr(Coarsen(GridBlocks(2), ["min", "mean"], 2, (3,))) == expected
    assert repr(Coarsen(GridBlocks(2), "mean")) == "Coarsen(GridBlocks(block=2), edge_reduce='mean', levels=1)"


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.zeros(4).long().to("meta"),
        lambda: torch.zeros(4).to(torch.uint16),
        lambda: torch.zeros(4).long().to_sparse(),
        lambda: torch.nested.nested_tensor([torch.zeros(4).long()]),
        lambda: [0] * 4,
    ],
)
def test_odd_labels_of_a_partition_are_refused(make):
    with pytest.raises(ValueError, match="partition"):
        Coarsen(lambda edge_index, num_nodes: make())(random_graph(4, 4))
