import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import INFINITE, distances, edge_lists
from torch_geometric.data import Batch, Data

from ghr import CentrePaths, Coarsen, Graclus, GridBlocks
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
        ((Graclus(), None, 0), "levels=0"),
        (("graclus",), "callable"),
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
