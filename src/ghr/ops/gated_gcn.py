"""Several updates of a level with GatedGCN in one operation."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ghr.ops.buffers import buffers
from ghr.ops.chunks import chunk_count
from ghr.ops.kernels import gated_gcn as kernels
from ghr.ops.kernels.gated_gcn import FIRST
from ghr.ops.kernels.tile import TALL
from ghr.ops.kernels.types import Array
from ghr.ops.kernels.vectors import padded
from ghr.ops.kernels.weighted import ALL, EDGES, NODES, NORMALISE
from ghr.ops.neighbours import Neighbours, as_array
from ghr.ops.operation import operation
from ghr.ops.share import share

GROUPS = 64  # most sums of the gradients of weights, each over some parts; on however many threads


def gated_gcn_loop(
    state: Tensor,
    injection: Tensor,
    norm: tuple[Tensor, float],
    edges: Tensor,
    initial: Tensor,
    neighbours: Neighbours,
    maps: tuple[Tensor, Tensor],
    edge_map: tuple[Tensor, Tensor],
    out_norm: tuple[Tensor, float],
    edge_norm: tuple[Tensor, float],
    *,
    updates: int,
) -> tuple[Tensor, Tensor]:
    r"""Update all nodes and edges `updates` times, the injection staying the same.

    .. math::
        z &= \mathrm{RMSNorm}(x) + \mathrm{injection}, \qquad
        r_{ji} = D z_i + E z_j + C e_{ji}, \qquad \eta_{ji} = \sigma(r_{ji}) \\
        x_i &\gets x_i + \mathrm{ReLU}\Big( \mathrm{RMSNorm}_x \Big( A z_i + \frac{\sum_j \eta_{ji} \odot B z_j}
        {\sum_j \eta_{ji} + 10^{-6}} \Big) \Big), \qquad
        e_{ji} \gets \mathrm{ReLU}\big( \mathrm{RMSNorm}_e(r_{ji}) \big) + e_{ji}^{(0)}

    For the backward pass it keeps of every update the state, :math:`B z`, :math:`r` and what :math:`\mathrm{RMSNorm}_x`
    is applied to. Edge states, gates and norms are computed again.

    Args:
        state: States :math:`x`.
        injection: What is added to the normalised state.
        norm: Weight and epsilon of the norm before.
        edges: Edge states :math:`e`, in the rows that ``neighbours.order`` tells; one row if all edges have the same.
        initial: The features :math:`e^{(0)}` likewise.
        neighbours: The edges.
        maps: Weights and biases of :math:`B, A, D, E`, one below the other.
        edge_map: Weight and bias of :math:`C`.
        out_norm: Weight and epsilon of :math:`\mathrm{RMSNorm}_x`.
        edge_norm: Weight and epsilon of :math:`\mathrm{RMSNorm}_e`.
        updates: Number of updates.

    Shapes:
        - **state, injection, first output:** :math:`(N, d)`
        - **edges, initial:** :math:`(E, d)` or :math:`(1, d)`
        - **second output:** :math:`(E, d)`
    """
    given = (state, injection.expand_as(state), norm[0], edges, initial, *maps, *edge_map, out_norm[0], edge_norm[0])
    keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in given)
    out: tuple[Tensor, ...] = _loop(
        *[tensor.contiguous() for tensor in given], *neighbours[:6], norm[1], out_norm[1], edge_norm[1], updates, keep,
        neighbours.parts, neighbours.alone,
    )  # fmt: skip
    return out[0], out[1]


@operation("ghr::gated_gcn_loop")
def _loop(
    state: Tensor, injection: Tensor, norm: Tensor, edges: Tensor, initial: Tensor,
    maps: Tensor, bias: Tensor, edge_map: Tensor, edge_bias: Tensor, out_norm: Tensor, edge_norm: Tensor,
    start: Tensor, source: Tensor, order: Tensor, out_start: Tensor, out_target: Tensor, out_edge: Tensor,
    eps: float, out_eps: float, edge_eps: float, updates: int, keep: bool,
    parts: Tensor | None = None, alone: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the last states of nodes and edges and, if asked to keep them, what the backward pass needs."""
    (n, width), count, wide = state.shape, source.numel(), padded(state.size(1))
    alike, (cuts, together) = edges.size(0) == 1, _cut(n, parts, alone)
    shapes = _kept(n, count, wide, updates) if keep else ((min(updates - 1, 2), n, wide), *_kept(n, count, wide, 1)[1:])
    kept, last, edge_out = _reserve(state, *shapes), _reserve(state, (n, wide)), _reserve(state, (count, wide))
    between, passing, totals, raw = _split(kept, *shapes)
    asking, sending = _split(_reserve(state, (2, n * wide)), (n * wide,), (n * wide,))
    biases = _pad(_at_products(bias, edge_bias, edge_map, edges), wide).view(2, -1)
    arrays = (
        _rows(state, wide), between, as_array(last), _rows(norm, wide), eps, width,
        _rows(injection, wide), _rows(edges, wide), _rows(initial, wide), *_arrays(start, source, order),
        _flat(_square(maps, wide).transpose(1, 2)), as_array(biases), _flat(_square(edge_map, wide).transpose(1, 2)),
        _rows(out_norm, wide), out_eps, _rows(edge_norm, wide), edge_eps, as_array(biases)[0, 3 * wide :],
        asking, sending, passing, totals, raw, _flat(edge_out),
    )  # fmt: skip
    for begin, end in _spans(updates, together):
        for stage in (ALL,) if together else (NORMALISE, NODES):
            share(kernels.forward, cuts.size - 1, stage, cuts, begin, end, updates, alike, *arrays)
    return _cut_off(last, width), _cut_off(edge_out, width), kept if keep else state.new_empty(0)


