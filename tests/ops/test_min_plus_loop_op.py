import numba
import pytest
import torch

from cases import relative_error
from ghr import ops
from ghr.nn.min_plus import MinPlusCell
from ghr.ops.min_plus_loop import min_plus_loop
from ghr.testing import random_graph


def case(dtype, shared, graphs=1, size=45, channels=5):
    """States, costs, what is before, the injection, and a cell; equal costs, so that many ways are equally short."""
    torch.manual_seed(0)
    edge_index = torch.cat([random_graph(size, 2 * size, seed=k).edge_index + k * size for k in range(graphs)], dim=1)
    nodes, cell = graphs * size, MinPlusCell(1, channels).to(dtype)
    cap = torch.full((nodes, 1), 9.0, dtype=dtype)
    state = (4 * torch.rand(nodes, channels, dtype=dtype)).round()
    state[::3] = 9.0
    cost = torch.randint(1, 3, (1 if shared else edge_index.size(1), channels)).to(dtype)
    before = torch.randint(2, 9, (nodes, channels)).to(dtype)
    injection = torch.rand(nodes, channels, dtype=dtype) * (torch.rand(nodes, 1) < 0.2)
    return [tensor.requires_grad_() for tensor in (state, cost, before, injection)], cell, cap, edge_index


def run(backend, tensors, cell, cap, edge_index, updates):
    state, cost, before, injection = tensors
    if backend == "numba":
        neighbours = ops.sort_edges(edge_index, len(state))
        rows = cost if cost.size(0) == 1 else cost[neighbours.order]
        maps = (cell.mix_in.weight, cell.mix_out.weight)
        out = min_plus_loop(state, rows, neighbours, before, cap, injection, *maps, updates=updates)
    else:
        out = state
        for _ in range(updates):
            out = cell(ops.min_plus(out, cost, edge_index, before), cap, injection)
    weight = torch.linspace(-1, 2, out.numel(), dtype=out.dtype).view_as(out)
    leaves = [*tensors, cell.mix_in.weight, cell.mix_out.weight]
    return [out, *torch.autograd.grad((out * weight).sum(), leaves)]


@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 1e-4), (torch.float64, 1e-10)])
@pytest.mark.parametrize("shared", [True, False])
def test_kernels_agree_with_pytorch(shared, dtype, bound):
    for updates in (1, 3):
        # Later updates mix channels, and what ties by rounding in one backend need not tie in the other: no ties there.
        given = case(dtype, shared)
        if updates > 1:
            with torch.no_grad():
                given[0][1].add_(torch.rand_like(given[0][1]))
        for ours, theirs in zip(run("numba", *given, updates), run("torch", *given, updates), strict=True):
            assert relative_error(ours, theirs.detach()) <= bound


@pytest.mark.parametrize("graphs", [1, 5])
def test_several_parts_of_one_graph_and_of_a_batch(graphs):
    given = case(torch.float64, False, graphs, 1300 // graphs)
    for ours, theirs in zip(run("numba", *given, 1), run("torch", *given, 1), strict=True):
        assert relative_error(ours, theirs.detach()) <= 1e-10


def test_results_do_not_depend_on_the_number_of_threads():
    given, before, results = case(torch.float32, True, 1, 900), numba.get_num_threads(), []
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            results.append(run("numba", *given, 3))
    finally:
        numba.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def test_numbers_that_are_not_finite_come_through():
    edge_index = torch.tensor([[0, 1, 2], [0, 0, 1]])
    state, nothing = torch.tensor([[torch.nan], [1.0], [torch.inf]]), torch.zeros(1, 1)
    out = min_plus_loop(
        state, torch.ones(1, 1), ops.sort_edges(edge_index, 3), torch.full((3, 1), 5.0), torch.full((3, 1), 7.0),
        nothing, nothing, nothing, updates=1,
    )  # fmt: skip
    assert bool(out[0].isnan())
    assert out[1:].flatten().tolist() == [5.0, 5.0]


def test_the_operation_is_well_formed():
    tensors, cell, cap, edge_index = case(torch.float64, True, 1, 5, 8)
    state, cost, before, injection = tensors
    maps = (cell.mix_in.weight, cell.mix_out.weight, cap.expand(-1, 8).contiguous())
    arguments = (state, cost, before, injection, *maps, *ops.sort_edges(edge_index, 5), 8, 2, True)
    torch.library.opcheck(torch.ops.ghr.min_plus_loop.default, arguments)
