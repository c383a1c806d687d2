"""Several updates of values that are chosen from neighbours in one operation."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ghr.ops.buffers import buffers
from ghr.ops.kernels import select as kernels
from ghr.ops.kernels.vectors import padded
from ghr.ops.loop import fake_states, make_room, take_out
from ghr.ops.neighbours import Neighbours, as_array, as_arrays
from ghr.ops.operation import operation
from ghr.ops.share import share, spans


def select_loop(
    values: Tensor,
    base: Tensor,
    step: Tensor,
    neighbours: Neighbours,
    difference: Tensor,
    choice: Tensor,
    gate: Tensor,
    *,
    updates: int,
) -> Tensor:
    r"""Update all nodes `updates` times, everything but the values staying the same.

    .. math::
        v_i \gets g_i \odot \sum_j \alpha_{ij} \odot (v_j + \delta_{ij}), \qquad
        \alpha_{ij} = \mathrm{softmax}_j\; C\, \mathrm{ReLU}\big( b_{ij} + D (v_j - v_i) \big)

    A node at which nothing arrives keeps its value, times its gate. Values may have more rows than there are nodes that
    choose: those behind the nodes are chosen from, but choose nothing. Then there is one update.

    Args:
        values: Values :math:`v`.
        base: What the features of edges say for the choice, in the order of `neighbours`; one row for all alike.
        step: What is added to what comes along an edge, likewise.
        neighbours: The edges.
        difference: The map :math:`D`, as PyTorch keeps it.
        choice: The map :math:`C`.
        gate: What chosen values are multiplied by.
        updates: Number of updates.

    Shapes:
        - **values:** :math:`(N', m)`
        - **base:** :math:`(E, H)` or :math:`(1, H)`
        - **step:** :math:`(E, m)` or :math:`(1, m)`
        - **gate, output:** :math:`(N, m)`
    """
    channels, hidden = values.size(1), base.size(1)
    more, wider = padded(channels) - channels, padded(hidden) - hidden
    given = (
        F.pad(values, (0, more)),
        F.pad(base, (0, wider)),
        F.pad(step, (0, more)),
        F.pad(difference, (0, more, 0, wider)),
        F.pad(choice, (0, wider, 0, more)),
        F.pad(gate, (0, more)),
    )
    keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in given)
    out: Tensor = _loop(*[tensor.contiguous() for tensor in given], *neighbours, updates, keep)[0]
    return out[:, :channels]


@operation("ghr::select_loop")
def _loop(
    values: Tensor, base: Tensor, step: Tensor, difference: Tensor, choice: Tensor, gate: Tensor,
    start: Tensor, source: Tensor, order: Tensor, out_start: Tensor, out_target: Tensor, out_edge: Tensor,
    parts: Tensor, alone: Tensor, updates: int, keep: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the last values and, if asked to keep them, the values between."""
    n, m = gate.shape
    between = make_room(updates, gate, keep=keep)
    last, logits = buffers.empty((n, m), values), buffers.empty((source.numel(), m), values)
    arrays = as_arrays(
        values, between, last, base, step, start, source, _targets(start), difference.t().contiguous(),
        choice.t().contiguous(), gate, values.new_zeros(max(m, base.size(1))), logits,
    )  # fmt: skip
    for begin, end in spans(updates, alone):
        share(kernels.forward, parts.numel() - 1, as_array(parts), begin, end, updates, *arrays)
    return last, take_out(between, keep=keep)


@_loop.register_fake
def _(values: Tensor, base: Tensor, step: Tensor, difference: Tensor, choice: Tensor, gate: Tensor, *rest: Any) -> Any:
    updates, keep = rest[-2:]
    return fake_states(gate, updates, keep=keep)


@operation("ghr::select_loop_backward")
def _loop_backward(
    grad_out: Tensor, between: Tensor, values: Tensor, base: Tensor, step: Tensor, difference: Tensor, choice: Tensor,
    gate: Tensor, start: Tensor, source: Tensor, out_start: Tensor, out_edge: Tensor, parts: Tensor, alone: Tensor,
) -> list[Tensor]:  # fmt: skip
    """Return the gradients of all that has one, recomputing every update."""
    (n, m), wide, count, edges = gate.shape, base.size(1), parts.numel() - 1, source.numel()
    grad = buffers.empty(tuple(values.shape), values)
    grad[:n], grad[n:] = grad_out, 0
    logits, hidden, sent = (buffers.empty((edges, width), values) for width in (m, wide, m))
    grad_base = base.new_zeros(count if base.size(0) == 1 else edges, wide)
    grad_step = step.new_zeros(count if step.size(0) == 1 else edges, m)
    grad_gate = torch.zeros_like(gate)
    grad_difference, grad_choice = values.new_zeros(count, m, wide), values.new_zeros(count, wide, m)
    arrays = as_arrays(
        values, between, base, step, start, source, _targets(start), out_start, out_edge,
        difference.t().contiguous(), choice.t().contiguous(), difference, choice, gate,
        values.new_zeros(max(m, wide)), logits, hidden, sent, grad, grad_gate, grad_base, grad_step,
        grad_difference, grad_choice,
    )  # fmt: skip
    by_itself = bool(alone.item())
    for begin, end in reversed(spans(between.size(0) + 1, alone)):
        share(kernels.backward, count, by_itself, as_array(parts), begin, end, *arrays)
        if not by_itself:
            share(kernels.collect, count, count, *as_arrays(out_start, out_edge, sent, grad))
    return [
        grad,
        grad_base.sum(0, keepdim=True) if base.size(0) == 1 else grad_base,
        grad_step.sum(0, keepdim=True) if step.size(0) == 1 else grad_step,
        grad_difference.sum(0).t().contiguous(),
        grad_choice.sum(0).t().contiguous(),
        grad_gate,
    ]


@_loop_backward.register_fake
def _(grad_out: Tensor, between: Tensor, *rest: Any) -> list[Tensor]:
    return [torch.empty_like(each) for each in rest[:6]]


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    *given, start, source, _, out_start, _, out_edge, parts, alone, _, _ = inputs
    ctx.save_for_backward(output[1], *given, start, source, out_start, out_edge, parts, alone)
    ctx.set_materialize_grads(False)  # nobody asks for gradients of the values between


def _differentiate(ctx: Any, grad_out: Tensor | None, grad_between: Tensor | None) -> tuple[Tensor | None, ...]:
    saved = ctx.saved_tensors  # once: checkpointing hands them out a single time
    grads = _loop_backward(torch.zeros_like(saved[6]) if grad_out is None else grad_out, *saved)
    return (*grads, *[None] * 10)


_loop.register_autograd(_differentiate, setup_context=_remember)


def _targets(start: Tensor) -> Tensor:
    """Return the node at which every edge arrives, in the order of the edges."""
    return torch.repeat_interleave(start.diff())
