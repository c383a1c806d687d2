"""Several updates of a level with GINE or GatedGINE in one operation."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ghr.ops.kernels import gine as kernels
from ghr.ops.kernels.types import chunk_count
from ghr.ops.neighbours import Neighbours, as_array


def gine_loop(
    state: Tensor,
    injection: Tensor,
    norm_weight: Tensor,
    norm_eps: float,
    edges: Tensor,
    neighbours: Neighbours,
    epsilon: Tensor,
    up: tuple[Tensor, Tensor | None],
    down: tuple[Tensor, Tensor | None],
    *,
    gated: bool,
    turns: int,
) -> Tensor:
    r"""Update all nodes `turns` times, the injection staying the same.

    .. math::
        z = \mathrm{RMSNorm}(x) + \mathrm{injection}, \qquad
        x_i \gets x_i + U\Big( (1 + \epsilon)\, z_i + \sum_{j \in \mathcal{N}_i} \mathrm{ReLU}(z_j + e_{ji}) \Big)

    Args:
        state: States :math:`x`.
        injection: What is added to the normalised state.
        norm_weight: Weight of the norm.
        norm_eps: Its epsilon.
        edges: Projected edge features in the order of `neighbours`; one row if all edges share it.
        neighbours: The edges.
        epsilon: :math:`\epsilon`, a scalar.
        up: Weight and bias of the first linear map of :math:`U`, as PyTorch keeps them.
        down: Weight and bias of the second.
        gated: Whether :math:`U` is SwiGLU, its first map giving gate and content, or else has a ReLU between the maps.
        turns: Number of updates.

    Shapes:
        - **state, injection, output:** :math:`(N, d)`
        - **edges:** :math:`(E, d)` or :math:`(1, d)`
    """
    up_bias = state.new_zeros(up[0].size(0)) if up[1] is None else up[1]
    down_bias = state.new_zeros(down[0].size(0)) if down[1] is None else down[1]
    keep = torch.is_grad_enabled()
    out: Tensor = _loop(
        state.contiguous(), injection.contiguous(), norm_weight, edges.contiguous(), epsilon,
        up[0].contiguous(), up_bias, down[0].contiguous(), down_bias,
        *neighbours, norm_eps, turns, gated, keep,
    )[0]  # fmt: skip
    return out


@torch.library.custom_op("ghr::gine_loop", mutates_args=())
def _loop(
    state: Tensor, injection: Tensor, norm_weight: Tensor, edges: Tensor, epsilon: Tensor,
    up: Tensor, up_bias: Tensor, down: Tensor, down_bias: Tensor,
    start: Tensor, source: Tensor, order: Tensor, out_start: Tensor, out_target: Tensor, out_edge: Tensor,
    norm_eps: float, turns: int, gated: bool, keep: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the last state and, if asked to keep them, the states between."""
    n, d = state.shape
    between = state.new_empty(turns - 1 if keep else 0, n, d)
    last = state.new_empty(n, d)
    spare = [state.new_empty(n, d) for _ in range(0 if keep else min(turns - 1, 2))]
    outs = _numpy(*between) if keep else [as_array(spare[turn % 2]) for turn in range(turns - 1)]
    weights = _numpy(up.t().contiguous(), up_bias, down.t().contiguous(), down_bias)
    x, weight, inject, edge, starts, sources = _numpy(state, norm_weight, injection, edges, start, source)
    z, r = np.empty_like(x), np.empty((n if edges.size(0) == 1 else 0, d), x.dtype)
    scale = x.dtype.type(1 + epsilon.item())
    for out in [*outs, as_array(last)]:
        kernels.normalise(x, weight, norm_eps, inject, edge, z, r)
        kernels.forward(x, z, r, edge, starts, sources, scale, *weights, gated, out, chunk_count(n))
        x = out
    return last, between


