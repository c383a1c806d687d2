import numba
import pytest
import torch
from torch import nn

from cases import hierarchy, relative_error
from ghr import GHR, ops
from ghr.nn import GINE, GatedGINE
from ghr.nn.conv.base import Edges
from ghr.ops.gine import GROUP
from ghr.testing import random_graph

BOUND = {torch.float32: 1e-4, torch.float64: 1e-10}


def case(kind, channels, dtype, shared, *, nodes=45, pairs=90, seed=0):
    """A layer, a norm, a state and what is injected, on a graph with isolated nodes."""
    torch.manual_seed(seed)
    edge_index = random_graph(nodes, pairs, seed=seed).edge_index if pairs else torch.empty(2, 0, dtype=torch.long)
    conv, norm = kind(channels, channels).to(dtype), nn.RMSNorm(channels, eps=1e-6).to(dtype)
    with torch.no_grad():
        for parameter in [*conv.parameters(), *norm.parameters()]:
            parameter.copy_(0.3 * torch.randn_like(parameter))
    state, injection = (torch.randn(nodes, channels, dtype=dtype, requires_grad=True) for _ in range(2))
    rows = 1 if shared else edge_index.size(1)
    edges = torch.randn(rows, channels, dtype=dtype, requires_grad=True)
    return conv, norm, state, injection, edge_index, edges


def run_forward(backend, conv, norm, state, injection, edge_index, edges, updates):
    """The state after some updates, on one backend."""
    with ops.using(backend):
        prepared = conv.prepare(edge_index, edges, state.size(0))
        assert (prepared.neighbours is not None) == (backend == "numba")
        return conv.iterate(norm, state, injection, prepared, updates)[0]


