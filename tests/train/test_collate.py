import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.data import Batch, Data

from ghr import Coarsen, Graclus
from ghr.testing import random_graph
from ghr.train.collate import collate, collate_list


def assert_same(one: object, other: object) -> None:
    """Two batches are the same: attributes in their order, types, and what takes them apart again."""
    assert type(one) is type(other)
    assert list(one._store.keys()) == list(other._store.keys())
    for name in ("_slice_dict", "_inc_dict", "_num_graphs"):
        assert_equal(getattr(one, name), getattr(other, name))
    assert_equal(one.to_dict(), other.to_dict())
    for own, expected in zip(one.to_data_list(), other.to_data_list(), strict=True):
        assert_equal(own.to_dict(), expected.to_dict())


def assert_equal(one: object, other: object) -> None:
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        assert (one.dtype, one.shape, one.device) == (other.dtype, other.shape, other.device)
        assert torch.equal(one, other)
    elif isinstance(one, dict) and isinstance(other, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_equal(one[key], other[key])
    elif isinstance(one, list) and isinstance(other, list):
        assert_equal(dict(enumerate(one)), dict(enumerate(other)))
    else:
        assert one == other


@st.composite
def graph_lists(draw: st.DrawFn) -> list[Data]:
    extra, levels = draw(st.booleans()), draw(st.integers(0, 2))
    graphs = []
    for seed in range(draw(st.integers(1, 6))):
        graph = random_graph(draw(st.integers(1, 12)), draw(st.integers(0, 20)), seed=seed)
        nodes = graph.num_nodes
        if extra:
            graph.y, graph.mask = torch.randn(1, 3), torch.rand(nodes) > 0.5
            graph.node_index = torch.arange(nodes, dtype=torch.int32)
            graph.face = torch.randint(nodes, (3, 2))
            graph.index_mask = torch.rand(nodes) > 0.5
        if levels:
            graph = Coarsen(Graclus(rounds=1, seed=seed), levels=levels + 1)(graph)
        graphs.append(graph)
    return graphs


@given(graph_lists())
@settings(deadline=None, max_examples=60)
def test_a_batch_is_the_one_that_pyg_makes(graphs: list[Data]) -> None:
    assert_same(collate_list(graphs), Batch.from_data_list(graphs))


def test_plain_graphs_are_joined_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = [random_graph(5, 8, seed=seed) for seed in range(3)]
    expected = Batch.from_data_list(graphs)
    monkeypatch.setattr(Batch, "from_data_list", None)
    assert_same(collate(graphs, [0, 1, 2]), expected)


class Pairs(Data):
    """Has a rule of its own for one attribute."""

    def __inc__(self, key: str, value: object, *args: object, **kwargs: object) -> object:
        return 7 if key == "pair" else super().__inc__(key, value, *args, **kwargs)


def make(kind: str, seed: int) -> Data:
    graph = random_graph(4 + seed, 6, seed=seed)
    match kind:
        case "a word":
            graph.name = f"graph {seed}"
        case "a number":
            graph.number = seed
        case "a tensor without rows":
            graph.total = torch.tensor(float(seed))
        case "a list":
            graph.parts = [torch.ones(2), torch.zeros(seed + 1)]
        case "a dictionary":
            graph.more = {"index": torch.arange(3)}
        case "another class":
            graph = Pairs(**graph.to_dict(), pair=torch.arange(2))
        case "no edges at all":
            graph = Data(x=graph.x)
        case "a number of nodes":
            graph = Data(edge_index=graph.edge_index, num_nodes=4 + seed)
        case "a level that is none":
            graph.level1_edge_index = graph.edge_index
        case "a batch":
            graph.batch = torch.zeros(graph.num_nodes, dtype=torch.long)
            graph.ptr = torch.tensor([0, graph.num_nodes])
    return graph


KINDS = (
    "a word", "a number", "a tensor without rows", "a list", "a dictionary", "another class", "no edges at all",
    "a number of nodes", "a level that is none", "a batch",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_other_attributes_and_classes_are_joined_as_pyg_does(kind: str) -> None:
    graphs = [make(kind, seed) for seed in range(3)]
    assert_same(collate_list(graphs), Batch.from_data_list(graphs))


def test_a_first_graph_without_nodes_shifts_nothing_but_those_behind_it_do() -> None:
    empty = Data(x=torch.zeros(0, 1), edge_index=torch.zeros(2, 0, dtype=torch.long), node_index=torch.zeros(0).long())
    graphs = [empty]
    for seed in range(2):
        graph = random_graph(3, 4, seed=seed)
        graphs.append(Data(x=graph.x[:, :1], edge_index=graph.edge_index, node_index=torch.arange(3)))
    assert_same(collate_list(graphs), Batch.from_data_list(graphs))


def test_graphs_that_form_no_batch_are_a_sentence() -> None:
    graphs = _rings(2)
    del graphs[1].y
    with pytest.raises(ValueError, match="must have the same attributes, but some lack y"):
        collate(graphs, [0, 1])
    graphs = _rings(2)
    graphs[1].x = graphs[1].x.repeat(1, 2)
    with pytest.raises(ValueError, match="cannot form a batch, since their attributes differ in width"):
        collate(graphs, [0, 1])
    with pytest.raises(ValueError, match="Graph 1 is a int, not a graph of PyTorch Geometric"):
        collate([_rings(1)[0], 3], [0, 1])


def _rings(count: int) -> list[Data]:
    ring = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    return [Data(x=torch.ones(4, 1), edge_index=ring, y=torch.zeros(4, 1)) for _ in range(count)]