@_loop.register_fake
def _(state: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    turns, keep = rest[-3], rest[-1]
    return torch.empty_like(state), state.new_empty(turns - 1 if keep else 0, *state.shape)


@torch.library.custom_op("ghr::gine_loop_backward", mutates_args=())
def _loop_backward(
    grad_out: Tensor, state: Tensor, between: Tensor, injection: Tensor, norm_weight: Tensor, edges: Tensor,
    epsilon: Tensor, up: Tensor, up_bias: Tensor, down: Tensor,
    start: Tensor, source: Tensor, out_start: Tensor, out_target: Tensor, out_edge: Tensor,
    norm_eps: float, gated: bool,
) -> list[Tensor]:  # fmt: skip
    """Return the gradients of state, injection, norm, edges, epsilon, and the two maps, recomputing every update."""
    n, d = state.shape
    shared, chunks = edges.size(0) == 1, chunk_count(n)
    wide, half = up.size(0), down.size(1)
    grad, grad_injection = grad_out.clone(memory_format=torch.contiguous_format), torch.zeros_like(state)
    grad_edges = state.new_zeros(chunks if shared else edges.size(0), d)
    shapes = ((d,), (d,), (d, wide), (wide,), (half, d), (d,))
    parts = [state.new_zeros(chunks, *shape) for shape in shapes]  # every chunk of nodes sums into its own
    grad_norm, grad_scale, grad_up, grad_up_bias, grad_down, grad_down_bias = parts

    weights = _numpy(up.t().contiguous(), up_bias, up, down)
    into_weights = _numpy(grad_up, grad_up_bias, grad_down, grad_down_bias, grad_scale)
    into_states = _numpy(grad, grad_injection, grad_edges, grad_norm)
    weight, inject, edge, starts, sources = _numpy(norm_weight, injection, edges, start, source)
    leaving = _numpy(out_start, out_target, out_edge)
    z, grad_m = np.empty_like(inject), np.empty_like(inject)
    r, zeros = np.empty((n if shared else 0, d), z.dtype), np.zeros(max(wide, d), z.dtype)
    scale = z.dtype.type(1 + epsilon.item())
    for x in reversed(_numpy(state, *between)):
        kernels.normalise(x, weight, norm_eps, inject, edge, z, r)
        kernels.backward_nodes(
            x, z, r, edge, starts, sources, scale, *weights, zeros, gated, into_states[0], grad_m, *into_weights, chunks
        )
        kernels.backward_edges(x, weight, norm_eps, z, edge, shared, *leaving, scale, grad_m, *into_states, chunks)
    return [
        grad,
        grad_injection,
        grad_norm.sum(0),
        grad_edges.sum(0, keepdim=True) if shared else grad_edges,
        grad_scale.sum(),
        grad_up.sum(0).t().contiguous(),
        grad_up_bias.sum(0),
        grad_down.sum(0).t().contiguous(),
        grad_down_bias.sum(0),
    ]


@_loop_backward.register_fake
def _(
    grad_out: Tensor, state: Tensor, between: Tensor, injection: Tensor, norm_weight: Tensor, edges: Tensor,
    epsilon: Tensor, up: Tensor, up_bias: Tensor, down: Tensor, *rest: Any,
) -> list[Tensor]:  # fmt: skip
    like = [state, injection, norm_weight, edges, epsilon, up, up_bias, down, norm_weight]
    return [torch.empty_like(each) for each in like]


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    (state, injection, norm_weight, edges, epsilon, up, up_bias, down, _, start, source, _, *out, eps, _, gated, _) = (
        inputs
    )
    ctx.save_for_backward(
        state, output[1], injection, norm_weight, edges, epsilon, up, up_bias, down, start, source, *out
    )
    ctx.options = (eps, gated)


def _differentiate(ctx: Any, grad_out: Tensor, grad_between: Tensor) -> tuple[Tensor | None, ...]:
    grads = _loop_backward(grad_out, *ctx.saved_tensors, *ctx.options)
    return (*grads, *[None] * 10)


_loop.register_autograd(_differentiate, setup_context=_remember)


def _numpy(*tensors: Tensor) -> list[Any]:
    return [as_array(tensor) for tensor in tensors]
