import copy

import numba
import pytest
import torch
from torch import nn
from torch_geometric.data import Batch

from cases import AWKWARD, awkward, hierarchy, randomise, relative_error
from ghr import GHR
from ghr.nn import GatedGCN
from ghr.ops import using
from ghr.ops.gated_gcn import _loop
from ghr.ops.neighbours import sort_edges
from ghr.testing import random_graph

ERROR = {torch.float32: 1e-4, torch.float64: 1e-10}
NAMES = ["state", "injection", "norm", "edges", "initial", "maps", "bias", "edge_map", "edge_bias", "out", "edge"]


def graph(name: str) -> tuple[int, torch.Tensor]:
    if name == "large":  # more nodes than one chunk has
        data = random_graph(200, 500, seed=2)
        return 200, data.edge_index[:, torch.randperm(data.num_edges, generator=torch.Generator().manual_seed(0))]
    x, edge_index, _ = awkward(name, 1, None)
    return x.size(0), edge_index


def train(backend, conv, norm, inputs, edge_index, counts):
    """Run `iterate` with each of the counts after the other; return all outputs and all gradients."""
    conv, norm = copy.deepcopy(conv), copy.deepcopy(norm)
    inputs = [None if given is None else given.clone().requires_grad_() for given in inputs]
    x, injection, attr = inputs
    with using(backend):
        edges = conv.prepare(edge_index, attr, x.size(0))
        assert (edges.neighbours is None) == (backend == "torch")
        state = x
        for count in counts:
            state, edges = conv.iterate(norm, state, injection, edges, count)
    order = edges.edge_index[0] * x.size(0) + edges.edge_index[1]
    rows = edges.attr[order.argsort(stable=True)]
    weight = torch.randn(state.shape, generator=torch.Generator().manual_seed(1), dtype=torch.double).to(state)
    edge_weight = torch.randn(rows.shape, generator=torch.Generator().manual_seed(2), dtype=torch.double).to(state)
    ((state * weight).sum() + (rows * edge_weight).sum()).backward()
    leaves = {"x": x, "injection": injection, **({} if attr is None else {"attr": attr})}
    leaves |= dict(conv.named_parameters()) | {"level norm": norm.weight}
    return {"state": state, "edges": rows, **{f"gradient of {name}": leaf.grad for name, leaf in leaves.items()}}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("features", ["none", "alike", "own"])
@pytest.mark.parametrize("name", [*AWKWARD, "large"])
def test_equals_torch(name, features, dtype):
    width = 11 if name == "large" else 6
    num_nodes, edge_index = graph(name)
    conv = randomise(GatedGCN(width, None if features == "none" else width)).to(dtype)
    norm = randomise(nn.RMSNorm(width, eps=1e-6), seed=1).to(dtype)
    generator = torch.Generator().manual_seed(3)
    rows = {"none": None, "alike": 1, "own": edge_index.size(1)}[features]
    inputs = [torch.randn(num_nodes, width, generator=generator, dtype=torch.double).to(dtype) for _ in range(2)]
    inputs.append(None if rows is None else torch.randn(rows, width, generator=generator, dtype=torch.double).to(dtype))
    for counts in ([1], [3], [1, 2, 1]):
        expected = train("torch", conv, norm, inputs, edge_index, counts)
        actual = train("numba", conv, norm, inputs, edge_index, counts)
        for key, value in expected.items():
            wanted = torch.zeros_like(actual[key]) if value is None else value  # PyTorch skips what nothing reaches
            assert relative_error(actual[key], wanted.detach().double()) <= ERROR[dtype], (key, counts)


def several_parts(alone: bool) -> tuple[int, torch.Tensor]:
    """Return graphs whose parts run by themselves, or one whose parts wait for each other; with a hub."""
    graphs = [random_graph(140 + 7 * seed, 400, seed=seed) for seed in range(12)]
    graphs = graphs if alone else [random_graph(1200, 3000)]
    edge_index = Batch.from_data_list(graphs).edge_index
    to_one = torch.stack([torch.arange(1, 140), torch.zeros(139, dtype=torch.long)])
    return sum(each.num_nodes for each in graphs), torch.cat([to_one, edge_index], dim=1)


