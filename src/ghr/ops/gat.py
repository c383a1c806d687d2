"""Several updates of a level with GAT in one operation."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ghr.ops.buffers import buffers
from ghr.ops.kernels import gat as kernels
from ghr.ops.kernels.vectors import padded
from ghr.ops.kernels.weighted import ALL, EDGES, NODES, NORMALISE
from ghr.ops.loop import fake_states, make_room, run_stages, take_out
from ghr.ops.neighbours import Neighbours, as_array, as_arrays
from ghr.ops.operation import operation


def gat_loop(
    state: Tensor,
    injection: Tensor,
    norm: tuple[Tensor, float],
    edges: Tensor | None,
    neighbours: Neighbours,
    maps: Tensor,
    biases: Tensor,
    attention: Tensor,
    bias: Tensor,
    *,
    updates: int,
) -> Tensor:
    r"""Update all nodes `updates` times, the injection staying the same.

    .. math::
        z = \mathrm{RMSNorm}(x) + \mathrm{injection}, \quad
        x_i \gets x_i + \mathrm{ReLU}\Big( \sum_{j \to i} \alpha_{ji}\, s_j + b \Big), \quad
        \alpha_{ji} = \operatorname*{softmax}_{j}\; a^\top \mathrm{LeakyReLU}_{0.2}(s_j + t_i + e_{ji})

    with :math:`s = S z + b_s` and :math:`t = T z + b_t`.

    Args:
        state: States :math:`x`.
        injection: What is added to the normalised state.
        norm: Weight and epsilon of the norm.
        edges: Projected edge features in the order of `neighbours`; ``None`` without any.
        neighbours: The edges, at least one of which arrives at every node.
        maps: :math:`S` and :math:`T`, as PyTorch keeps them.
        biases: :math:`b_s` and :math:`b_t`.
        attention: :math:`a`.
        bias: :math:`b`.
        updates: Number of updates.

    Shapes:
        - **state, injection, output:** :math:`(N, d)`
        - **edges:** :math:`(E, d)`
        - **maps:** :math:`(2, d, d)`
        - **biases:** :math:`(2, d)`
    """
    width = state.size(1)
    more = padded(width) - width
    given = (
        F.pad(state, (0, more)),
        F.pad(injection.expand_as(state), (0, more)),
        F.pad(norm[0], (0, more)),
        state.new_empty(0, width + more) if edges is None else F.pad(edges, (0, more)),
        F.pad(maps, (0, more, 0, more)),
        F.pad(biases, (0, more)),
        F.pad(attention, (0, more)),
        F.pad(bias, (0, more)),
    )
    keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in given)
    out: Tensor = _loop(*[tensor.contiguous() for tensor in given], *neighbours, norm[1], width, updates, keep)[0]
    return out[:, :width]


@operation("ghr::gat_loop")
def _loop(
    state: Tensor, injection: Tensor, norm: Tensor, edges: Tensor, maps: Tensor, biases: Tensor, attention: Tensor,
    bias: Tensor, start: Tensor, source: Tensor, order: Tensor, out_start: Tensor, out_target: Tensor,
    out_edge: Tensor, parts: Tensor, alone: Tensor, eps: float, width: int, updates: int, keep: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the last state and, if asked to keep them, the states between."""
    n, d = state.shape
    between = make_room(updates, state, keep=keep)
    last, z, sending, asking = (buffers.empty((n, d), state) for _ in range(4))
    arrays = (
        *as_arrays(state, between, last, norm), eps, width, *as_arrays(injection, z, edges, start, source),
        *as_arrays(maps.transpose(1, 2).contiguous(), biases, attention, bias, sending, asking),
        as_array(state.new_empty(source.numel())),
    )  # fmt: skip
    run_stages(kernels.forward, (ALL, NORMALISE, NODES), parts, alone, updates, arrays)
    return last, take_out(between, keep=keep)


@_loop.register_fake
def _(state: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    updates, keep = rest[-2:]
    return fake_states(state, updates, keep=keep)


@operation("ghr::gat_loop_backward")
def _loop_backward(
    grad_out: Tensor, between: Tensor, state: Tensor, injection: Tensor, norm: Tensor, edges: Tensor, maps: Tensor,
    biases: Tensor, attention: Tensor, bias: Tensor, start: Tensor, source: Tensor, out_start: Tensor,
    out_edge: Tensor, parts: Tensor, alone: Tensor, eps: float, width: int, needs_edges: bool,
) -> list[Tensor]:  # fmt: skip
    """Return the gradients of all that has one, recomputing every update."""
    (n, d), count, total = state.shape, parts.numel() - 1, source.numel()
    grad, grad_injection = buffers.empty((n, d), state).copy_(grad_out), buffers.empty((n, d), state)
    z, sending, asking, grad_asking = (buffers.empty((n, d), state) for _ in range(4))
    scores, slopes, sent = state.new_empty(total), state.new_empty(total), buffers.empty((total, d), state)
    grad_edges = torch.zeros_like(edges) if needs_edges else edges.new_empty(0, d)
    grad_norm, grad_maps, grad_biases, grad_attention, grad_bias = (
        state.new_zeros(count, *shape) for shape in ((d,), (2, d, d), (2, d), (d,), (d,))
    )
    updates = between.size(0) + 1
    arrays = (
        *as_arrays(state, between, norm), eps, width,
        *as_arrays(injection, z, edges, start, source, out_start, out_edge),
        *as_arrays(maps.transpose(1, 2).contiguous(), biases, maps, attention, bias, state.new_zeros(1, d)),
        *as_arrays(sending, asking, scores, slopes, sent, grad_asking, grad, grad_injection, grad_edges),
        *as_arrays(grad_norm, grad_maps, grad_biases, grad_attention, grad_bias),
    )  # fmt: skip
    stages = (ALL, NORMALISE, NODES, EDGES)
    run_stages(kernels.backward, stages, parts, alone, updates, arrays, back=True)
    sums = (grad_biases, grad_attention, grad_bias)
    maps_back = grad_maps.sum(0).transpose(1, 2).contiguous()
    return [grad, grad_injection, grad_norm.sum(0), grad_edges, maps_back, *(part.sum(0) for part in sums)]


@_loop_backward.register_fake
def _(grad_out: Tensor, between: Tensor, *rest: Any) -> list[Tensor]:
    state, injection, norm, edges, *others = rest[:8]
    like = [state, injection, norm, edges if rest[-1] else edges.new_empty(0, edges.size(1)), *others]
    return [torch.empty_like(each) for each in like]


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    *given, start, source, _, out_start, _, out_edge, parts, alone, eps, width, _, _ = inputs
    ctx.save_for_backward(output[1], *given, start, source, out_start, out_edge, parts, alone)
    ctx.options = (eps, width)
    ctx.set_materialize_grads(False)  # nobody asks for gradients of the states between


def _differentiate(ctx: Any, grad_out: Tensor | None, grad_between: Tensor | None) -> tuple[Tensor | None, ...]:
    saved = ctx.saved_tensors  # once: checkpointing hands them out a single time
    needs = ctx.needs_input_grad[3] and saved[4].size(0) > 0
    given = torch.zeros_like(saved[1]) if grad_out is None else grad_out
    grads: list[Tensor | None] = _loop_backward(given, *saved, *ctx.options, needs)
    grads[3] = grads[3] if needs else None
    return (*grads, *[None] * 12)


_loop.register_autograd(_differentiate, setup_context=_remember)
