"""Several updates of a level with GatedGCN in one operation."""

from typing import Any

import torch
from torch import Tensor

from ghr.ops.chunks import chunk_count
from ghr.ops.kernels import gated_gcn as kernels
from ghr.ops.neighbours import Neighbours, as_array


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
        *[tensor.contiguous() for tensor in given], *neighbours[:6], norm[1], out_norm[1], edge_norm[1], updates, keep
    )
    return out[0], out[1]


@torch.library.custom_op("ghr::gated_gcn_loop", mutates_args=())
def _loop(
    state: Tensor, injection: Tensor, norm: Tensor, edges: Tensor, initial: Tensor,
    maps: Tensor, bias: Tensor, edge_map: Tensor, edge_bias: Tensor, out_norm: Tensor, edge_norm: Tensor,
    start: Tensor, source: Tensor, order: Tensor, out_start: Tensor, out_target: Tensor, out_edge: Tensor,
    eps: float, out_eps: float, edge_eps: float, updates: int, keep: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the last states of nodes and edges and, if asked to keep them, what the backward pass needs."""
    n, d = state.shape
    count, kept = source.numel(), updates if keep else 1
    between = state.new_empty(updates - 1 if keep else 0, n, d)
    totals, passing, raw = (state.new_empty(kept, rows, d) for rows in (n, n, count))
    z, products, edge_out = state.new_empty(n, d), state.new_empty(n, 4 * d), state.new_empty(count, d)
    spare = [state.new_empty(n, d) for _ in range(0 if keep else min(updates - 1, 2))]
    biases = _at_the_ends(bias, edge_bias)
    x = state
    for update in range(updates):
        at, first = update % kept, update == 0
        fresh = first and edges.size(0) == 1
        out = state.new_empty(n, d) if update == updates - 1 else between[update] if keep else spare[update % 2]
        kernels.normalise(*_arrays(x, norm), eps, *_arrays(injection, z))
        torch.mm(z, maps.t(), out=products)
        if not fresh:
            torch.mm(edges if first else edge_out, edge_map.t(), out=raw[at])
        kernels.forward(
            *_arrays(x, products, _with_shared(biases, edges, edge_map) if fresh else biases),
            *_arrays(start, source, order, initial, out_norm), out_eps, as_array(edge_norm), edge_eps, fresh,
            *_arrays(passing[at], raw[at], edge_out, totals[at], out), chunk_count(n),
        )  # fmt: skip
        x = out
    if not keep:
        totals, passing, raw = (state.new_empty(0, rows, d) for rows in (n, n, count))
    return x, edge_out, between, totals, passing, raw


@_loop.register_fake
def _(state: Tensor, *rest: Any) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    source, (updates, keep) = rest[11], rest[-2:]
    (n, d), count, kept = state.shape, source.size(0), updates if keep else 0
    return (
        torch.empty_like(state),
        state.new_empty(count, d),
        state.new_empty(updates - 1 if keep else 0, n, d),
        state.new_empty(kept, n, d),
        state.new_empty(kept, n, d),
        state.new_empty(kept, count, d),
    )


@torch.library.custom_op("ghr::gated_gcn_loop_backward", mutates_args=())
def _loop_backward(
    grad_out: Tensor, grad_edge_out: Tensor | None,
    state: Tensor, injection: Tensor, norm: Tensor, edges: Tensor, initial: Tensor,
    maps: Tensor, bias: Tensor, edge_map: Tensor, out_norm: Tensor, edge_norm: Tensor,
    between: Tensor, totals: Tensor, passing: Tensor, raw: Tensor,
    start: Tensor, source: Tensor, order: Tensor, out_start: Tensor, out_target: Tensor, out_edge: Tensor,
    eps: float, out_eps: float, edge_eps: float, needs_edges: bool, needs_initial: bool,
) -> list[Tensor]:  # fmt: skip
    """Return the gradients of state, injection, norm, edges, initial edges, maps, edge map and the other norms."""
    n, d = state.shape
    updates, count, chunks = raw.size(0), raw.size(1), chunk_count(n)
    out_row = order.index_select(0, out_edge)
    grad = grad_out.clone(memory_format=torch.contiguous_format)
    grad_edge = state.new_empty(0, d) if grad_edge_out is None else grad_edge_out.contiguous()
    z, grad_z, pull = (state.new_empty(n, d) for _ in range(3))
    grad_products = state.new_empty(n, 4 * d)
    grad_raw, spare = state.new_empty(count, d), state.new_empty(count, d)  # spare: the gates, then the edges before
    grad_injection, grad_initial = torch.zeros_like(state), torch.zeros_like(initial)
    grad_edges = edges.new_empty(0)
    grad_maps, grad_edge_map = torch.zeros_like(maps), torch.zeros_like(edge_map)
    grad_norm, sums = state.new_zeros(chunks, d), state.new_zeros(chunks, 5, d)
    for update in reversed(range(updates)):
        x = state if update == 0 else between[update - 1]
        if needs_initial and grad_edge.size(0) > 0:
            grad_initial += grad_edge.sum(0, keepdim=True) if initial.size(0) == 1 else grad_edge
        kernels.backward_targets(
            *_arrays(grad, totals[update], passing[update], bias[:d].view(1, d), raw[update], start, source, order),
            as_array(out_norm), out_eps, as_array(edge_norm), edge_eps,
            *_arrays(grad_edge, spare, pull, grad_raw, grad_products, sums), chunks,
        )  # fmt: skip
        kernels.backward_sources(*_arrays(out_start, out_target, out_row, spare, pull, grad_raw, grad_products))
        kernels.normalise(*_arrays(x, norm), eps, *_arrays(injection, z))
        torch.mm(grad_products, maps, out=grad_z)
        grad_maps.addmm_(grad_products.t(), z)
        kernels.backward_norm(*_arrays(x, norm), eps, *_arrays(grad_z, grad, grad_injection, grad_norm), chunks)
        if update == 0 and edges.size(0) == 1:
            at_edges = grad_products[:, 2 * d : 3 * d].sum(0, keepdim=True)  # every edge arrives somewhere
            grad_edge_map.addmm_(at_edges.t(), edges)
            if needs_edges:
                grad_edges = torch.mm(at_edges, edge_map)
            break
        if update > 0:
            kernels.edge_states(*_arrays(raw[update - 1], edge_norm), edge_eps, *_arrays(initial, spare))
        grad_edge_map.addmm_(grad_raw.t(), edges if update == 0 else spare)
        if update > 0:
            grad_edge = torch.mm(grad_raw, edge_map, out=spare)
            grad_raw, spare = spare, grad_raw  # the kernel may overwrite the one gradient with the other
        elif needs_edges:
            grad_edges = torch.mm(grad_raw, edge_map, out=spare)
    at_passing, at_own, at_raw, grad_out_norm, grad_edge_norm = sums.sum(0)
    return [
        grad,
        grad_injection,
        grad_norm.sum(0),
        grad_edges,
        grad_initial if needs_initial else grad_initial.new_empty(0),
        grad_maps,
        torch.cat([at_passing, at_own, at_raw, at_raw]),
        grad_edge_map,
        at_raw.clone(),
        grad_out_norm.clone(),
        grad_edge_norm.clone(),
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
        state, injection, norm, edges, initial, maps, bias, edge_map, out_norm, edge_norm, *output[2:], *rest[:6]
    )
    ctx.options = rest[6:9]


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
    return (*grads, *[None] * 11)


_loop.register_autograd(_differentiate, setup_context=_remember)


def _at_the_ends(bias: Tensor, edge_bias: Tensor) -> Tensor:
    """Return three rows: the biases of what passes and of the own part, and all that is added to every edge."""
    passing, own, target, source = bias.view(4, -1)
    return torch.stack([passing, own, target + source + edge_bias])


def _with_shared(biases: Tensor, edges: Tensor, edge_map: Tensor) -> Tensor:
    """Add the product of the state that all edges share to what is added to every edge."""
    return torch.stack([biases[0], biases[1], torch.addmv(biases[2], edge_map, edges[0])])


def _arrays(*tensors: Tensor) -> Any:
    return [as_array(tensor) for tensor in tensors]