@pytest.mark.parametrize("features", ["none", "own"])
@pytest.mark.parametrize("alone", [False, True])
def test_equals_torch_in_several_parts(alone, features):
    num_nodes, edge_index = several_parts(alone)
    neighbours = sort_edges(edge_index, num_nodes)
    assert bool(neighbours.alone) == alone
    assert neighbours.parts.numel() > 3
    conv = randomise(GatedGCN(5, None if features == "none" else 5))
    norm = randomise(nn.RMSNorm(5, eps=1e-6), seed=1)
    generator = torch.Generator().manual_seed(3)
    inputs = [torch.randn(num_nodes, 5, generator=generator, dtype=torch.double) for _ in range(2)]
    rows = torch.randn(edge_index.size(1), 5, generator=generator, dtype=torch.double)
    inputs.append(None if features == "none" else rows)
    expected, actual = (train(backend, conv, norm, inputs, edge_index, [3, 1]) for backend in ("torch", "numba"))
    for key, value in expected.items():
        assert relative_error(actual[key], value.detach()) <= 1e-10, key


def test_gradient_of_the_state_alone():
    conv, norm = randomise(GatedGCN(6)), nn.RMSNorm(6, eps=1e-6).double()
    x, edge_index, _ = awkward("repeats", 6, None)
    grads = []
    for backend in ("torch", "numba"):
        given = x.clone().requires_grad_()
        with using(backend):
            edges = conv.prepare(edge_index, None, 3)
            conv.iterate(norm, given, x, edges, 2)[0].square().sum().backward()
        grads.append(given.grad)
    assert relative_error(grads[1], grads[0]) <= 1e-10


def test_gradient_of_the_edges_alone():
    conv, norm = randomise(GatedGCN(6)), nn.RMSNorm(6, eps=1e-6).double()
    x, edge_index, _ = awkward("only a self loop", 6, None)
    grads = []
    for backend in ("torch", "numba"):
        given = x.clone().requires_grad_()
        with using(backend):
            edges = conv.prepare(edge_index, None, 2)
            conv.iterate(norm, given, x, edges, 2)[1].attr.square().sum().backward()
        grads.append(given.grad)
    assert relative_error(grads[1], grads[0]) <= 1e-10


def test_rows_that_are_not_contiguous():
    conv, norm = randomise(GatedGCN(6, 6)), nn.RMSNorm(6, eps=1e-6).double()
    _, edge_index, attr = awkward("directed", 6, 6)
    wide = torch.randn(6, 10, dtype=torch.double)
    state, injection = wide.T[:5], wide.T[5:]
    out = []
    for backend in ("torch", "numba"):
        with using(backend), torch.no_grad():
            edges = conv.prepare(edge_index, attr.T.contiguous().T, 5)
            out.append(conv.iterate(norm, state, injection, edges, 2)[0])
    assert relative_error(out[1], out[0]) <= 1e-10


def test_an_injection_for_all_nodes():
    conv, norm = randomise(GatedGCN(6)), nn.RMSNorm(6, eps=1e-6).double()
    x, edge_index, _ = awkward("directed", 6, None)
    row = torch.randn(6, dtype=torch.double, requires_grad=True)
    grads = []
    for backend in ("torch", "numba"):
        with using(backend):
            state, _ = conv.iterate(norm, x, row, conv.prepare(edge_index, None, 5), 2)
        grads.append(torch.autograd.grad(state.square().sum(), row)[0])
    assert relative_error(grads[1], grads[0]) <= 1e-10


