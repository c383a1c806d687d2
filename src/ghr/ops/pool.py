"""Features up the hierarchy (pool) and down again (unpool)."""

from typing import Literal, get_args

import torch
from torch import Tensor

from ghr.ops.aggregate import aggregate_sum

Pool = Literal["max", "sum", "mean"]


def check_pool(reduce: str) -> None:
    """Raise a ValueError for a pool that does not exist."""
    if reduce not in get_args(Pool):
        raise ValueError(f"Unknown pool {reduce!r}; known pools are {', '.join(get_args(Pool))}.")


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