def run(backend, conv, norm, state, injection, edge_index, edges, updates):
    """The state after some updates and all gradients, on one backend."""
    out = run_forward(backend, conv, norm, state, injection, edge_index, edges, updates)
    weight = torch.linspace(-1, 2, out.numel(), dtype=out.dtype).view_as(out)
    leaves = [state, injection, edges, *norm.parameters(), *conv.parameters()]
    return [out, *torch.autograd.grad((out * weight).sum(), leaves, allow_unused=True)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("kind", [GINE, GatedGINE])
@pytest.mark.parametrize("channels", [1, 5, 8, 24, 32])
def test_kernels_agree_with_pytorch(kind, channels, shared, dtype):
    given = case(kind, channels, dtype, shared)
    for ours, theirs in zip(run("numba", *given, 3), run("torch", *given, 3), strict=True):
        assert relative_error(ours, theirs) <= BOUND[dtype]


@pytest.mark.parametrize("kind", [GINE, GatedGINE])
@pytest.mark.parametrize(("nodes", "pairs"), [(1, 0), (3, 0), (2, 3), (33, 40), (64, 300), (200, 700)])
def test_sizes_that_do_not_fill_a_block(kind, nodes, pairs):
    given = case(kind, 6, torch.float64, True, nodes=nodes, pairs=pairs)
    for ours, theirs in zip(run("numba", *given, 2), run("torch", *given, 2), strict=True):
        assert relative_error(ours, theirs) <= 1e-10


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("graphs", [1, 5])
def test_several_parts_of_one_graph_and_of_a_batch(graphs, shared):
    conv, norm, state, injection, _, _ = case(GatedGINE, 6, torch.float64, True, nodes=1300)
    size = 1300 // graphs
    edge_index = torch.cat([random_graph(size, 3 * size, seed=k).edge_index + k * size for k in range(graphs)], dim=1)
    assert ops.sort_edges(edge_index, 1300).alone.item() is (graphs > 1)
    edges = torch.randn(1 if shared else edge_index.size(1), 6, dtype=torch.float64, requires_grad=True)
    given = (conv, norm, state, injection, edge_index, edges)
    updates = GROUP + 3  # more than the gradients of edges are added up over at once
    for ours, theirs in zip(run("numba", *given, updates), run("torch", *given, updates), strict=True):
        assert relative_error(ours, theirs) <= 1e-10
    with torch.no_grad():  # inference keeps no states between
        both = [run_forward(backend, *given, updates) for backend in ("numba", "torch")]
    assert relative_error(*both) <= 1e-10


def test_self_loops_repeats_and_one_way_edges():
    conv, norm, state, injection, _, _ = case(GatedGINE, 6, torch.float64, False, nodes=4)
    edge_index = torch.tensor([[0, 0, 1, 2, 2], [0, 1, 1, 3, 3]])
    edges = torch.randn(5, 6, dtype=torch.float64, requires_grad=True)
    given = (conv, norm, state, injection, edge_index, edges)
    for ours, theirs in zip(run("numba", *given, 3), run("torch", *given, 3), strict=True):
        assert relative_error(ours, theirs) <= 1e-10


def test_memory_laid_out_in_another_way():
    conv, norm, state, injection, edge_index, edges = case(GINE, 6, torch.float64, False)
    turned = (value.detach().T.contiguous().T.requires_grad_() for value in (state, injection, edges))
    state, injection, edges = turned
    assert not state.is_contiguous()
    given = (conv, norm, state, injection, edge_index, edges)
    for ours, theirs in zip(run("numba", *given, 2), run("torch", *given, 2), strict=True):
        assert relative_error(ours, theirs) <= 1e-10


@pytest.mark.parametrize("shared", [True, False])
def test_gradients_by_finite_differences(shared):
    conv, norm, state, injection, edge_index, edges = case(GatedGINE, 4, torch.float64, shared, nodes=6, pairs=8)
    neighbours = ops.sort_edges(edge_index, 6, leaving=shared)  # else the way back has to sort the edges itself
    up, down = conv.maps()

    above = lay_above(6, 4, torch.float64, clusters=3)

    def loop(state, injection, weight, edges, epsilon, up, down, rows):
        return ops.gine_loop(
            state, injection, weight, 1e-6, edges, neighbours, epsilon, (up, None), (down, None), gated=True, updates=2,
            above=above._replace(x=rows),
        )  # fmt: skip

    inputs = (state, injection, norm.weight, edges, conv.epsilon, up.weight, down.weight, above.x)
    assert torch.autograd.gradcheck(loop, inputs)


def on_one_thread_and_on_two(work):
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = work()
        numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
        return one, work()
    finally:
        numba.set_num_threads(before)


def test_results_do_not_depend_on_the_number_of_threads():
    given = case(GatedGINE, 32, torch.float32, False, nodes=700, pairs=2000)
    one, two = on_one_thread_and_on_two(lambda: run("numba", *given, 2))
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


def lay_above(nodes, channels, dtype, clusters=7):
    """Rows of clusters, one of them without members, and the cluster of every node."""
    x = torch.randn(clusters, channels, dtype=dtype, requires_grad=True)
    assignment = torch.randint(clusters - 1, (nodes,))
    return ops.Above(x, assignment, ops.sort_members(assignment, clusters))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("kind", "channels"), [(GINE, 5), (GatedGINE, 32)])
def test_what_is_above_is_looked_up_as_if_it_were_injected(kind, channels, shared, dtype):
    conv, norm, state, injection, edge_index, edges = case(kind, channels, dtype, shared)
    above, results = lay_above(45, channels, dtype), []
    leaves = [state, injection, above.x, edges, *norm.parameters(), *conv.parameters()]
    for backend in ("numba", "torch"):
        with ops.using(backend):
            prepared = conv.prepare(edge_index, edges, 45)
            out = conv.iterate_below(norm, state, injection, above, prepared, 3)[0]
        results.append([out, *torch.autograd.grad(out.square().sum(), leaves)])
    for ours, theirs in zip(*results, strict=True):
        assert relative_error(ours, theirs) <= BOUND[dtype]


def test_what_is_above_need_not_be_sorted_by_cluster():
    conv, norm, state, injection, edge_index, edges = case(GINE, 5, torch.float64, True)
    above, results = lay_above(45, 5, torch.float64), []
    for given in (above, above._replace(members=None)):
        with ops.using("numba"):
            out = conv.iterate_below(norm, state, injection, given, conv.prepare(edge_index, edges, 45), 2)[0]
        results.append([out, *torch.autograd.grad(out.square().sum(), [above.x])])
    for ours, theirs in zip(*results, strict=True):
        assert torch.equal(ours, theirs)


