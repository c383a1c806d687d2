"""Features up the hierarchy (pool) and down again (unpool)."""

from typing import Any, Literal, NamedTuple, get_args

import torch
from torch import Tensor, nn

from ghr.checks import show
from ghr.ops.aggregate import aggregate_sum
from ghr.ops.buffers import buffers
from ghr.ops.chunks import PART, chunk_count
from ghr.ops.kernels import segments
from ghr.ops.neighbours import Members, as_array
from ghr.ops.operation import operation
from ghr.ops.share import share

Pool = Literal["max", "sum", "mean"]


class Above(NamedTuple):
    """Features of clusters that their members have yet to add: there are fewer of them than of the members.

    Attributes:
        x: Those of the clusters :math:`(N', C)`.
        assignment: Cluster of every member :math:`(N)`.
        members: The members sorted by cluster, where kernels compute.
    """

    x: Tensor
    assignment: Tensor
    members: Members | None = None


def check_pool(reduce: str) -> None:
    """Raise a ValueError for a pool that does not exist."""
    if not isinstance(reduce, str) or reduce not in get_args(Pool):
        raise ValueError(f"Unknown pool {show(reduce)}; known pools are {', '.join(get_args(Pool))}.")


def pool(x: Tensor, assignment: Tensor, num_clusters: int, reduce: Pool) -> Tensor:
    r"""Reduce the features of every cluster's members.

    Where several members attain a cluster's maximum, they share its gradient in equal parts: a rule that does not
    depend on the numbering of the nodes. At the first step all fine states are equal, so this is the common case.

    Args:
        x: Features of the members.
        assignment: Cluster of every member, in 0..num_clusters-1.
        num_clusters: Number of clusters; it travels as a number because reading it off the labels would stall a GPU.
        reduce: ``"max"``, ``"sum"`` or ``"mean"``.

    Shapes:
        - **x:** :math:`(N, C)`
        - **assignment:** :math:`(N)`
        - **output:** :math:`(N', C)`; an empty cluster gets zero
    """
    if reduce == "max":
        index = assignment.unsqueeze(1).expand_as(x)
        lowest = x.new_full(
            (num_clusters, x.size(1)), -torch.inf
        )  # a start of zero would tie with members that are zero
        top = lowest.scatter_reduce(0, index, x, "amax")
        return top.masked_fill(top == -torch.inf, 0)
    total = aggregate_sum(x, assignment, num_clusters)
    if reduce == "sum":
        return total
    count = aggregate_sum(x.new_ones(x.size(0), 1), assignment, num_clusters)
    return total / count.clamp(min=1)


def unpool(x: Tensor, assignment: Tensor) -> Tensor:
    r"""Hand every member the features of its cluster: :math:`(N', C) \to (N, C)`."""
    return x.index_select(0, assignment)


def pool_normalised(
    x: Tensor, norm: nn.RMSNorm, assignment: Tensor, num_clusters: int, reduce: Pool, members: Members | None = None
) -> Tensor:
    r"""Pool the normalised features, :math:`\mathrm{Pool}(\mathrm{RMSNorm}(x))`; fused where members are given."""
    if members is None:
        return pool(norm(x), assignment, num_clusters, reduce)
    assert norm.eps is not None
    code = {"max": segments.MAX, "sum": segments.SUM, "mean": segments.MEAN}[reduce]
    out: Tensor = _pool_normalised(x.contiguous(), norm.weight, *members, norm.eps, code)
    return out


def add_unpooled(base: Tensor, x: Tensor, assignment: Tensor, members: Members | None = None) -> Tensor:
    """Add to every member the features of its cluster; fused where members are given."""
    if members is None:
        return base + unpool(x, assignment)
    out: Tensor = _add_unpooled(base.contiguous(), x.contiguous(), assignment, *members)
    return out


@operation("ghr::pool_normalised")
def _pool_normalised(x: Tensor, weight: Tensor, start: Tensor, member: Tensor, eps: float, reduce: int) -> Tensor:
    out, inverse = buffers.empty((start.numel() - 1, x.size(1)), x), x.new_empty(x.size(0))
    arrays = (*map(as_array, (x, weight)), eps, *map(as_array, (start, member)), reduce, *map(as_array, (inverse, out)))
    share(segments.pool_normalised, out.size(0), *arrays, least=PART)
    return out


@_pool_normalised.register_fake
def _(x: Tensor, weight: Tensor, start: Tensor, member: Tensor, eps: float, reduce: int) -> Tensor:
    return x.new_empty(start.numel() - 1, x.size(1))


@operation("ghr::pool_normalised_backward")
def _pool_normalised_backward(
    grad_out: Tensor, x: Tensor, weight: Tensor, start: Tensor, member: Tensor, out: Tensor, eps: float, reduce: int
) -> tuple[Tensor, Tensor]:
    chunks = chunk_count(out.size(0))
    grad, inverse = buffers.empty(tuple(x.shape), x), x.new_empty(x.size(0))
    grad_weight = x.new_zeros(chunks, x.size(1))
    share(
        segments.pool_normalised_backward, chunks, *map(as_array, (x, weight)), eps, *map(as_array, (start, member)),
        reduce, *map(as_array, (inverse, out, grad_out.contiguous(), grad, grad_weight)),
    )  # fmt: skip
    return grad, grad_weight.sum(0)


@_pool_normalised_backward.register_fake
def _(grad_out: Tensor, x: Tensor, weight: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    return torch.empty_like(x), torch.empty_like(weight)


def _remember_pool(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, weight, start, member, eps, reduce = inputs
    ctx.save_for_backward(x, weight, start, member, output)
    ctx.options = (eps, reduce)


def _differentiate_pool(ctx: Any, grad_out: Tensor) -> tuple[Tensor | None, ...]:
    return (*_pool_normalised_backward(grad_out, *ctx.saved_tensors, *ctx.options), None, None, None, None)


_pool_normalised.register_autograd(_differentiate_pool, setup_context=_remember_pool)


@operation("ghr::add_unpooled")
def _add_unpooled(base: Tensor, x: Tensor, assignment: Tensor, start: Tensor, member: Tensor) -> Tensor:
    out = buffers.empty(tuple(base.shape), base)
    share(segments.add_unpooled, base.size(0), *map(as_array, (base, x, assignment, out)), least=PART)
    return out


@_add_unpooled.register_fake
def _(base: Tensor, x: Tensor, assignment: Tensor, start: Tensor, member: Tensor) -> Tensor:
    return torch.empty_like(base)


@operation("ghr::segment_sum")
def segment_sum(x: Tensor, start: Tensor, member: Tensor) -> Tensor:
    """Add up the rows of every cluster's members."""
    out = buffers.empty((start.numel() - 1, x.size(1)), x)
    share(segments.segment_sum, out.size(0), *map(as_array, (x.contiguous(), start, member, out)), least=PART)
    return out


@segment_sum.register_fake
def _(x: Tensor, start: Tensor, member: Tensor) -> Tensor:
    return x.new_empty(start.numel() - 1, x.size(1))


def _remember_members(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[3:])


def _differentiate_unpool(ctx: Any, grad_out: Tensor) -> tuple[Tensor | None, ...]:
    return grad_out, segment_sum(grad_out, *ctx.saved_tensors), None, None, None


_add_unpooled.register_autograd(_differentiate_unpool, setup_context=_remember_members)
