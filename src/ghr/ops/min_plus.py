"""Min-plus message passing: the cheapest way to every node over one more edge."""

from typing import Any

import torch
from torch import Tensor

from ghr.ops.chunks import chunk_count
from ghr.ops.kernels import min_plus as kernels
from ghr.ops.neighbours import Neighbours, as_array
from ghr.ops.operation import operation


def min_plus(
    x: Tensor, cost: Tensor, edge_index: Tensor, first: Tensor, neighbours: Neighbours | None = None
) -> Tensor:
    r"""Take the smallest of what arrives at every node, in every channel by itself.

    .. math::
        y_i = \min\big( f_i,\; \min_{j \to i} (x_j + c_{ji}) \big)

    Where several attain a minimum, :math:`f_i` among them, they share its gradient in equal parts: a rule that does not
    depend on the numbering of nodes and edges. Unweighted graphs have many equally short paths, so this is the
    common case.

    Sources and targets may be different sets of nodes: with the members of clusters as sources and the clusters as
    targets this is a pool.

    Args:
        x: Features of the sources.
        cost: What every edge adds; one row if all edges add the same.
        edge_index: Source and target of every edge; not read where `neighbours` are given.
        first: What the targets have before anything arrives.
        neighbours: The edges sorted by :func:`~ghr.ops.sort_edges`, with the rows of `cost` in their order; the
            kernels then compute.

    Shapes:
        - **x:** :math:`(N, C)`
        - **cost:** :math:`(E, C)` or :math:`(1, C)`
        - **first, output:** :math:`(N', C)`
    """
    if neighbours is None:
        source, target = edge_index
        message = x.index_select(0, source) + cost
        return first.scatter_reduce(0, target.unsqueeze(1).expand_as(message), message, "amin")
    out: Tensor = _min_plus(x.contiguous(), cost.contiguous(), first.contiguous(), *neighbours[:6])
    return out


@operation("ghr::min_plus")
def _min_plus(
    x: Tensor, cost: Tensor, first: Tensor,
    start: Tensor, source: Tensor, order: Tensor, out_start: Tensor, out_target: Tensor, out_edge: Tensor,
) -> Tensor:  # fmt: skip
    out = torch.empty_like(first)
    kernels.forward(*map(as_array, (x, cost, first, start, source, out)))
    return out


@_min_plus.register_fake
def _(x: Tensor, cost: Tensor, first: Tensor, *rest: Any) -> Tensor:
    return torch.empty_like(first)


@operation("ghr::min_plus_backward")
def _min_plus_backward(
    grad_out: Tensor, x: Tensor, cost: Tensor, first: Tensor, out: Tensor,
    start: Tensor, source: Tensor, out_start: Tensor, out_target: Tensor, out_edge: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    chunks, one_cost = chunk_count(first.size(0)), cost.size(0) == 1
    grad, grad_first, share = torch.empty_like(x), torch.empty_like(first), torch.empty_like(first)
    grad_cost = cost.new_zeros(chunks if one_cost else cost.size(0), cost.size(1))
    kernels.backward_targets(
        *map(as_array, (x, cost, first, start, source, out, grad_out.contiguous(), share, grad_first, grad_cost)),
        chunks,
    )
    kernels.backward_sources(*map(as_array, (x, cost, out, share, out_start, out_target, out_edge, grad)))
    return grad, grad_cost.sum(0, keepdim=True) if one_cost else grad_cost, grad_first


@_min_plus_backward.register_fake
def _(grad_out: Tensor, x: Tensor, cost: Tensor, first: Tensor, *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
    return torch.empty_like(x), torch.empty_like(cost), torch.empty_like(first)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, cost, first, start, source, _, *leaving = inputs
    ctx.save_for_backward(x, cost, first, output, start, source, *leaving)


def _differentiate(ctx: Any, grad_out: Tensor) -> tuple[Tensor | None, ...]:
    return (*_min_plus_backward(grad_out, *ctx.saved_tensors), *[None] * 6)


_min_plus.register_autograd(_differentiate, setup_context=_remember)
