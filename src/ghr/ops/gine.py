"""Several updates of a level with GINE or GatedGINE in one operation."""

from typing import Any

import torch
from torch import Tensor

from ghr.ops.buffers import buffers
from ghr.ops.kernels import gine as kernels
from ghr.ops.kernels.masks import mask_width
from ghr.ops.neighbours import Neighbours, as_array, sort_leaving, sort_members
from ghr.ops.operation import operation
from ghr.ops.pool import Above, segment_sum
from ghr.ops.share import share

GROUP = 8  # updates whose gradients of the edges are added up together


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
    updates: int,
    above: Above | None = None,
    own: bool = False,
) -> Tensor:
    r"""Update all nodes `updates` times, the injection staying the same.

    .. math::
        z_i = \mathrm{RMSNorm}(x_i) + \mathrm{injection}_i + \mathrm{above}_{c(i)}, \qquad
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
        updates: Number of updates.
        above: What is added from the cluster :math:`c(i)` of every node; looked up at every update, and never written
            down for all nodes.
        own: Whether nobody else holds the state: without gradients it is then written over.

    Shapes:
        - **state, injection, output:** :math:`(N, d)`
        - **edges:** :math:`(E, d)` or :math:`(1, d)`
    """
    up_bias = state.new_zeros(up[0].size(0)) if up[1] is None else up[1]
    down_bias = state.new_zeros(down[0].size(0)) if down[1] is None else down[1]
    keep, state = torch.is_grad_enabled(), state.contiguous()
    given = (
        state, injection.contiguous(), norm_weight, edges.contiguous(), epsilon,
        up[0].contiguous(), up_bias, down[0].contiguous(), down_bias,
        *_look_up(above, state), *neighbours, norm_eps, updates, gated,
    )  # fmt: skip
    if own and not keep:
        _loop_in_place(*given)
        return state
    out: Tensor = _loop(*given, keep)[0]
    return out


def _look_up(above: Above | None, state: Tensor) -> tuple[Tensor, ...]:
    """Return the rows of the clusters, the cluster of every node and its members; a row of zeros for all without."""
    if above is None:
        nothing = torch.empty(0, dtype=torch.long)
        return state.new_zeros(1, state.size(1)), nothing, nothing, nothing
    members = above.members or sort_members(above.assignment, above.x.size(0))
    return above.x.contiguous(), above.assignment, *members


