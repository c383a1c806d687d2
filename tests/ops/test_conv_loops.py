"""Several updates of GCN, GAT and A-DGN in one operation: the same by kernels and by PyTorch."""

import numba
import pytest
import torch
from torch import nn

from cases import AWKWARD, awkward, randomise, relative_error
from ghr import ops
from ghr.nn import ADGN, GAT, GCN
from ghr.testing import random_graph

BOUND = {torch.float32: 1e-4, torch.float64: 1e-10}
EDGE_DIM = {GCN: 1, ADGN: 1, GAT: 3}


def case(kind, channels, dtype, edge_index, nodes, *, features=True):
    torch.manual_seed(0)
    width = EDGE_DIM[kind]
    conv = randomise(kind(channels, width if features else None)).to(dtype)
    norm = randomise(nn.RMSNorm(channels, eps=1e-6), seed=1).to(dtype)
    state, injection = (torch.randn(nodes, channels, dtype=dtype, requires_grad=True) for _ in range(2))
    # Weights of edges are positive; features of GAT may be any.
    draw = torch.rand if width == 1 else torch.randn
    attr = draw(edge_index.size(1), width, dtype=dtype, requires_grad=True) if features else None
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
@pytest.mark.parametrize("kind", EDGE_DIM)
def test_kernels_agree_with_pytorch(kind, channels, dtype):
    assert_alike(case(kind, channels, dtype, random_graph(45, 60).edge_index, 45), 3, BOUND[dtype])


@pytest.mark.parametrize("kind", EDGE_DIM)
@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_graphs(name, kind):
    x, edge_index, _ = awkward(name, 1, None)
    assert_alike(case(kind, 6, torch.float64, edge_index, x.size(0), features=False), 2, 1e-10)


@pytest.mark.parametrize("kind", EDGE_DIM)
@pytest.mark.parametrize("graphs", [1, 5])
def test_several_parts_of_one_graph_and_of_a_batch(graphs, kind):
    size = 1300 // graphs
    edge_index = torch.cat([random_graph(size, 3 * size, seed=k).edge_index + k * size for k in range(graphs)], dim=1)
    given = case(kind, 6, torch.float64, edge_index, 1300)
    assert_alike(given, 4, 1e-10)
    with torch.no_grad(), ops.using("numba"):  # inference keeps no states between
        conv, norm, state, injection, edge_index, attr = given
        out = conv.iterate(norm, state, injection, conv.prepare(edge_index, attr, 1300), 4)[0]
    assert torch.equal(out, run("numba", *given, 4)[0])


@pytest.mark.parametrize("kind", EDGE_DIM)
def test_results_do_not_depend_on_the_number_of_threads(kind):
    given = case(kind, 8, torch.float32, random_graph(900, 2500).edge_index, 900)
    before, results = numba.get_num_threads(), []
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            results.append(run("numba", *given, 2))
    finally:
        numba.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))