@_loop.register_fake
def _(state: Tensor, *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
    source, (updates, keep) = rest[11], rest[19:21]
    (n, width), count = state.shape, source.size(0)
    kept = sum(math.prod(shape) for shape in _kept(n, count, padded(width), updates)) if keep else 0
    return torch.empty_like(state), state.new_empty(count, width), state.new_empty(kept)


@operation("ghr::gated_gcn_loop_backward")
def _loop_backward(
    grad_out: Tensor, grad_edge_out: Tensor | None,
    state: Tensor, injection: Tensor, norm: Tensor, edges: Tensor, initial: Tensor,
    maps: Tensor, bias: Tensor, edge_map: Tensor, out_norm: Tensor, edge_norm: Tensor,
    kept: Tensor,
    start: Tensor, source: Tensor, order: Tensor, out_start: Tensor, out_target: Tensor, out_edge: Tensor,
    parts: Tensor | None, alone: Tensor | None,
    eps: float, out_eps: float, edge_eps: float, updates: int, needs_edges: bool, needs_initial: bool,
) -> list[Tensor]:  # fmt: skip
    """Return the gradients of state, injection, norm, edges, initial edges, maps, edge map and the other norms."""
    (n, width), count, wide = state.shape, source.numel(), padded(state.size(1))
    alike, (cuts, together) = edges.size(0) == 1, _cut(n, parts, alone)
    groups = min(GROUPS, cuts.size - 1)
    between, passing, totals, raw = _split(kept, *_kept(n, count, wide, updates))
    grad, grad_injection = _reserve(state, (n, wide)), _reserve(state, (n, wide))
    grad.copy_(_pad(grad_out, wide))
    grad_edge = state.new_empty(0) if grad_edge_out is None else _pad(grad_edge_out, wide).contiguous()
    grad_edges = _reserve(state, (count if needs_edges and not alike else 0, wide))
    grad_initial = _reserve(state, (count if needs_initial and initial.size(0) != 1 else 0, wide)).zero_()
    shapes = ((count, wide), (n, wide), (count + TALL, wide), (n + TALL, 4 * wide))  # a product reads tiles of rows
    gates, pull, grad_raw, grad_products = (piece.reshape(-1) for piece in _split(_reserve(state, *shapes), *shapes))
    weights = _reserve(state, (groups, 5 * wide * wide + 8 * wide)).zero_()
    arrays = (
        _rows(state, wide), between, _rows(norm, wide), eps, width,
        _rows(injection, wide), _rows(edges, wide), _rows(initial, wide),
        *_arrays(start, source, order, out_start, out_target, out_edge),
        _flat(_square(maps, wide)), _flat(_square(edge_map, wide)),
        _rows(out_norm, wide), out_eps, _rows(edge_norm, wide), edge_eps, as_array(state.new_zeros(wide)),
        passing, totals, raw, gates, pull, grad_raw, grad_products, _flat(grad_edge), *_arrays(grad, grad_injection),
        _flat(grad_edges), _flat(grad_initial), as_array(weights),
    )  # fmt: skip
    for begin, end in reversed(_spans(updates, together)):
        for stage in (ALL,) if together else (NODES, EDGES):
            share(kernels.backward, groups, stage, groups, cuts, begin, end, updates, alike, *arrays)
    if not together and not alike:
        share(kernels.backward, groups, FIRST, groups, cuts, 0, 0, updates, alike, *arrays)
    to_maps, to_edge_map, sums = (part.sum(0) for part in weights.tensor_split([4 * wide * wide, 5 * wide * wide], 1))
    to_maps = _cut_off(to_maps.view(4, wide, wide)[:, :width], width).view(4 * width, width)
    to_edge_map = _cut_off(to_edge_map.view(wide, wide)[:width], width)
    at_passing, at_own, at_raw, to_out_norm, to_edge_norm, at_first, at_initial, to_norm = sums.view(8, wide)[:, :width]
    at_raw = at_raw + at_first
    to_edges, to_initial = _cut_off(grad_edges, width), _cut_off(grad_initial, width)
    if alike:
        to_edge_map = torch.addr(to_edge_map, at_first, edges[0])
        to_edges = torch.mv(edge_map.t(), at_first).view(1, width)
    if initial.size(0) == 1:
        to_initial = at_initial.clone().view(1, width)
    return [
        _cut_off(grad, width),
        _cut_off(grad_injection, width),
        to_norm.clone(),
        to_edges if needs_edges else edges.new_empty(0),
        to_initial if needs_initial else edges.new_empty(0),
        to_maps,
        torch.cat([at_passing, at_own, at_raw, at_raw]),
        to_edge_map,
        at_raw,
        to_out_norm.clone(),
        to_edge_norm.clone(),
    ]


@_loop_backward.register_fake
def _(
    grad_out: Tensor, grad_edge_out: Tensor | None,
    state: Tensor, injection: Tensor, norm: Tensor, edges: Tensor, initial: Tensor,
    maps: Tensor, bias: Tensor, edge_map: Tensor, out_norm: Tensor, edge_norm: Tensor, *rest: Any,
) -> list[Tensor]:  # fmt: skip
    needs_edges, needs_initial = rest[-2:]
    own = [edges if needs_edges else edges.new_empty(0), initial if needs_initial else initial.new_empty(0)]
    like = [state, injection, norm, *own, maps, bias, edge_map, norm, out_norm, edge_norm]
    return [torch.empty_like(each) for each in like]


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    state, injection, norm, edges, initial, maps, bias, edge_map, _, out_norm, edge_norm, *rest = inputs
    ctx.set_materialize_grads(False)  # nobody asks for gradients of what is only kept, nor often for the last edges
    ctx.save_for_backward(
        state, injection, norm, edges, initial, maps, bias, edge_map, out_norm, edge_norm, output[2], *rest[:6],
        *rest[11:],
    )  # fmt: skip
    ctx.options = rest[6:10]


def _differentiate(
    ctx: Any, grad_out: Tensor | None, grad_edge_out: Tensor | None, *unused: Tensor | None
) -> tuple[Tensor | None, ...]:
    saved = ctx.saved_tensors  # once: checkpointing hands them out a single time
    needs_edges, needs_initial = ctx.needs_input_grad[3:5]
    grad_out = torch.zeros_like(saved[0]) if grad_out is None else grad_out
    grads: list[Tensor | None] = _loop_backward(
        grad_out, grad_edge_out, *saved, *ctx.options, needs_edges, needs_initial
    )
    grads[3] = grads[3] if needs_edges else None
    grads[4] = grads[4] if needs_initial else None
    return (*grads, *[None] * 13)


_loop.register_autograd(_differentiate, setup_context=_remember)


def _cut(n: int, parts: Tensor | None, alone: Tensor | None) -> tuple[Array, bool]:
    """Return where parts of the nodes start, and whether each runs all updates by itself."""
    if parts is None or alone is None:
        chunks = chunk_count(n)
        return np.arange(chunks + 1) * n // chunks, chunks == 1
    return as_array(parts), bool(alone.item())


def _spans(updates: int, together: bool) -> list[tuple[int, int]]:
    return [(0, updates)] if together else [(update, update + 1) for update in range(updates)]


def _kept(n: int, count: int, wide: int, updates: int) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of what is kept: the states between, B z, what goes into the norm of the nodes, and r."""
    return (updates - 1, n, wide), (updates, n * wide), (updates, n * wide), (updates, count * wide)


def _reserve(like: Tensor, *shapes: tuple[int, ...]) -> Tensor:
    """Return memory for arrays of some shapes; of one shape, a tensor of it."""
    return buffers.empty(shapes[0] if len(shapes) == 1 else (sum(map(math.prod, shapes)),), like)


def _split(memory: Tensor, *shapes: tuple[int, ...]) -> list[Array]:
    """Return arrays that lie in memory one behind the other."""
    flat, ends = as_array(memory).reshape(-1), np.cumsum([math.prod(shape) for shape in shapes])
    return [flat[end - math.prod(shape) : end].reshape(shape) for shape, end in zip(shapes, ends, strict=True)]


def _at_products(bias: Tensor, edge_bias: Tensor, edge_map: Tensor, edges: Tensor) -> Tensor:
    """Return what is added to the products of B, A, D and E: D has the biases of all that meets in an edge.

    The second four rows are for a first update where all edges share their state: D has the product of that too.
    """
    passing, own, target, source = bias.view(4, -1)
    meeting, nothing = target + source + edge_bias, torch.zeros_like(edge_bias)
    first = torch.addmv(meeting, edge_map, edges[0]) if edges.size(0) == 1 else meeting
    return torch.stack([passing, own, meeting, nothing, passing, own, first, nothing])


def _pad(tensor: Tensor, wide: int) -> Tensor:
    """Fill rows with zeros up to whole vectors."""
    return tensor if tensor.size(-1) == wide else F.pad(tensor, (0, wide - tensor.size(-1)))


def _cut_off(tensor: Tensor, width: int) -> Tensor:
    """Take the zeros away again."""
    return tensor if tensor.size(-1) == width else tensor[..., :width].contiguous()


def _square(maps: Tensor, wide: int) -> Tensor:
    """Return maps that lie one below the other as matrices that are filled with zeros."""
    width = maps.size(1)
    maps = maps.view(-1, width, width)
    return maps if width == wide else F.pad(maps, (0, wide - width, 0, wide - width))


def _rows(tensor: Tensor, wide: int) -> Array:
    return as_array(_pad(tensor, wide))


def _flat(tensor: Tensor) -> Array:
    return as_array(tensor.reshape(-1))


def _arrays(*tensors: Tensor) -> list[Array]:
    return [as_array(tensor) for tensor in tensors]