@torch.no_grad()
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("graphs", [1, 5])
def test_a_state_of_ones_own_is_written_over_and_no_other(graphs, shared):
    conv, norm, state, injection, _, _ = case(GatedGINE, 32, torch.float32, True, nodes=1300)
    size = 1300 // graphs
    edge_index = torch.cat([random_graph(size, 3 * size, seed=k).edge_index + k * size for k in range(graphs)], dim=1)
    edges = torch.randn(1 if shared else edge_index.size(1), 32)
    above = lay_above(1300, 32, torch.float32, clusters=200)
    with ops.using("numba"):
        prepared, before = conv.prepare(edge_index, edges, 1300), state.clone()

        def run_over():
            mine = state.clone()
            out = conv.iterate_below(norm, mine, injection, above, prepared, 4, own=True)[0]
            assert out.data_ptr() == mine.data_ptr()
            return out

        kept = conv.iterate_below(norm, state, injection, above, prepared, 4)[0]
        one, two = on_one_thread_and_on_two(run_over)
    assert torch.equal(state, before)
    assert torch.equal(one, kept)
    assert torch.equal(two, kept)


def test_with_gradients_no_state_is_written_over():
    conv, norm, state, injection, edge_index, edges = case(GatedGINE, 5, torch.float64, True)
    before = state.detach().clone()
    with ops.using("numba"):
        prepared = conv.prepare(edge_index, edges, 45)
        out = conv.iterate_below(norm, state, injection, None, prepared, 2, own=True)[0]
    assert out is not state
    assert torch.equal(state, before)


def test_numbers_that_are_not_finite_come_through():
    conv, norm, state, injection, edge_index, edges = case(GatedGINE, 8, torch.float32, True)
    with torch.no_grad():
        state[0, 0] = torch.nan
        state[5, 3] = 3e38
    given = (conv, norm, state, injection, edge_index, edges)
    ours, theirs = (run(backend, *given, 1)[0] for backend in ("numba", "torch"))
    assert torch.equal(ours.isfinite(), theirs.isfinite())


@pytest.mark.parametrize("conv", ["gine", "gated_gine"])
@pytest.mark.parametrize("pool", ["max", "sum", "mean"])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_whole_models_agree_on_both_backends(conv, pool, levels):
    torch.manual_seed(0)
    data = hierarchy(levels=max(levels, 2))
    model = GHR(2, 6, 1, conv=conv, edge_dim=3, pool=pool, levels=levels, steps=2, t_high=2, t_low=2).double()
    results = []
    for backend in ("numba", "torch"):
        with ops.using(backend):
            prediction = model(data)
        results.append([prediction, *torch.autograd.grad(prediction.sum(), model.parameters())])
    for ours, theirs in zip(*results, strict=True):
        assert relative_error(ours, theirs) <= 1e-10


def test_the_operation_is_well_formed():
    conv, norm, state, injection, edge_index, edges = case(GatedGINE, 4, torch.float64, True, nodes=5, pairs=6)
    neighbours = ops.sort_edges(edge_index, 5)
    up, down = conv.maps()
    zeros = torch.zeros(up.out_features, dtype=torch.float64), torch.zeros(4, dtype=torch.float64)
    above, clusters = torch.randn(2, 4, dtype=torch.float64, requires_grad=True), torch.tensor([0, 1, 1, 0, 1])
    arguments = (
        state, injection, norm.weight, edges, conv.epsilon, up.weight, zeros[0], down.weight, zeros[1],
        above, clusters, *ops.sort_members(clusters, 2), *neighbours, 1e-6, 2, True, True,
    )  # fmt: skip
    torch.library.opcheck(torch.ops.ghr.gine_loop.default, arguments)
    over = tuple(value.detach() if isinstance(value, torch.Tensor) else value for value in arguments[:-1])
    torch.library.opcheck(torch.ops.ghr.gine_loop_.default, over)


@pytest.mark.parametrize("shared", [True, False])
def test_propagate_on_sorted_edges_is_the_same_layer(shared):
    conv, _, state, _, edge_index, edges = case(GINE, 5, torch.float64, shared)
    with ops.using("numba"):
        prepared = conv.prepare(edge_index, edges, 45)
    plain = Edges(edge_index, conv.edge(edges))
    assert relative_error(conv.propagate(state, prepared)[0], conv.propagate(state, plain)[0]) <= 1e-12