@pytest.mark.parametrize("rows", [1, 5])
def test_edges_that_iterate_returns_go_on_in_propagate(rows):
    conv, norm = randomise(GatedGCN(6, 6)), nn.RMSNorm(6, eps=1e-6).double()
    x, edge_index, attr = awkward("directed", 6, 6)
    out = []
    for backend in ("torch", "numba"):
        with using(backend), torch.no_grad():
            state, edges = conv.iterate(norm, x, x, conv.prepare(edge_index, attr[:rows], 5), 2)
            out.append(conv.propagate(state, edges)[0])
    assert relative_error(out[1], out[0]) <= 1e-10


def test_without_gradients_nothing_changes_and_nothing_is_kept():
    conv, norm = randomise(GatedGCN(6)), nn.RMSNorm(6, eps=1e-6).double()
    x, edge_index, _ = awkward("triangle and tail", 6, None)
    with using("numba"):
        edges = conv.prepare(edge_index, None, 4)
        for updates in (1, 2, 3, 4):
            expected, after = conv.iterate(norm, x, x, edges, updates)
            with torch.no_grad():
                state, edges_after = conv.iterate(norm, x, x, edges, updates)
            assert torch.equal(state, expected)
            assert torch.equal(edges_after.attr, after.attr)
    kept = _loop(*operands("directed", 1), 2, False)[2:]
    assert all(each.numel() == 0 for each in kept)


# The operation itself


def operands(name: str, rows: int, width: int = 3, requires_grad: bool = False):
    num_nodes, edge_index = graph(name)
    generator = torch.Generator().manual_seed(0)
    shapes = [(num_nodes, width)] * 2 + [(width,)] + [(rows, width)] * 2
    shapes += [(4 * width, width), (4 * width,), (width, width), (width,), (width,), (width,)]
    tensors = [torch.randn(*shape, generator=generator, dtype=torch.double) for shape in shapes]
    return [
        *[each.requires_grad_(requires_grad) for each in tensors],
        *sort_edges(edge_index, num_nodes)[:6],
        *[1e-6] * 3,
    ]


@pytest.mark.parametrize("updates", [1, 3])
@pytest.mark.parametrize(("name", "rows"), [("directed", 1), ("directed", 5), ("repeats", 6), ("only a self loop", 1)])
def test_gradients_are_those_of_finite_differences(name, rows, updates):
    given = operands(name, rows, requires_grad=True)
    tensors, rest = given[: len(NAMES)], given[len(NAMES) :]
    assert torch.autograd.gradcheck(lambda *leaves: _loop(*leaves, *rest, updates, True)[:2], tensors)


@pytest.mark.parametrize("frozen", range(len(NAMES)))
def test_what_needs_no_gradient_changes_none_of_the_others(frozen):
    grads = []
    for freeze in (False, True):
        given = operands("directed", 5, requires_grad=True)
        if freeze:
            given[frozen].requires_grad_(False)
        state, edges = _loop(*given, 2, True)[:2]
        (state.square().sum() + edges.square().sum()).backward()
        grads.append([each.grad for each in given[: len(NAMES)]])
    assert grads[1].pop(frozen) is None
    grads[0].pop(frozen)
    assert all(torch.equal(*pair) for pair in zip(*grads, strict=True))


