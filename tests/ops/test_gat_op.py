import numba
import pytest
import torch
from torch import nn

from cases import AWKWARD, awkward, randomise, relative_error
from ghr import ops
from ghr.nn import GAT
from ghr.ops.gat import gat_loop
from ghr.testing import random_graph

BOUND = {torch.float32: 1e-4, torch.float64: 1e-10}


def case(channels, dtype, edge_index, nodes, *, features=True):
    torch.manual_seed(0)
    conv = randomise(GAT(channels, 3 if features else None)).to(dtype)
    norm = randomise(nn.RMSNorm(channels, eps=1e-6), seed=1).to(dtype)
    state, injection = (torch.randn(nodes, channels, dtype=dtype, requires_grad=True) for _ in range(2))
    attr = torch.randn(edge_index.size(1), 3, dtype=dtype, requires_grad=True) if features else None
    return conv, norm, state, injection, edge_index, attr


def run(backend, conv, norm, state, injection, edge_index, attr, updates):
    """The state after some updates and all gradients, on one backend."""
    with ops.using(backend):
        edges = conv.prepare(edge_index, attr, state.size(0))
        assert (edges.neighbours is not None) == (backend == "numba")
        out = conv.iterate(norm, state, injection, edges, updates)[0]
    weight = torch.linspace(-1, 2, out.numel(), dtype=out.dtype).view_as(out)
    leaves = [state, injection, *norm.parameters(), *conv.parameters(), *([] if attr is None else [attr])]
    return [out, *torch.autograd.grad((out * weight).sum(), leaves)]


def assert_alike(given, updates, bound):
    for ours, theirs in zip(run("numba", *given, updates), run("torch", *given, updates), strict=True):
        assert relative_error(ours, theirs.detach()) <= bound


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("channels", [1, 8, 12, 32])
def test_kernels_agree_with_pytorch(channels, dtype):
    assert_alike(case(channels, dtype, random_graph(45, 60).edge_index, 45), 3, BOUND[dtype])


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_graphs(name):
    x, edge_index, _ = awkward(name, 1, None)
    assert_alike(case(6, torch.float64, edge_index, x.size(0), features=False), 2, 1e-10)


@pytest.mark.parametrize("graphs", [1, 5])
def test_several_parts_of_one_graph_and_of_a_batch(graphs):
    size = 1300 // graphs
    edge_index = torch.cat([random_graph(size, 3 * size, seed=k).edge_index + k * size for k in range(graphs)], dim=1)
    given = case(6, torch.float64, edge_index, 1300)
    assert_alike(given, 4, 1e-10)
    with torch.no_grad(), ops.using("numba"):  # inference keeps no states between
        conv, norm, state, injection, edge_index, attr = given
        out = conv.iterate(norm, state, injection, conv.prepare(edge_index, attr, 1300), 4)[0]
    assert torch.equal(out, run("numba", *given, 4)[0])


def test_results_do_not_depend_on_the_number_of_threads():
    given = case(8, torch.float32, random_graph(900, 2500).edge_index, 900)
    before, results = numba.get_num_threads(), []
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            results.append(run("numba", *given, 2))
    finally:
        numba.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def tensors(nodes, edges, channels):
    torch.manual_seed(0)
    shapes = (
        (nodes, channels), (nodes, channels), channels, (edges, channels), (2, channels, channels), (2, channels),
        channels, channels,
    )  # fmt: skip
    return [torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in shapes]


def test_gradients_by_finite_differences():
    edge_index = torch.cat([random_graph(6, 8).edge_index, torch.arange(6).expand(2, -1)], dim=1)
    neighbours = ops.sort_edges(edge_index, 6)

    def loop(state, injection, norm, edges, maps, biases, attention, bias):
        return gat_loop(
            state, injection, (norm, 1e-6), edges, neighbours, maps, biases, attention, bias, updates=2
        )  # fmt: skip

    assert torch.autograd.gradcheck(loop, tensors(6, edge_index.size(1), 4))


def test_the_operation_is_well_formed():
    edge_index = torch.arange(5).expand(2, -1)
    arguments = (*tensors(5, 5, 8), *ops.sort_edges(edge_index, 5), 1e-6, 8, 2, True)
    torch.library.opcheck(torch.ops.ghr.gat_loop.default, arguments)
