import numba
import pytest
import torch

from cases import hierarchy, relative_error
from ghr import GHR, ops
from ghr.ops.select import select
from ghr.ops.select_loop import select_loop
from ghr.testing import random_graph

BOUND = {torch.float32: 1e-4, torch.float64: 1e-10}


def case(dtype, shared, edge_index, nodes, sources, *, channels=5, hidden=12):
    """Values, base and steps, the two maps and a gate, all with gradients."""
    torch.manual_seed(0)
    rows = 1 if shared else edge_index.size(1)
    draw = {"dtype": dtype}
    tensors = (
        torch.randn(sources, channels, **draw),
        torch.randn(rows, hidden, **draw),
        torch.rand(rows, channels, **draw),
        0.3 * torch.randn(hidden, channels, **draw),
        0.3 * torch.randn(channels, hidden, **draw),
        torch.rand(nodes, channels, **draw),
    )
    return [tensor.requires_grad_() for tensor in tensors]


def by_torch(tensors, edge_index, updates):
    values, base, step, difference, choice, gate = tensors
    source, target = edge_index
    for _ in range(updates):
        near = values.index_select(0, source)
        hidden = (base + (near - values.index_select(0, target)) @ difference.T).relu()
        values = gate * select(near + step, hidden @ choice.T, target, values[: gate.size(0)])
    return values


def by_kernels(tensors, edge_index, updates):
    values, base, step, difference, choice, gate = tensors
    nodes, sources = gate.size(0), values.size(0)
    neighbours = ops.sort_edges(edge_index, nodes, None if nodes == sources else sources)
    if base.size(0) > 1:
        base, step = base[neighbours.order], step[neighbours.order]
    return select_loop(values, base, step, neighbours, difference, choice, gate, updates=updates)


def with_gradients(run, tensors, *args):
    out = run(tensors, *args)
    weight = torch.linspace(-1, 2, out.numel(), dtype=out.dtype).view_as(out)
    return [out, *torch.autograd.grad((out * weight).sum(), tensors)]


GRAPHS = {
    "small": (45, 45, random_graph(45, 60, seed=1).edge_index),  # nodes without edges among them
    "one large graph": (1300, 1300, random_graph(1300, 3000, seed=2).edge_index),
    "others to choose from": (
        45, 60, torch.cat([random_graph(45, 90).edge_index, torch.stack([torch.arange(45, 60), torch.arange(15)])], 1)
    ),
    "a hub": (80, 80, torch.stack([torch.arange(1, 80), torch.zeros(79, dtype=torch.long)])),
    "no edges": (3, 3, torch.empty(2, 0, dtype=torch.long)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("name", GRAPHS)
def test_kernels_agree_with_pytorch(name, shared, dtype):
    nodes, sources, edge_index = GRAPHS[name]
    tensors = case(dtype, shared, edge_index, nodes, sources)
    updates = 3 if nodes == sources else 1
    ours, theirs = (with_gradients(run, tensors, edge_index, updates) for run in (by_kernels, by_torch))
    for actual, expected in zip(ours, theirs, strict=True):
        assert relative_error(actual, expected.detach()) <= BOUND[dtype]
    with torch.no_grad():  # inference keeps no values between
        assert torch.equal(by_kernels(tensors, edge_index, updates), ours[0])


def test_many_updates_without_gradients():
    nodes, sources, edge_index = GRAPHS["small"]
    tensors = case(torch.float64, True, edge_index, nodes, sources)
    with torch.no_grad():
        assert relative_error(by_kernels(tensors, edge_index, 7), by_torch(tensors, edge_index, 7)) <= 1e-10


def test_gradients_by_finite_differences():
    edge_index = random_graph(6, 8).edge_index
    tensors = case(torch.float64, False, edge_index, 6, 6, channels=2, hidden=3)
    assert torch.autograd.gradcheck(lambda *given: by_kernels(given, edge_index, 2), tensors)


def test_results_do_not_depend_on_the_number_of_threads():
    nodes, sources, edge_index = GRAPHS["one large graph"]
    tensors = case(torch.float32, False, edge_index, nodes, sources)
    before, results = numba.get_num_threads(), []
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            results.append(with_gradients(by_kernels, tensors, edge_index, 2))
    finally:
        numba.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def test_large_logits_do_not_overflow():
    edge_index = torch.tensor([[0, 1], [2, 2]])
    values, gate = torch.tensor([[1.0], [2.0], [0.0]]), torch.ones(3, 1)
    base, step = torch.tensor([[1e4], [1e4 - 1]]), torch.zeros(1, 1)
    for sign in (1.0, -1.0):
        out = select_loop(
            values, base, step, ops.sort_edges(edge_index, 3), torch.zeros(1, 1), torch.full((1, 1), sign), gate,
            updates=1,
        )  # fmt: skip
        other = 1 / (1 + torch.e**sign)
        assert out[2].item() == pytest.approx(1 + other, rel=1e-4)


def test_the_operation_is_well_formed():
    edge_index = random_graph(5, 6).edge_index
    tensors = case(torch.float64, True, edge_index, 5, 5, channels=8, hidden=8)
    values, base, step, difference, choice, gate = tensors
    arguments = (values, base, step, difference, choice, gate, *ops.sort_edges(edge_index, 5), 2, True)
    torch.library.opcheck(torch.ops.ghr.select_loop.default, arguments)


@pytest.mark.parametrize("options", [{"levels": 1}, {"levels": 3, "value_gate": "graph"}, {"levels": 2, "conv": "gcn"}])
def test_whole_models_agree_on_both_backends(options):
    torch.manual_seed(0)
    data = hierarchy(levels=max(options["levels"], 2))
    loops = {"steps": 2, "t_low": 2, "t_high": 2}
    model = GHR(2, 6, 1, edge_dim=3, values="select", **{"conv": None, **options}, **loops).double()
    results = []
    for backend in ("numba", "torch"):
        with ops.using(backend):
            prediction = model(data)
        results.append([prediction, *torch.autograd.grad(prediction.sum(), model.parameters(), allow_unused=True)])
    for ours, theirs in zip(*results, strict=True):
        assert (ours is None) == (theirs is None)
        assert ours is None or relative_error(ours, theirs) <= 1e-10
