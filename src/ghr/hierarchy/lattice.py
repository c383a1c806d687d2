"""Periodic square lattices: where every offset leads, and which place a node has in its block."""

import copy
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from ghr.hierarchy.data import levels_of, num_graphs_of
from ghr.hierarchy.kernels.tori import find_far
from ghr.hierarchy.level import Level
from ghr.hierarchy.tensors import at_hand

NEXT = ((-1, 0), (1, 0), (0, -1), (0, 1))
OTHERS = "Coarsen lattices with Coarsen(GridBlocks(2)); build the model with directions=False for other graphs."


class Lattice:
    """A level whose graphs are periodic square lattices, with nodes numbered row by row.

    Args:
        level: The level.
        k: Its number, for sentences.
        num_graphs: How many graphs it has; to find that out would stall a GPU.
        advice: What to do with other graphs, the end of what is said of them.

    Raises:
        ValueError: If a graph is no such lattice.
    """

    def __init__(self, level: Level, k: int = 0, *, num_graphs: int | None = None, advice: str = OTHERS) -> None:
        if num_graphs is None:
            counts = torch.bincount(level.batch)
        else:
            counts = level.batch.new_zeros(num_graphs).scatter_add(0, level.batch, torch.ones_like(level.batch))
        sides = counts.double().sqrt().round().long()
        if at_hand(level.batch) and not torch.equal(sides * sides, counts):
            wrong = int(counts[sides * sides != counts][0])
            raise ValueError(f"Level {k} must hold square lattices, but one of its graphs has {wrong} nodes. {advice}")
        self.k, self.level, self.sides = k, level, sides
        # The number of lattices and their side, where all have the same: then they are images.
        same = at_hand(level.batch) and len(sides) > 0 and bool((sides == sides[0]).all())
        self.shape = (len(sides), int(sides[0])) if same else None
        self.starts = counts.cumsum(0) - counts
        if k == 0 and at_hand(level.edge_index):
            self._check_edges(advice)

    @cached_property
    def start(self) -> Tensor:
        """The first node of the lattice of every node."""
        return self.starts[self.level.batch]

    @cached_property
    def side(self) -> Tensor:
        """The side of the lattice of every node."""
        return self.sides[self.level.batch]

    @cached_property
    def row(self) -> Tensor:
        """The row of every node."""
        return self._local // self.side

    @cached_property
    def column(self) -> Tensor:
        """The column of every node."""
        return self._local % self.side

    @property
    def _local(self) -> Tensor:
        return torch.arange(self.level.num_nodes, device=self.starts.device) - self.start

    def look(self, offsets: Sequence[tuple[int, int]]) -> Tensor:
        """Return, for every node, the nodes that offsets (rows, columns) lead to: :math:`(N, S)`."""
        return torch.stack([self.move(*offset) for offset in offsets], dim=1)

    def move(self, rows: Tensor | int, columns: Tensor | int) -> Tensor:
        """Return the node that lies some rows and columns further, for every node :math:`(N)`."""
        row, column = (self.row + rows) % self.side, (self.column + columns) % self.side
        return self.start + row * self.side + column

    def places(self) -> Tensor:
        """Return the place of every node in its block of 2 x 2 nodes, row by row: :math:`(N)`."""
        return (self.row % 2) * 2 + self.column % 2

    def check_blocks(self, coarse: "Lattice") -> None:
        """Raise a ValueError if the level above stands for something else than blocks of 2 x 2 nodes."""
        clusters = coarse.level.clusters
        if at_hand(clusters) and not torch.equal(clusters, self._blocks(coarse)):
            raise ValueError(f"Level {coarse.k} must stand for blocks of 2 x 2 nodes. {OTHERS}")

    def _blocks(self, coarse: "Lattice") -> Tensor:
        """Return the block that every node is in."""
        count, side = coarse.shape or (0, 0)
        if self.shape == (count, 2 * side):
            block = torch.arange(count * side * side, device=self.starts.device).view(count, side, 1, side, 1)
            return block.expand(-1, -1, 2, -1, 2).reshape(-1)
        return (self.row // 2) * (self.side // 2) + self.column // 2 + coarse.starts[self.level.batch]

    def images(self) -> list[Tensor]:
        """Return the nodes of all lattices as images :math:`(B, L, L)`, one tensor for each side above zero."""
        if self.shape is not None:
            count, side = self.shape
            return [torch.arange(self.level.num_nodes, device=self.start.device).view(count, side, side)]
        return [
            self.starts[self.sides == side].view(-1, 1, 1)
            + torch.arange(side * side, device=self.start.device).view(side, side)
            for side in sorted({*self.sides.tolist()} - {0})
        ]

    def join(self, rows: Sequence[Tensor]) -> Tensor:
        """Return rows of nodes in the order of the nodes.

        Args:
            rows: For each of :meth:`images` a row per node, :math:`(B L^2, d)`.
        """
        if len(rows) == 1:
            return rows[0]
        order = torch.cat([nodes.flatten() for nodes in self.images()])
        return torch.cat([*rows]).index_select(0, order.argsort())

    def find_gap(self) -> tuple[int, int] | None:
        """Return two nodes that stand next to each other without an edge between them; ``None`` if there are none."""
        source, target = self.level.edge_index
        beside = self.look(NEXT)
        leads = beside.new_zeros(beside.shape).index_add(0, source, (beside[source] == target.unsqueeze(1)).long()) > 0
        for there, back in ((1, 0), (3, 2)):  # down and right, each in one direction at least
            joined = leads[:, there] | leads[beside[:, there], back] | (self.side == 1)
            if not bool(joined.all()):
                first = int((~joined).nonzero()[0])
                return first, int(beside[first, there])
        return None

    def _check_edges(self, advice: str) -> None:
        source, target = self.level.edge_index.contiguous()
        first = find_far(*(each.numpy() for each in (source, target, self.level.batch, self.starts, self.sides)))
        if first >= 0:
            raise ValueError(
                f"The graph must be a periodic square lattice, numbered row by row, but an edge joins the nodes "
                f"{int(source[first])} and {int(target[first])}, which are not next to each other there. {advice}"
            )


def read_lattices(data: Data, reader: str) -> Lattice:
    """Return the lattices of a graph or batch, for a model that takes nothing else.

    Args:
        data: The graph or batch.
        reader: The name of the model.

    Raises:
        ValueError: If a graph is no periodic square lattice with nodes numbered row by row, or one of its edges lacks.
    """
    start = f"{reader} takes periodic square lattices alone, nodes numbered row by row"
    level = levels_of(data)[0]
    try:
        lattice = Lattice(level, num_graphs=num_graphs_of(data), advice="Take another model for other graphs.")
    except ValueError as error:
        raise ValueError(f"{start}. {error}") from error
    gap = lattice.find_gap() if at_hand(level.edge_index) else None
    if gap is not None:
        raise ValueError(
            f"{start}, but no edge joins the nodes {gap[0]} and {gap[1]}. Take another model for other graphs."
        )
    return lattice


def find_side(example: Any, default: int) -> int:
    """Return the side of the first of some graphs as if it were a lattice; the default where it cannot be one.

    Args:
        example: A graph, or a sequence of graphs.
        default: Another side.
    """
    count = levels_of(example if isinstance(example, Data) else example[0])[0].num_nodes
    side = math.isqrt(count)
    return side if side > 1 and side * side == count else default


def square_offsets(radius: int) -> tuple[tuple[int, int], ...]:
    """Return all offsets of at most `radius` rows and columns, such that the s-th from the end is opposite the s-th."""
    span = range(-radius, radius + 1)
    return tuple((row, column) for row in span for column in span)


def lattice_edges(size: int) -> Tensor:
    """Return the edges of a periodic square lattice in both directions, sorted, nodes row by row."""
    node = torch.arange(size * size).view(size, size)
    right, down = node.roll(-1, dims=1), node.roll(-1, dims=0)
    one_way = torch.stack([node.repeat(2, 1).view(-1), torch.cat([right, down]).view(-1)])
    edges: Tensor = torch.unique(torch.cat([one_way, one_way.flip(0)], dim=1), dim=1)
    return edges


def shift_lattices(data: Data) -> Data:
    """Return a batch of periodic lattices, each shifted by a random number of rows and columns.

    Everything that belongs to nodes goes along: inputs, targets, masks. The graph and its levels stay as they are.
    """
    level = levels_of(data)[0]
    count = num_graphs_of(data)
    lattice = Lattice(level, num_graphs=count)
    rows, columns = (torch.rand(count, device=level.batch.device)[level.batch] * lattice.side for _ in range(2))
    source = lattice.move(rows.long(), columns.long())
    shifted = copy.copy(data)
    for name in data.node_attrs():
        if name not in ("batch", "ptr") and not name.startswith("level"):
            shifted[name] = data[name][source]
    return shifted
