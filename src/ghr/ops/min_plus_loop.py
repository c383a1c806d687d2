"""Several updates of a level with min-plus message passing in one operation."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ghr.ops.buffers import buffers
from ghr.ops.kernels import min_plus_loop as kernels
from ghr.ops.kernels.vectors import padded
from ghr.ops.loop import fake_states, make_room, take_out
from ghr.ops.neighbours import Neighbours, as_array, as_arrays
from ghr.ops.operation import operation
from ghr.ops.share import share, spans


def min_plus_loop(
    state: Tensor,
    cost: Tensor,
    neighbours: Neighbours,
    before: Tensor,
    cap: Tensor,
    injection: Tensor,
    mix_in: Tensor,
    mix_out: Tensor,
    *,
    updates: int,
) -> Tensor:
    r"""Update all nodes `updates` times, all but the state staying the same.

    .. math::
        a_i = \min\big( f_i,\; \min_{j \to i} (x_j + c_{ji}) \big), \qquad
        x_i \gets \min\big( S_i,\; \mathrm{ReLU}( a_i + W_2\, \mathrm{ReLU}( W_1 (a_i - \bar a_i) ) - r_i ) \big)

    Gradients are shared as by :func:`~ghr.ops.min_plus`.

    Args:
        state: States :math:`x`.
        cost: What every edge adds, in the order of `neighbours`; one row if all edges add the same.
        neighbours: The edges.
        before: What nodes have before anything arrives, :math:`f`.
        cap: The largest value :math:`S`, which gets no gradient.
        injection: What is taken off, :math:`r`.
        mix_in: The map :math:`W_1`.
        mix_out: The map :math:`W_2`.
        updates: Number of updates.

    Shapes:
        - **state, before, injection, output:** :math:`(N, d)`
        - **cost:** :math:`(E, d)` or :math:`(1, d)`
        - **cap:** :math:`(N, 1)`
    """
    width = state.size(1)
    more = padded(width) - width
    given = (
        F.pad(state, (0, more)),
        F.pad(cost, (0, more)),
        F.pad(before.expand_as(state), (0, more)),
        F.pad(injection.expand_as(state), (0, more)),
        F.pad(mix_in, (0, more, 0, more)),
        F.pad(mix_out, (0, more, 0, more)),
        cap.detach().expand(-1, width + more),
    )
    keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in given)
    out: Tensor = _loop(*[tensor.contiguous() for tensor in given], *neighbours, width, updates, keep)[0]
    return out[:, :width]


@operation("ghr::min_plus_loop")
def _loop(
    state: Tensor, cost: Tensor, before: Tensor, injection: Tensor, mix_in: Tensor, mix_out: Tensor, cap: Tensor,
    start: Tensor, source: Tensor, order: Tensor, out_start: Tensor, out_target: Tensor, out_edge: Tensor,
    parts: Tensor, alone: Tensor, width: int, updates: int, keep: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the last state and, if asked to keep them, the states between."""
    n, d = state.shape
    between = make_room(updates, state, keep=keep)
    last = buffers.empty((n, d), state)
    arrays = (
        *as_arrays(state, between, last, cost, start, source, before, cap, injection), width,
        *as_arrays(mix_in.t().contiguous(), mix_out.t().contiguous(), state.new_zeros(1, d)),
    )  # fmt: skip
    for begin, end in spans(updates, alone):
        share(kernels.forward, parts.numel() - 1, as_array(parts), begin, end, updates, *arrays)
    return last, take_out(between, keep=keep)


@_loop.register_fake
def _(state: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    updates, keep = rest[-2:]
    return fake_states(state, updates, keep=keep)


@operation("ghr::min_plus_loop_backward")
def _loop_backward(
    grad_last: Tensor, between: Tensor, state: Tensor, cost: Tensor, before: Tensor, injection: Tensor,
    mix_in: Tensor, mix_out: Tensor, cap: Tensor, start: Tensor, source: Tensor, out_start: Tensor,
    out_target: Tensor, out_edge: Tensor, parts: Tensor, alone: Tensor, width: int,
) -> list[Tensor]:  # fmt: skip
    """Return the gradients of state, cost, what was before, the injection and both maps."""
    (n, d), count, shared = state.shape, parts.numel() - 1, cost.size(0) == 1
    grad = buffers.empty((n, d), state).copy_(grad_last)
    arrived, shares = buffers.empty((n, d), state), buffers.empty((n, d), state)
    grad_before, grad_injection = torch.zeros_like(state), torch.zeros_like(state)
    grad_cost = state.new_zeros(count if shared else cost.size(0), d)
    grad_in, grad_out = state.new_zeros(count, d, d), state.new_zeros(count, d, d)
    by_itself, updates = bool(alone.item()), between.size(0) + 1
    arrays = (
        *as_arrays(state, between, cost, start, source, out_start, out_target, out_edge, before, cap, injection), width,
        *as_arrays(mix_in.t().contiguous(), mix_out.t().contiguous(), mix_in, mix_out, state.new_zeros(1, d)),
        *as_arrays(arrived, shares, grad, grad_before, grad_injection, grad_cost, grad_in, grad_out),
    )  # fmt: skip
    leaving = as_arrays(state, between, cost, out_start, out_target, out_edge, arrived, shares, grad)
    for begin, end in reversed(spans(updates, alone)):
        share(kernels.backward, count, by_itself, as_array(parts), begin, end, *arrays)
        if not by_itself:
            share(kernels.collect, count, as_array(parts), begin, *leaving)
    return [
        grad,
        grad_cost.sum(0, keepdim=True) if shared else grad_cost,
        grad_before,
        grad_injection,
        grad_in.sum(0).t().contiguous(),
        grad_out.sum(0).t().contiguous(),
    ]


@_loop_backward.register_fake
def _(grad_last: Tensor, between: Tensor, *rest: Any) -> list[Tensor]:
    return [torch.empty_like(each) for each in rest[:6]]


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    *given, start, source, _, out_start, out_target, out_edge, parts, alone, ctx.width, _, _ = inputs
    ctx.save_for_backward(output[1], *given, start, source, out_start, out_target, out_edge, parts, alone)
    ctx.set_materialize_grads(False)  # nobody asks for gradients of the states between


def _differentiate(ctx: Any, grad_last: Tensor | None, grad_between: Tensor | None) -> tuple[Tensor | None, ...]:
    saved = ctx.saved_tensors  # once: checkpointing hands them out a single time
    given = torch.zeros_like(saved[1]) if grad_last is None else grad_last
    return (*_loop_backward(given, *saved, ctx.width), *[None] * 12)


_loop.register_autograd(_differentiate, setup_context=_remember)
