"""Geometric blocks of a periodic square lattice."""

import math
from typing import Any, ClassVar

import torch
from torch import Tensor

from ghr.checks import check_whole
from ghr.hierarchy.tensors import MOST_NODES, check_edges, check_numbers, check_range, is_dense
from ghr.memory import check_memory


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

    options: ClassVar[tuple[str, ...]] = ("block",)

    def __init__(self, block: int = 2) -> None:
        self.block = check_whole("block", block, 2)

    @property
    def config(self) -> dict[str, Any]:
        """The options that build it again, as JSON holds them."""
        return {name: getattr(self, name) for name in self.options}

    def __call__(self, edge_index: Tensor, num_nodes: int) -> Tensor:
        """Return the block of every node.

        Args:
            edge_index: Edges :math:`(2, E)`.
            num_nodes: Number of nodes :math:`L^2`.
        """
        num_nodes = check_whole("num_nodes", num_nodes, 1, MOST_NODES)
        check_edges(edge_index, num_nodes)
        side = _find_side(num_nodes)
        if side % self.block:
            raise ValueError(f"Blocks of side {self.block} do not tile a lattice of side {side} ({num_nodes} nodes).")
        check_memory(f"A lattice of num_nodes={num_nodes:,}", 32 * num_nodes, "give the number of nodes of the graph")
        row, column = _find_coordinates(num_nodes, edge_index.device)
        return (row // self.block) * (side // self.block) + column // self.block

    def coarse_edge_attr(self, coarse_edge_index: Tensor, assignment: Tensor, num_clusters: int) -> Tensor:
        r"""Return the minimum-image distance between the centres that each coarse edge joins, :math:`(E', 1)`.

        Args:
            coarse_edge_index: Edges between the blocks :math:`(2, E')`.
            assignment: Block of every node of the finest lattice :math:`(N)`.
            num_clusters: Number of blocks.
        """
        count = assignment.numel() if is_dense(assignment) else 1
        check_numbers("assignment", assignment, count, "nodes")
        num_clusters = check_whole("num_clusters", num_clusters, 1, max(count, 1), also=", as many as there are nodes")
        check_edges(coarse_edge_index, num_clusters, "coarse_edge_index")
        check_range("assignment", assignment, num_clusters - 1)
        side = _find_side(count)
        position = torch.stack(_find_coordinates(count, assignment.device), dim=1).double()
        size = torch.bincount(assignment, minlength=num_clusters).unsqueeze(1)
        if not bool((size > 0).all()):
            raise ValueError(f"assignment has no node in block {int(size.argmin())}, so this block has no centre.")
        centre = position.new_zeros(num_clusters, 2).index_add(0, assignment, position) / size
        source, target = coarse_edge_index
        offset = (centre[source] - centre[target]).abs()
        return torch.minimum(offset, side - offset).square().sum(dim=1, keepdim=True).sqrt()

    def __repr__(self) -> str:
        return f"GridBlocks(block={self.block})"


def _find_side(num_nodes: int) -> int:
    side = math.isqrt(num_nodes)
    if side * side != num_nodes:
        raise ValueError(f"GridBlocks needs a square lattice; {num_nodes} nodes are not a square number.")
    return side


def _find_coordinates(num_nodes: int, device: torch.device) -> tuple[Tensor, Tensor]:
    node = torch.arange(num_nodes, device=device)
    side = _find_side(num_nodes)
    return node // side, node % side
