"""Several updates of a level with GCN or A-DGN in one operation."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ghr.ops.buffers import buffers
from ghr.ops.kernels import weighted as kernels
from ghr.ops.kernels.vectors import padded
from ghr.ops.loop import fake_states, make_room, run_stages, take_out
from ghr.ops.neighbours import Neighbours, as_arrays
from ghr.ops.operation import operation


def weighted_loop(
    state: Tensor,
    injection: Tensor,
    norm: tuple[Tensor, float],
    weight: Tensor,
    neighbours: Neighbours,
    own: Tensor | None,
    near: Tensor,
    bias: Tensor,
    *,
    rate: float | None,
    updates: int,
) -> Tensor:
    r"""Update all nodes `updates` times, the injection staying the same.

    .. math::
        z = \mathrm{RMSNorm}(x) + \mathrm{injection}, \qquad
        x_i \gets x_i + \phi\Big( A z_i + B \sum_{j \to i} w_{ji} z_j + b \Big)

    Args:
        state: States :math:`x`.
        injection: What is added to the normalised state.
        norm: Weight and epsilon of the norm.
        weight: Weights :math:`w` of the edges, in the order of `neighbours`.
        neighbours: The edges.
        own: The map :math:`A`, as PyTorch keeps it; ``None`` for zero.
        near: The map :math:`B`.
        bias: :math:`b`.
        rate: :math:`\phi` is the hyperbolic tangent times this; ``None`` for a ReLU.
        updates: Number of updates.

    Shapes:
        - **state, injection, output:** :math:`(N, d)`
        - **weight:** :math:`(E)`
    """
    width = state.size(1)
    more = padded(width) - width
    own = near.new_empty(0, padded(width)) if own is None else F.pad(own, (0, more, 0, more))
    given = (
        F.pad(state, (0, more)),
        F.pad(injection.expand_as(state), (0, more)),
        F.pad(norm[0], (0, more)),
        weight,
        own,
        F.pad(near, (0, more, 0, more)),
        F.pad(bias, (0, more)),
    )
    keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in given)
    out: Tensor = _loop(
        *[tensor.contiguous() for tensor in given], *neighbours, norm[1], width, rate or 0.0, updates, keep
    )[0]
    return out[:, :width]


@operation("ghr::weighted_loop")
def _loop(
    state: Tensor, injection: Tensor, norm: Tensor, weight: Tensor, own: Tensor, near: Tensor, bias: Tensor,
    start: Tensor, source: Tensor, order: Tensor, out_start: Tensor, out_target: Tensor, out_edge: Tensor,
    parts: Tensor, alone: Tensor, eps: float, width: int, rate: float, updates: int, keep: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the last state and, if asked to keep them, the states between."""
    n, d = state.shape
    between = make_room(updates, state, keep=keep)
    last, z = buffers.empty((n, d), state), buffers.empty((n, d), state)
    arrays = (
        *as_arrays(state, between, last, norm), eps, width, *as_arrays(injection, z, weight, start, source),
        *as_arrays(own.t().contiguous(), near.t().contiguous(), bias.view(1, d)), rate,
    )  # fmt: skip
    run_stages(kernels.forward, (kernels.ALL, kernels.NORMALISE, kernels.NODES), parts, alone, updates, arrays)
    return last, take_out(between, keep=keep)


@_loop.register_fake
def _(state: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    updates, keep = rest[-2:]
    return fake_states(state, updates, keep=keep)


@operation("ghr::weighted_loop_backward")
def _loop_backward(
    grad_out: Tensor, between: Tensor, state: Tensor, injection: Tensor, norm: Tensor, weight: Tensor,
    own: Tensor, near: Tensor, bias: Tensor, start: Tensor, source: Tensor, out_start: Tensor, out_target: Tensor,
    out_edge: Tensor, parts: Tensor, alone: Tensor, eps: float, width: int, rate: float, needs_weight: bool,
) -> list[Tensor]:  # fmt: skip
    """Return the gradients of all that has one, recomputing every update."""
    (n, d), count, has_own = state.shape, parts.numel() - 1, own.size(0) > 0
    grad, grad_injection = buffers.empty((n, d), state).copy_(grad_out), buffers.empty((n, d), state)
    z, grad_sum = buffers.empty((n, d), state), buffers.empty((n, d), state)
    kept = buffers.empty((n if has_own else 0, d), state)
    grad_weight = torch.zeros_like(weight) if needs_weight else weight.new_empty(0)
    grad_norm, grad_bias = state.new_zeros(count, d), state.new_zeros(count, d)
    grad_own, grad_near = state.new_zeros(count, d if has_own else 0, d), state.new_zeros(count, d, d)
    updates = between.size(0) + 1
    arrays = (
        *as_arrays(state, between, norm), eps, width, *as_arrays(injection, z, weight, start, source),
        *as_arrays(out_start, out_target, out_edge, own.t().contiguous(), near.t().contiguous(), own, near),
        *as_arrays(bias.view(1, d), state.new_zeros(1, d)), rate,
        *as_arrays(grad_sum, kept, grad, grad_injection, grad_weight, grad_norm, grad_own, grad_near, grad_bias),
    )  # fmt: skip
    stages = (kernels.ALL, kernels.NORMALISE, kernels.NODES, kernels.EDGES)
    run_stages(kernels.backward, stages, parts, alone, updates, arrays, back=True)
    back_own = grad_own.sum(0).t().contiguous() if has_own else torch.empty_like(own)
    back_near = grad_near.sum(0).t().contiguous()
    return [grad, grad_injection, grad_norm.sum(0), grad_weight, back_own, back_near, grad_bias.sum(0)]


@_loop_backward.register_fake
def _(grad_out: Tensor, between: Tensor, *rest: Any) -> list[Tensor]:
    state, injection, norm, weight, *others = rest[:7]
    like = [state, injection, norm, weight if rest[-1] else weight.new_empty(0), *others]
    return [torch.empty_like(each) for each in like]


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    *given, start, source, _, out_start, out_target, out_edge, parts, alone, eps, width, rate, _, _ = inputs
    ctx.save_for_backward(output[1], *given, start, source, out_start, out_target, out_edge, parts, alone)
    ctx.options = (eps, width, rate)
    ctx.set_materialize_grads(False)  # nobody asks for gradients of the states between


def _differentiate(ctx: Any, grad_out: Tensor | None, grad_between: Tensor | None) -> tuple[Tensor | None, ...]:
    saved = ctx.saved_tensors  # once: checkpointing hands them out a single time
    needs = ctx.needs_input_grad[3]
    given = torch.zeros_like(saved[1]) if grad_out is None else grad_out
    grads: list[Tensor | None] = _loop_backward(given, *saved, *ctx.options, needs)
    grads[3] = grads[3] if needs else None
    return (*grads, *[None] * 13)


_loop.register_autograd(_differentiate, setup_context=_remember)
