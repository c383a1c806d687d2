"""One level of a batch with min-plus message passing, and its update."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ghr.hierarchy.data import Level
from ghr.nn.min_plus import MinPlusCell
from ghr.ops import Members, Neighbours, add_unpooled, min_plus
from ghr.ops.min_plus_loop import min_plus_loop


class Ways(NamedTuple):
    """Edges with what each adds to a message.

    Attributes:
        edge_index: Source and target of every edge :math:`(2, E)`.
        cost: What it adds :math:`(E, d)`; one row stands for all edges alike.
        neighbours: The edges sorted by node, where kernels compute.
    """

    edge_index: Tensor
    cost: Tensor
    neighbours: Neighbours | None


class Rise(NamedTuple):
    """The way from a level up to its clusters and down again.

    Attributes:
        ways: From every node to its cluster.
        cost: The costs again, in the order of the nodes :math:`(N, d)`.
        members: The nodes sorted by cluster, where kernels compute.
    """

    ways: Ways
    cost: Tensor
    members: Members | None


class MinPlusEncoded(NamedTuple):
    """A batch with its costs: computed once, read at every step.

    Attributes:
        levels: The hierarchy.
        caps: For every level, the value of a node that nothing has reached :math:`(N_k, 1)`.
        injection: What marked nodes take off :math:`(N, d)`.
        ways: The edges of every level with their costs.
        rises: For every level but the coarsest, the way up to the next.
        edge_attr: None.
        num_graphs: Number of graphs in the batch.
        config: That of the model.
    """

    levels: tuple[Level, ...]
    caps: tuple[Tensor, ...]
    injection: Tensor
    ways: tuple[Ways, ...]
    rises: tuple[Rise, ...]
    edge_attr: Tensor | None
    num_graphs: int
    config: Mapping[str, Any]


class MinPlusUpdate:
    """The update of one level of a batch: the smallest of what arrives, mixed by the cell.

    Args:
        cell: The weights, the same on every level.
        encoded: The batch.
        k: Number of the level.
    """

    def __init__(self, cell: MinPlusCell, encoded: MinPlusEncoded, k: int) -> None:
        self.cell, self.cap, self.ways = cell, encoded.caps[k], encoded.ways[k]
        self.injection = encoded.injection if k == 0 else None
        self.up = encoded.rises[k - 1].ways if k > 0 else None
        self.down = (encoded.rises[k], encoded.levels[k + 1].clusters) if k + 1 < len(encoded.levels) else None

    def read_above(self, above: Tensor) -> Tensor:
        """Return what arrives from the clusters."""
        if self.down is None:
            raise ValueError("Nothing is above the coarsest level.")
        rise, clusters = self.down
        return torch.minimum(add_unpooled(rise.cost, above, clusters, rise.members), self.cap)

    def read_below(self, below: Tensor) -> Tensor:
        """Return the state below; what arrives from it is compared with everything else at once."""
        return below

    def update(self, state: Tensor, above: Tensor | None, below: Tensor | None) -> Tensor:
        """Update the level once."""
        first = self.cap.expand(-1, self.cell.channels) if above is None else above
        if below is not None and self.up is not None:
            first = _arrive(below, self.up, first)
        return self.cell(_arrive(state, self.ways, first), self.cap, self.injection)  # type: ignore[no-any-return]

    def repeat(self, state: Tensor, above: Tensor | None, updates: int, outer: int, first: int = 1) -> Tensor:
        """Update the graph itself, in one fused operation where the kernels compute."""
        neighbours, cap = self.ways.neighbours, self.cap
        if neighbours is None:
            for _ in range(updates):
                state = self.update(state, above, None)
            return state
        return min_plus_loop(
            state,
            self.ways.cost,
            neighbours,
            cap if above is None else above,
            cap,
            cap.new_zeros(1, 1) if self.injection is None else self.injection,
            self.cell.mix_in.weight,
            self.cell.mix_out.weight,
            updates=updates,
        )


def _arrive(x: Tensor, ways: Ways, first: Tensor) -> Tensor:
    """Return the smallest of `first` and of what comes along the edges."""
    return min_plus(x, ways.cost, ways.edge_index, first, ways.neighbours)
