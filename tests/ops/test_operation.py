"""Operations give the same through the dispatcher and past it, and are seen by whatever listens."""

import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from ghr.ops.operation import operation


@operation("ghr_test::cube")
def cube(x: torch.Tensor, factor: float) -> torch.Tensor:
    """Computed by numpy, so nothing of it is recorded by itself."""
    return torch.from_numpy(factor * x.detach().numpy() ** 3)


@cube.register_fake
def _(x, factor):
    return torch.empty_like(x)


@operation("ghr_test::cube_backward")
def cube_backward(grad: torch.Tensor, x: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.from_numpy(3 * factor * grad.detach().numpy() * x.detach().numpy() ** 2)


@cube_backward.register_fake
def _(grad, x, factor):
    return torch.empty_like(x)


def remember(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])
    ctx.factor = inputs[1]


cube.register_autograd(
    lambda ctx, grad: (cube_backward(grad, *ctx.saved_tensors, ctx.factor), None), setup_context=remember
)


class Listener(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.heard = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.heard.append(str(func))
        return func(*args, **(kwargs or {}))


@pytest.fixture
def x():
    return torch.tensor([1.0, -2.0], dtype=torch.double, requires_grad=True)


def test_values_and_gradients_are_the_same_both_ways(x):
    with Listener() as listener:
        through = cube(x, 2.0)
        (through_grad,) = torch.autograd.grad(through.sum(), x)
    past = cube(x, 2.0)
    (past_grad,) = torch.autograd.grad(past.sum(), x)
    assert torch.equal(through, past)
    assert torch.equal(through_grad, past_grad)
    assert past_grad.tolist() == [6.0, 24.0]
    assert {"ghr_test.cube.default", "ghr_test.cube_backward.default"} <= set(listener.heard)
    assert torch.autograd.gradcheck(lambda given: cube(given, 2.0), x)


def test_a_second_derivative_is_an_error_and_not_zero(x):
    (grad,) = torch.autograd.grad(cube(x, 2.0).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="no autograd formula"):
        grad.sum().backward()


def test_what_has_no_gradient_says_so_where_one_is_asked_for(x):
    out = cube_backward(torch.ones_like(x), x, 2.0)
    with pytest.raises(RuntimeError, match="no autograd formula"):
        out.sum().backward()


def test_a_tracer_and_a_compiler_record_the_operation_and_not_its_result(x):
    other = torch.full_like(x, 3.0)
    with torch.no_grad(), pytest.warns():
        traced = torch.jit.trace(lambda given: cube(given, 2.0), x.detach())
    assert torch.equal(traced(other), cube(other, 2.0))
    compiled = torch.compile(lambda given: cube(given, 2.0).sum(), fullgraph=True, backend="aot_eager")
    assert compiled(other) == cube(other, 2.0).sum()
    recorded = torch.fx.experimental.proxy_tensor.make_fx(lambda given: cube(given, 2.0))(x.detach())
    assert torch.equal(recorded(other), cube(other, 2.0))


def test_arguments_that_are_left_out_have_their_defaults(x):
    @operation("ghr_test::scaled")
    def scaled(given: torch.Tensor, factor: float = 3.0) -> torch.Tensor:
        return factor * given.detach()

    def note(ctx, inputs, output):
        ctx.factor = inputs[1]

    scaled.register_autograd(lambda ctx, grad: (ctx.factor * grad, None), setup_context=note)
    (grad,) = torch.autograd.grad(scaled(x).sum(), x)
    assert grad.tolist() == [3.0, 3.0]


@operation("ghr_test::double_", changes=("x",))
def double_(x: torch.Tensor, times: int) -> None:
    """Computed by numpy, so nothing of it is recorded by itself."""
    x.numpy()[:] *= 2**times


@double_.register_fake
def _(x, times):
    return None


@torch.no_grad()
def test_the_argument_changes_both_ways():
    past, through = torch.ones(3), torch.ones(3)
    double_(past, 2)
    with Listener() as listener:
        double_(through, 2)
    assert listener.heard == ["ghr_test.double_.default"]
    assert past.tolist() == through.tolist() == [4, 4, 4]


@torch.no_grad()
def test_a_change_is_seen_by_a_compiler_and_by_tensors_without_numbers():
    def work(x):
        y = x + 1
        double_(y, 1)
        return y

    compiled = torch.compile(work, fullgraph=True, backend="aot_eager")
    assert compiled(torch.ones(2)).tolist() == work(torch.ones(2)).tolist() == [4, 4]
    with FakeTensorMode():
        assert work(torch.ones(2)).shape == (2,)


def test_one_that_changes_its_argument_is_well_formed():
    torch.library.opcheck(torch.ops.ghr_test.double_.default, (torch.ones(3), 1))
