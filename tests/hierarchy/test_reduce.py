import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from ghr import Coarsen, Graclus, GridBlocks
from ghr.hierarchy.reduce import Merged
from ghr.testing import random_graph


def with_codes(seed, sizes, dtype=torch.long):
    graph = random_graph(15, 30, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    columns = [torch.randint(size, (graph.num_edges,), generator=generator) for size in sizes]
    graph.edge_attr = torch.stack(columns, dim=1).to(dtype)
    return graph


@given(st.integers(0, 50), st.integers(1, 3))
def test_codes_are_reduced_to_their_shares_among_the_finest_edges(seed, levels):
    sizes = (4, 2)
    data = Coarsen(Graclus(rounds=1), levels=levels, codes=sizes)(with_codes(seed, sizes))
    up = torch.arange(15)
    for level in data.levels[1:]:
        up = level.assignment[up]
        assert level.edge_attr.shape == (level.edge_index.size(1), 6)
        for row, (u, v) in enumerate(level.edge_index.T.tolist()):
            merged = data.edge_attr[(up[data.edge_index[0]] == u) & (up[data.edge_index[1]] == v)]
            hot = [(merged[:, [k]] == torch.arange(size)).float().mean(0) for k, size in enumerate(sizes)]
            torch.testing.assert_close(level.edge_attr[row], torch.cat(hot))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_codes_may_be_any_integers_and_widths_are_those_that_occur(dtype):
    data = Coarsen(Graclus())(with_codes(0, (5, 3), dtype))
    assert data.edge_attr.dtype == dtype, "the codes of the graph stay codes"
    assert data.levels[1].edge_attr.size(1) == int(data.edge_attr.long().amax(0).sum()) + 2
    assert data.levels[1].edge_attr.dtype == torch.float32


@pytest.mark.parametrize("value", [True, False])
def test_truth_values_are_codes_of_two(value):
    graph = random_graph(8, 12)
    graph.edge_attr = torch.full((graph.num_edges,), value)
    coarse = Coarsen(Graclus())(graph).levels[1].edge_attr
    assert coarse.tolist() == [[float(not value), float(value)]] * coarse.size(0)
    assert coarse.size(0) > 0


def test_graphs_with_the_same_codes_batch():
    coarsen = Coarsen(Graclus(), codes=(6,))
    batch = Batch.from_data_list([coarsen(with_codes(seed, (2 + seed,))) for seed in range(4)])
    assert batch.levels[1].edge_attr.size(1) == 6
    assert torch.allclose(batch.levels[1].edge_attr.sum(1), torch.ones(()))


def test_without_edges_codes_have_their_width_too():
    graph = Data(x=torch.ones(3, 1), edge_index=torch.empty(2, 0).long(), edge_attr=torch.empty(0, 2).long())
    assert Coarsen(Graclus(), codes=(4, 2))(graph).levels[1].edge_attr.shape == (0, 6)
    assert Coarsen(Graclus())(graph).levels[1].edge_attr.shape == (0, 2)


@pytest.mark.parametrize(
    ("codes", "values", "words"),
    [
        ((3,), [0, 3], "Column 0 of edge_attr has the code 3, but codes run from 0 to 2"),
        ((3,), [0, -1], "Column 0 of edge_attr has the code -1"),
        (None, [0, -1], "Column 0 of edge_attr has the code -1"),
        (None, [0, 10**9], "has the code 1000000000, but codes run from 0 to 9999; convert edge_attr to floating"),
        ((3, 3), [0, 1], "codes gives 2 numbers of codes for 1 columns of edge_attr"),
        ((3,), [0.0, 1.0], "codes is for integer edge_attr, but edge_attr holds torch.float32"),
    ],
)
def test_what_are_no_codes_gets_a_sentence(codes, values, words):
    graph = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, 2]]), edge_attr=torch.tensor(values))
    with pytest.raises(ValueError, match=words):
        Coarsen(Graclus(), codes=codes)(graph)


@pytest.mark.parametrize("edge_reduce", ["min", "mean", ("min", "mean")])
def test_codes_have_no_minimum_and_no_mean(edge_reduce):
    with pytest.raises(ValueError, match=r"edge_attr holds integer codes .* leave out edge_reduce"):
        Coarsen(Graclus(), edge_reduce)(with_codes(0, (3,)))


def test_other_rules_do_not_read_the_codes():
    graph = with_codes(0, (3,))
    ones = Coarsen(Graclus(), lambda edges, assignment, count: torch.ones(edges.size(1)), codes=(3,))(graph)
    assert ones.levels[1].edge_attr.shape == (ones.levels[1].edge_index.size(1), 1)
    square = Data(x=torch.ones(4, 1), edge_index=torch.tensor([[0], [1]]), edge_attr=torch.tensor([1]))
    assert Coarsen(GridBlocks(2), codes=(2,))(square).levels[1].edge_attr.shape == (0, 1)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (5, "What edge_reduce returns must be a tensor; got the int 5"),
        (None, "must be a tensor"),
        (torch.tensor(1.0), "must be a tensor"),
        (torch.ones(99, 1), "has 99 rows for"),
        (torch.ones(1, 2, 3).expand(18, 2, 3), "must be a matrix"),
    ],
)
def test_a_callable_that_returns_something_else_gets_a_sentence(made, words):
    graph = Data(x=torch.ones(19, 1), edge_index=torch.stack([torch.arange(18), torch.arange(1, 19)]))
    with pytest.raises(ValueError, match=words):
        Coarsen(lambda edge_index, num_nodes: torch.arange(num_nodes), lambda *step: made)(graph)


def test_steps_follow_one_another():
    edges = torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]])
    first = Merged.by(torch.tensor([0, 0, 1, 2]), edges)
    assert first.edge_index.tolist() == [[0, 1, 2], [1, 2, 0]]
    assert first.became.tolist() == [-1, 0, 1, 2, 0]
    both = first.then(Merged.by(torch.tensor([0, 1, 1]), first.edge_index))
    assert both.assignment.tolist() == [0, 0, 1, 1]
    assert both.edge_index.tolist() == [[0, 1], [1, 0]]
    assert both.became.tolist() == [-1, 0, -1, 1, 0]
    assert both.order.tolist() == [1, 4, 3]
    assert both.start.tolist() == [0, 2, 3]


@given(st.integers(0, 50), st.integers(1, 3), st.sampled_from([torch.float32, torch.float64]))
def test_numbers_are_reduced_over_the_finest_edges(seed, width, dtype):
    graph = random_graph(15, 30, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    graph.edge_attr = torch.randn(graph.num_edges, width, generator=generator, dtype=torch.float64).to(dtype)
    names = ("max", "mean", "sum", "min")
    coarsen = Coarsen(Graclus(rounds=2), names, levels=2)
    data, up = coarsen(graph), torch.arange(15)
    for level in data.levels[1:]:
        up = level.assignment[up]
        for row, (u, v) in enumerate(level.edge_index.T.tolist()):
            merged = graph.edge_attr[(up[data.edge_index[0]] == u) & (up[data.edge_index[1]] == v)].double()
            ways = (merged.amax(0), merged.mean(0), merged.sum(0), merged.amin(0))
            torch.testing.assert_close(level.edge_attr[row], torch.cat(ways).to(dtype))
    graph.edge_attr.requires_grad_()  # then PyTorch reduces
    for one, other in zip(coarsen(graph).levels[1:], data.levels[1:], strict=True):
        torch.testing.assert_close(one.edge_attr.detach(), other.edge_attr)
        assert one.edge_attr.requires_grad or one.edge_attr.size(0) == 0