@operation("ghr::gine_loop")
def _loop(
    state: Tensor, injection: Tensor, norm_weight: Tensor, edges: Tensor, epsilon: Tensor,
    up: Tensor, up_bias: Tensor, down: Tensor, down_bias: Tensor,
    above: Tensor, clusters: Tensor, first_member: Tensor, member: Tensor,
    start: Tensor, source: Tensor, order: Tensor, out_start: Tensor, out_target: Tensor, out_edge: Tensor,
    parts: Tensor, alone: Tensor, norm_eps: float, updates: int, gated: bool, keep: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the last state and, if asked to keep them, the states between."""
    last = buffers.empty(tuple(state.shape), state)
    between = buffers.empty((updates - 1 if keep else 0, *state.shape), state)
    _update(
        state, between, last, injection, norm_weight, edges, epsilon, up, up_bias, down, down_bias, above, clusters,
        start, source, parts, alone, norm_eps, updates, gated,
    )  # fmt: skip
    return last, between


@_loop.register_fake
def _(state: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    updates, keep = rest[-3], rest[-1]
    return torch.empty_like(state), state.new_empty(updates - 1 if keep else 0, *state.shape)


@operation("ghr::gine_loop_", changes=("state",))
def _loop_in_place(
    state: Tensor, injection: Tensor, norm_weight: Tensor, edges: Tensor, epsilon: Tensor,
    up: Tensor, up_bias: Tensor, down: Tensor, down_bias: Tensor,
    above: Tensor, clusters: Tensor, first_member: Tensor, member: Tensor,
    start: Tensor, source: Tensor, order: Tensor, out_start: Tensor, out_target: Tensor, out_edge: Tensor,
    parts: Tensor, alone: Tensor, norm_eps: float, updates: int, gated: bool,
) -> None:  # fmt: skip
    """Write the last state over the first."""
    _update(
        state, state.new_empty(0, *state.shape), state, injection, norm_weight, edges, epsilon, up, up_bias, down,
        down_bias, above, clusters, start, source, parts, alone, norm_eps, updates, gated,
    )  # fmt: skip


@_loop_in_place.register_fake
def _(*given: Any) -> None:
    return None


def _update(
    state: Tensor, between: Tensor, last: Tensor, injection: Tensor, norm_weight: Tensor, edges: Tensor,
    epsilon: Tensor, up: Tensor, up_bias: Tensor, down: Tensor, down_bias: Tensor, above: Tensor, clusters: Tensor,
    start: Tensor, source: Tensor, parts: Tensor, alone: Tensor, norm_eps: float, updates: int, gated: bool,
) -> None:  # fmt: skip
    """Fill the states between, if there is room for them, and the last state."""
    z, inverse = buffers.empty(tuple(state.shape), state), state.new_empty(state.size(0))
    arrays = (
        *_vectors(state), as_array(between.flatten(1)), *_vectors(last, norm_weight), norm_eps,
        *_vectors(injection, above, clusters, inverse, z, edges, start, source), _scale(epsilon),
        *_vectors(up.t(), up_bias, down.t(), down_bias), gated,
    )  # fmt: skip
    count = parts.numel() - 1
    if alone.item():
        share(kernels.forward, count, kernels.ALL, 0, updates, as_array(parts), *arrays)
    else:
        for update in range(updates):
            for phase in (kernels.NORMALISE, kernels.NODES):
                share(kernels.forward, count, phase, update, update + 1, as_array(parts), *arrays)


@operation("ghr::gine_loop_backward")
def _loop_backward(
    grad_out: Tensor, state: Tensor, between: Tensor, injection: Tensor, norm_weight: Tensor, edges: Tensor,
    epsilon: Tensor, up: Tensor, up_bias: Tensor, down: Tensor, above: Tensor, clusters: Tensor,
    start: Tensor, source: Tensor, out_start: Tensor, out_target: Tensor, out_edge: Tensor, parts: Tensor,
    alone: Tensor, norm_eps: float, gated: bool,
) -> list[Tensor]:  # fmt: skip
    """Return the gradients of state, injection, norm, edges, epsilon, and the two maps, recomputing every update."""
    n, d = state.shape
    if out_edge.numel() < source.numel():  # the edges were sorted where nobody asked for gradients
        lists = sort_leaving(as_array(start), as_array(source), n)
        out_start, out_target, out_edge = map(torch.from_numpy, lists)
    wide, half = up.size(0), down.size(1)
    shared, count, updates = edges.size(0) == 1, parts.numel() - 1, between.size(0) + 1
    group = 1 if shared else min(updates, GROUP)
    grad, grad_injection = buffers.empty((n, d), state).copy_(grad_out), buffers.empty((n, d), state)
    z, inverse = buffers.empty((n, d), state), state.new_empty(n)
    grad_m = buffers.empty((group, n * d), state)
    bits = 0 if shared else edges.size(0) * mask_width(d, state.element_size())
    masks = buffers.empty((group, bits), torch.empty(0, dtype=torch.uint8))
    grad_edges = buffers.empty((0, d) if shared else tuple(edges.shape), state)
    sizes = (d, d, 1, d * wide, wide, half * d, d)
    sums = buffers.empty((count, sum(sizes)), state).zero_()
    arrays = (
        updates, *_vectors(state), as_array(between.flatten(1)), *_vectors(norm_weight), norm_eps,
        *_vectors(injection, above, clusters, inverse, z, edges, start, source, out_start, out_target, out_edge),
        _scale(epsilon),
        *_vectors(up.t(), up_bias, up, down, state.new_zeros(max(wide, d))), gated, shared,
        as_array(masks), as_array(grad_m), *_vectors(grad, grad_injection, grad_edges), as_array(sums),
    )  # fmt: skip
    if alone.item():
        share(kernels.backward, count, kernels.ALL, 0, updates, as_array(parts), *arrays)
    else:
        phases = (kernels.NORMALISE, kernels.NODES, kernels.EDGES, *(() if shared else (kernels.FEATURES,)))
        for update in reversed(range(updates)):
            for phase in phases:
                share(kernels.backward, count, phase, update, update + 1, as_array(parts), *arrays)
    grad_edge, grad_norm, grad_scale, grad_up, grad_up_bias, grad_down, grad_down_bias = sums.sum(0).split_with_sizes(
        sizes
    )
    return [  # no view of another
        grad,
        grad_injection,
        grad_norm.clone(),
        grad_edge.view(1, d).clone() if shared else grad_edges,
        grad_scale.sum(),
        grad_up.view(d, wide).t().contiguous(),
        grad_up_bias.clone(),
        grad_down.view(half, d).t().contiguous(),
        grad_down_bias.clone(),
    ]


@_loop_backward.register_fake
def _(
    grad_out: Tensor, state: Tensor, between: Tensor, injection: Tensor, norm_weight: Tensor, edges: Tensor,
    epsilon: Tensor, up: Tensor, up_bias: Tensor, down: Tensor, *rest: Any,
) -> list[Tensor]:  # fmt: skip
    like = [state, injection, norm_weight, edges, epsilon, up, up_bias, down, norm_weight]
    return [torch.empty_like(each) for each in like]


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    state, injection, norm_weight, edges, epsilon, up, up_bias, down, _, *others, eps, _, gated, _ = inputs
    above, clusters, first_member, member, start, source, _, *rest = others
    ctx.save_for_backward(
        first_member, member, state, output[1], injection, norm_weight, edges, epsilon, up, up_bias, down,
        above, clusters, start, source, *rest,
    )  # fmt: skip
    ctx.options = (eps, gated)
    ctx.set_materialize_grads(False)  # nobody asks for gradients of the states between: zeros for them cost time


def _differentiate(ctx: Any, grad_out: Tensor | None, grad_between: Tensor | None) -> tuple[Tensor | None, ...]:
    first_member, member, *saved = ctx.saved_tensors
    grads = _loop_backward(torch.zeros_like(saved[0]) if grad_out is None else grad_out, *saved, *ctx.options)
    grad_above = segment_sum(grads[1], first_member, member) if member.numel() else None
    return (*grads, grad_above, *[None] * 15)


_loop.register_autograd(_differentiate, setup_context=_remember)


def _vectors(*tensors: Tensor) -> list[Any]:
    return [as_array(tensor).reshape(-1) for tensor in tensors]  # reshaping a tensor takes three times as long


def _scale(epsilon: Tensor) -> Any:
    return as_array(1 + epsilon)[()]
