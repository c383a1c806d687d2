"""Geometric blocks of a periodic square lattice."""

import math

import torch
from torch import Tensor


class GridBlocks:
    r"""Cuts a periodic :math:`L \times L` lattice into :math:`b \times b` blocks.

    Nodes are numbered row by row, as are the blocks. Coarse edges carry the Euclidean distance between block centres,
    taken the shorter way round the torus and measured in spacings of the finest lattice.

    Args:
        block: Side :math:`b` of a block; it must divide the side :math:`L` of the lattice.

    Example:
        >>> GridBlocks(block=2)(torch.empty(2, 0, dtype=torch.long), num_nodes=16).view(4, 4)
        tensor([[0, 0, 1, 1],
                [0, 0, 1, 1],
                [2, 2, 3, 3],
                [2, 2, 3, 3]])
    """

    def __init__(self, block: int = 2) -> None:
        if not isinstance(block, int) or block < 2:
            raise ValueError(f"GridBlocks needs blocks of side 2 or more; got block={block!r}.")
        self.block = block

    def __call__(self, edge_index: Tensor, num_nodes: int) -> Tensor:
        """Return the block of every node."""
        side = _side(num_nodes)
        if side % self.block:
            raise ValueError(f"Blocks of side {self.block} do not tile a lattice of side {side} ({num_nodes} nodes).")
        row, column = _coordinates(num_nodes, edge_index.device)
        return (row // self.block) * (side // self.block) + column // self.block

    def coarse_edge_attr(self, coarse_edge_index: Tensor, assignment: Tensor, num_clusters: int) -> Tensor:
        r"""Return the minimum-image distance between the centres that each coarse edge joins, :math:`(E', 1)`.

        Args:
            coarse_edge_index: Edges between the blocks :math:`(2, E')`.
            assignment: Block of every node of the finest lattice :math:`(N)`.
            num_clusters: Number of blocks.
        """
        side = _side(assignment.numel())
        position = torch.stack(_coordinates(assignment.numel(), assignment.device), dim=1).double()
        count = torch.bincount(assignment, minlength=num_clusters).unsqueeze(1)
        centre = position.new_zeros(num_clusters, 2).index_add(0, assignment, position) / count
        source, target = coarse_edge_index
        offset = (centre[source] - centre[target]).abs()
        return torch.minimum(offset, side - offset).square().sum(dim=1, keepdim=True).sqrt()

    def __repr__(self) -> str:
        return f"GridBlocks(block={self.block})"


def _side(num_nodes: int) -> int:
    side = math.isqrt(num_nodes)
    if side * side != num_nodes:
        raise ValueError(f"GridBlocks needs a square lattice; {num_nodes} nodes are not a square number.")
    return side


def _coordinates(num_nodes: int, device: torch.device) -> tuple[Tensor, Tensor]:
    node = torch.arange(num_nodes, device=device)
    side = _side(num_nodes)
    return node // side, node % side