@pytest.mark.parametrize(("name", "rows"), [("directed", 1), ("repeats", 6), ("no edges", 1)])
def test_operation_is_registered_as_pytorch_asks(name, rows):
    given = operands(name, rows, requires_grad=True)
    torch.library.opcheck(torch.ops.ghr.gated_gcn_loop.default, (*given, 2, True))


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_number_of_threads_does_not_matter(dtype):
    results = []
    before = numba.get_num_threads()
    for threads in (1, 2):
        numba.set_num_threads(threads)
        try:
            given = operands("large", 1, width=16, requires_grad=True)
            leaves = [each.detach().to(dtype).requires_grad_() for each in given[: len(NAMES)]]
            state, edges = _loop(*leaves, *given[len(NAMES) :], 3, True)[:2]
            (state.square().sum() + edges.square().sum()).backward()
            results.append([state, edges, *[leaf.grad for leaf in leaves]])
        finally:
            numba.set_num_threads(before)
    assert all(torch.equal(*pair) for pair in zip(*results, strict=True))


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
@pytest.mark.parametrize("alone", [False, True])
def test_number_of_threads_does_not_matter_in_several_parts(alone):
    num_nodes, edge_index = several_parts(alone)
    conv, norm = randomise(GatedGCN(16, 16)).float(), nn.RMSNorm(16, eps=1e-6)
    generator = torch.Generator().manual_seed(0)
    inputs = [torch.randn(rows, 16, generator=generator) for rows in (num_nodes, num_nodes, edge_index.size(1))]
    results = []
    before = numba.get_num_threads()
    for threads in (1, 2):
        numba.set_num_threads(threads)
        try:
            results.append(train("numba", conv, norm, inputs, edge_index, [2]))
        finally:
            numba.set_num_threads(before)
    assert all(torch.equal(results[0][key], results[1][key]) for key in results[0])


@pytest.mark.parametrize("which", ["state", "edges"])
def test_what_is_not_a_number_comes_through(which):
    given = operands("triangle and tail", sort_edges(graph("triangle and tail")[1], 4).source.numel(), width=9)
    leaves = [each.float() for each in given[: len(NAMES)]]
    leaves[NAMES.index(which)][0, 0] = torch.nan
    state, edges = _loop(*leaves, *given[len(NAMES) :], 1, False)[:2]
    assert state.isnan().any()
    assert edges.isnan().any()
    assert not state.isnan().all()


def test_open_and_shut_gates():
    given = operands("triangle and tail", 1)
    for scale in (1e2, -1e2, 1e5):
        leaves = [each.float().detach() for each in given[: len(NAMES)]]
        leaves[8] = torch.full_like(leaves[8], scale)
        leaves = [leaf.requires_grad_() for leaf in leaves]
        state, edges = _loop(*leaves, *given[len(NAMES) :], 1, True)[:2]
        (state.sum() + edges.sum()).backward()
        assert all(torch.isfinite(each).all() for each in (state, edges, *[leaf.grad for leaf in leaves]))


# In the model


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("edge_dim", [None, 3])
def test_model_equals_torch(edge_dim, dtype):
    model = randomise(GHR(2, 8, 2, conv="gated_gcn", edge_dim=edge_dim, pool="sum", steps=2, t_high=2, t_low=3))
    model, data = model.to(dtype), hierarchy(16, 24)
    for key, value in data.to_dict().items():
        if torch.is_tensor(value) and value.is_floating_point():
            data[key] = value.to(dtype)
    results = []
    for backend in ("torch", "numba"):
        model.zero_grad()
        with using(backend):
            predictions = model.rollout(data)
        sum(each.square().sum() for each in predictions).backward()
        results.append([*predictions, *[parameter.grad for parameter in model.parameters()]])
    for expected, actual in zip(*results, strict=True):
        assert relative_error(actual, expected.detach().double()) <= ERROR[dtype]


def test_compiled_model_takes_edges_that_were_sorted_outside():
    torch.manual_seed(0)
    model = GHR(2, 8, 2, conv="gated_gcn", edge_dim=3, t_high=2, t_low=2)
    data = hierarchy(16, 24)
    model.double()
    encoded = model.encode(data)
    state = model.initial_state(encoded)
    torch.compiler.reset()
    compiled = torch.compile(model.step, fullgraph=True, backend="aot_eager")
    grads = []
    for step in (model.step, compiled):
        model.zero_grad()
        step(model.encode(data), state)[0].square().sum().backward(retain_graph=True)
        grads.append([parameter.grad for parameter in model.parameters()])
    torch.compiler.reset()
    assert encoded.edges[0].neighbours is not None
    for expected, actual in zip(*grads, strict=True):
        assert relative_error(actual, expected) <= 1e-10
