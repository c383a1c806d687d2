"""Ways to move values within a level by linear maps."""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ghr.ops import aggregate_sum, count_items
from ghr.ops.stencil import stencil


class Way(NamedTuple):
    """Where the offsets of a stencil lead.

    Attributes:
        table: The node at every offset :math:`(N, S)`; the s-th column from the end leads back where the s-th leads.
        shape: Number and side of the lattices in place of the table, where offsets are those of a square and all
            lattices have one side.
    """

    table: Tensor | None
    shape: tuple[int, int] | None = None


class Stencil(nn.Module):
    r"""Adds up what stands at fixed offsets, each mapped by a matrix of its own, :math:`u_i = \sum_o W_o\, v_{i + o}`.

    Args:
        offsets: Number of offsets.
        channels: Width :math:`m` of the values.
        out_channels: Width of the result.
        mask: Which entries of the matrices may differ from zero :math:`(S m, \text{out\_channels})`; ``None`` for all.

    Shapes:
        - **values:** :math:`(N, m)`
        - **output:** :math:`(N, \text{out\_channels})`
    """

    mask: Tensor | None

    def __init__(self, offsets: int, channels: int, out_channels: int, mask: Tensor | None = None) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(offsets * channels, out_channels))
        self.register_buffer("mask", mask, persistent=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        bound = 0.5 / math.sqrt(self.weight.size(0))
        nn.init.uniform_(self.weight, -bound, bound)

    @property
    def matrices(self) -> Tensor:
        """All matrices, one below the other."""
        return self.weight if self.mask is None else self.weight * self.mask

    def forward(self, values: Tensor, way: "Way") -> Tensor:
        """Move values."""
        if way.shape is not None:
            return stencil(values, self.matrices, *way.shape)
        gathered: Tensor = _Gather.apply(values, way.table)  # type: ignore[no-untyped-call]
        return gathered.flatten(1) @ self.matrices


class Hops(nn.Module):
    r"""Adds up what message passing brings from each number of hops, :math:`u = \sum_h \hat A^h v\, W_h`.

    :math:`\hat A` is the adjacency matrix, every edge divided by the roots of the degrees of its ends.

    Args:
        hops: Largest number of hops.
        channels: Width :math:`m` of the values.
    """

    def __init__(self, hops: int, channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(hops + 1, channels, channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        bound = 0.5 / math.sqrt(self.weight.size(0) * self.weight.size(1))
        nn.init.uniform_(self.weight, -bound, bound)

    def forward(self, values: Tensor, way: tuple[Tensor, Tensor]) -> Tensor:
        """Move values along edges, which come with what :func:`edge_rates` returned."""
        edge_index, rate = way
        moved = values @ self.weight[0]
        for weight in self.weight[1:]:
            values = aggregate_sum(rate * values.index_select(0, edge_index[0]), edge_index[1], values.size(0))
            moved = moved + values @ weight
        return moved


def edge_rates(edge_index: Tensor, num_nodes: int, dtype: torch.dtype) -> Tensor:
    """Return one over the root of the product of the degrees at both ends of every edge, :math:`(E, 1)`."""
    root = [count_items(ends, num_nodes).clamp(min=1).to(dtype).rsqrt() for ends in edge_index]
    return (root[0][edge_index[0]] * root[1][edge_index[1]]).unsqueeze(1)


class _Gather(torch.autograd.Function):
    """Rows at every offset; its gradient gathers along the opposite offsets, which is faster than to scatter."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, table: Tensor) -> Tensor:
        ctx.save_for_backward(table)
        return values.index_select(0, table.flatten()).view(*table.shape, -1)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (table,) = ctx.saved_tensors
        offsets = table.size(1)
        rows = table.flip(1) * offsets + torch.arange(offsets, device=table.device)
        taken = grad.reshape(-1, grad.size(2)).index_select(0, rows.flatten())
        return taken.view(*table.shape, -1).sum(dim=1), None
