import numba
import pytest
import torch
from torch import nn

from cases import AWKWARD, awkward, randomise, relative_error
from ghr import ops
from ghr.nn import ADGN, GCN
from ghr.ops.weighted import weighted_loop
from ghr.testing import random_graph

BOUND = {torch.float32: 1e-4, torch.float64: 1e-10}


def case(kind, channels, dtype, edge_index, nodes, *, weighted=True):
    torch.manual_seed(0)
    conv = randomise(kind(channels, 1 if weighted else None)).to(dtype)
    norm = randomise(nn.RMSNorm(channels, eps=1e-6), seed=1).to(dtype)
    state, injection = (torch.randn(nodes, channels, dtype=dtype, requires_grad=True) for _ in range(2))
    attr = torch.rand(edge_index.size(1), 1, dtype=dtype, requires_grad=True) if weighted else None
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
@pytest.mark.parametrize("kind", [GCN, ADGN])
def test_kernels_agree_with_pytorch(kind, channels, dtype):
    assert_alike(case(kind, channels, dtype, random_graph(45, 60).edge_index, 45), 3, BOUND[dtype])


@pytest.mark.parametrize("kind", [GCN, ADGN])
@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_graphs(name, kind):
    x, edge_index, _ = awkward(name, 1, None)
    assert_alike(case(kind, 6, torch.float64, edge_index, x.size(0), weighted=False), 2, 1e-10)


@pytest.mark.parametrize("graphs", [1, 5])
def test_several_parts_of_one_graph_and_of_a_batch(graphs):
    size = 1300 // graphs
    edge_index = torch.cat([random_graph(size, 3 * size, seed=k).edge_index + k * size for k in range(graphs)], dim=1)
    given = case(ADGN, 6, torch.float64, edge_index, 1300)
    assert_alike(given, 4, 1e-10)
    with torch.no_grad():  # inference keeps no states between
        conv, norm, state, injection, edge_index, attr = given
        both = []
        for backend in ("numba", "torch"):
            with ops.using(backend):
                both.append(conv.iterate(norm, state, injection, conv.prepare(edge_index, attr, 1300), 4)[0])
    assert relative_error(*both) <= 1e-10


def test_results_do_not_depend_on_the_number_of_threads():
    given = case(GCN, 8, torch.float32, random_graph(900, 2500).edge_index, 900)
    before, results = numba.get_num_threads(), []
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            results.append(run("numba", *given, 2))
    finally:
        numba.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


@pytest.mark.parametrize("rate", [None, 0.3])
def test_gradients_by_finite_differences(rate):
    neighbours = ops.sort_edges(random_graph(6, 8).edge_index, 6)
    draw = {"dtype": torch.double, "requires_grad": True}
    tensors = [
        torch.randn(shape, **draw) for shape in ((6, 4), (6, 4), 4, neighbours.source.numel(), (4, 4), (4, 4), 4)
    ]

    def loop(state, injection, norm, weight, own, near, bias):
        return weighted_loop(
            state, injection, (norm, 1e-6), weight, neighbours, own, near, bias, rate=rate, updates=2
        )  # fmt: skip

    assert torch.autograd.gradcheck(loop, tensors)


def test_the_operation_is_well_formed():
    neighbours = ops.sort_edges(random_graph(5, 6).edge_index, 5)
    draw = {"dtype": torch.double, "requires_grad": True}
    shapes = ((5, 8), (5, 8), 8, neighbours.source.numel(), (8, 8), (8, 8), 8)
    arguments = (*[torch.randn(shape, **draw) for shape in shapes], *neighbours, 1e-6, 8, 0.3, 2, True)
    torch.library.opcheck(torch.ops.ghr.weighted_loop.default, arguments)
