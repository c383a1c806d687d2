import numba
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cases import AWKWARD, awkward
from ghr import ops


def by_loops(x, cost, edges, first, weight):
    """Minima and the gradients of their weighted sum for x, cost and first, channel by channel."""
    out = [list(row) for row in first]
    grads = [[[0.0] * len(row) for row in value] for value in (x, cost, first)]
    for channel in range(len(first[0]) if first else 0):
        for i in range(len(first)):
            arriving = [(e, s) for e, (s, t) in enumerate(edges) if t == i]
            row = {e: 0 if len(cost) == 1 else e for e, _ in arriving}
            messages = {(e, s): x[s][channel] + cost[row[e]][channel] for e, s in arriving}
            smallest = min([first[i][channel], *messages.values()])
            out[i][channel] = smallest
            attained = [key for key, message in messages.items() if message == smallest]
            own = first[i][channel] == smallest
            part = weight[i][channel] / (len(attained) + own)
            for e, s in attained:
                grads[0][s][channel] += part
                grads[1][row[e]][channel] += part
            if own:
                grads[2][i][channel] += part
    return out, *grads


def by_operation(backend, x, cost, edge_index, first, weight):
    leaves = [value.clone().requires_grad_() for value in (x, cost, first)]
    neighbours = None
    costs = leaves[1]
    if backend == "numba":
        neighbours = ops.sort_edges(edge_index, first.size(0), x.size(0))
        costs = costs if costs.size(0) == 1 else costs.index_select(0, neighbours.order)
    out = ops.min_plus(leaves[0], costs, edge_index, leaves[2], neighbours)
    return [out.detach(), *torch.autograd.grad((out * weight).sum(), leaves, allow_unused=True)]


@st.composite
def messages(draw):
    """Between different sets of nodes, with values of which many are equal."""
    sources, targets, width = draw(st.integers(1, 7)), draw(st.integers(1, 6)), draw(st.integers(1, 3))
    pairs = draw(st.lists(st.tuples(st.integers(0, sources - 1), st.integers(0, targets - 1)), max_size=15))

    def rows(count):
        value = st.integers(-3, 3) if draw(st.booleans()) else st.floats(-5, 5, allow_subnormal=False)
        row = st.lists(value, min_size=width, max_size=width)
        return torch.tensor(draw(st.lists(row, min_size=count, max_size=count)), dtype=torch.double).view(count, width)

    edge_index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T.contiguous()
    return rows(sources), rows(1 if draw(st.booleans()) else len(pairs)), edge_index, rows(targets), rows(targets)


@pytest.mark.parametrize("backend", ["torch", "numba"])
@given(case=messages())
def test_minima_and_shared_gradients_are_those_of_the_loops(backend, case):
    x, cost, edge_index, first, weight = case
    expected = by_loops(x.tolist(), cost.tolist(), edge_index.T.tolist(), first.tolist(), weight.tolist())
    for ours, theirs in zip(by_operation(backend, *case), expected, strict=True):
        torch.testing.assert_close(ours, torch.tensor(theirs, dtype=torch.double).view_as(ours), rtol=0, atol=1e-12)


@pytest.mark.parametrize("backend", ["torch", "numba"])
@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_graphs(backend, name):
    x, edge_index, cost = awkward(name, 3, 3)
    first, weight = x + 0.3, torch.linspace(-1, 2, x.numel(), dtype=torch.double).view_as(x)
    expected = by_loops(x.tolist(), cost.tolist(), edge_index.T.tolist(), first.tolist(), weight.tolist())
    for ours, theirs in zip(by_operation(backend, x, cost, edge_index, first, weight), expected, strict=True):
        torch.testing.assert_close(ours, torch.tensor(theirs, dtype=torch.double).view_as(ours))


@pytest.mark.parametrize("shared", [True, False])
def test_kernels_give_in_single_precision_what_pytorch_gives(shared):
    torch.manual_seed(0)
    edge_index = torch.randint(200, (2, 900))
    x, first, weight = torch.rand(200, 5), 1 + torch.rand(200, 5), torch.randn(200, 5)
    cost = torch.rand(1 if shared else 900, 5)
    ours, theirs = (by_operation(backend, x, cost, edge_index, first, weight) for backend in ("numba", "torch"))
    assert torch.equal(ours[0], theirs[0]), "both round alike, so that the same messages tie"
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b)


def test_gradients_by_finite_differences():
    torch.manual_seed(0)
    edge_index = torch.tensor([[0, 1, 2, 2, 3], [1, 1, 0, 2, 2]])
    neighbours = ops.sort_edges(edge_index, 3, 4)
    x, cost, first = (torch.rand(n, 2, dtype=torch.double, requires_grad=True) for n in (4, 5, 3))
    assert torch.autograd.gradcheck(
        lambda x, cost, first: ops.min_plus(x, cost, edge_index, first, neighbours), (x, cost, first)
    )


def test_results_do_not_depend_on_the_number_of_threads():
    torch.manual_seed(0)
    given = (torch.rand(700, 8), torch.rand(1, 8), torch.randint(700, (2, 2000)), torch.rand(700, 8) + 1)
    before, results = numba.get_num_threads(), []
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            results.append(by_operation("numba", *given, torch.ones(700, 8)))
    finally:
        numba.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def test_numbers_that_are_not_finite_come_through():
    edge_index = torch.tensor([[0, 1, 2], [0, 0, 1]])
    x = torch.tensor([[torch.nan], [1.0], [torch.inf]])
    given = (x, torch.ones(1, 1), edge_index, torch.full((3, 1), 5.0))
    ours, theirs = (by_operation(backend, *given, torch.ones(3, 1))[0] for backend in ("numba", "torch"))
    assert torch.equal(ours.isnan(), theirs.isnan())
    assert bool(ours[0].isnan())
    assert ours[1:].flatten().tolist() == [5.0, 5.0]


def test_the_operation_is_well_formed():
    edge_index = torch.tensor([[0, 1, 2], [1, 1, 0]])
    x, first = (torch.rand(3, 2, requires_grad=True) for _ in range(2))
    for rows in (1, 3):
        cost = torch.rand(rows, 2, requires_grad=True)
        arguments = (x, cost, first, *ops.sort_edges(edge_index, 3)[:6])
        torch.library.opcheck(torch.ops.ghr.min_plus.default, arguments)
