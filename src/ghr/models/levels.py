"""The weights of all levels of the hierarchy, and what they make of a batch."""

import math
from collections.abc import Iterable, Sequence
from typing import cast

from torch import Tensor, nn

from ghr.hierarchy.data import Level
from ghr.models.cell import LevelCell, LevelCellUpdate, prepare_edges
from ghr.models.state import Encoded
from ghr.nn.conv import Edges
from ghr.ops import Members, Pool, kernels_for, sort_members


class LevelCells(nn.ModuleList):
    """The weights of every level, fine to coarse; levels beyond the last share those of the last."""

    def of(self, k: int) -> LevelCell:
        """Return the weights of level `k`."""
        return cast(LevelCell, self[min(k, len(self) - 1)])

    def begin(self, x: Tensor, levels: Sequence[Level]) -> tuple[Tensor, ...]:
        """Return the states before the first step, of the type and on the device of `x`."""
        return tuple(self.of(k).initial(x, level.num_nodes) for k, level in enumerate(levels))

    def encode_edges(self, levels: Sequence[Level]) -> tuple[list[Tensor | None], tuple[Edges, ...]]:
        """Return the encoded edge features of every level, and its edges as message passing takes them."""
        encoded = [self.of(k).edge_encoder(level, f"Level {k}") for k, level in enumerate(levels)]
        edges = (prepare_edges(self.of(k).conv, level, encoded[k]) for k, level in enumerate(levels))
        return encoded, tuple(edges)

    def update_of(
        self, k: int, encoded: Encoded, down: nn.ModuleList, time: nn.Module | None, pool: Pool
    ) -> LevelCellUpdate:
        """Return how the state of level `k` of a batch is updated.

        Args:
            k: The level.
            encoded: The batch.
            down: The maps :math:`W''` of every level but the coarsest; levels beyond the last share the last.
            time: The map :math:`W^{time}` of a model that is told the step.
            pool: How a cluster reads its members.
        """
        above = None
        if k < len(encoded.levels) - 1:
            above = (down[min(k, len(down) - 1)], encoded.levels[k + 1], encoded.members[k + 1])
        return LevelCellUpdate(
            self.of(k),
            encoded.levels[k],
            below=(self.of(k - 1), encoded.members[k]) if k > 0 else None,
            pool=pool,
            above=above,
            x=encoded.x if k == 0 else None,
            time=time if k == 0 else None,
        )

    def shrink(self, steps: int, updates: Sequence[int]) -> None:
        """Divide the updates of every level by their number.

        Args:
            steps: Number of global steps.
            updates: Updates of every level in one pass of its loop, fine to coarse.
        """
        for k, cell in enumerate(cast(Iterable[LevelCell], self)):
            cell.conv.shrink(1 / (steps * math.prod(updates[k:])))


def sort_levels(levels: Sequence[Level], like: Tensor) -> tuple[Members | None, ...]:
    """Return for every level the nodes below sorted by it, where kernels compute; none at level 0."""
    sort = kernels_for(like)
    return tuple(
        sort_members(level.assignment, level.num_nodes) if sort and level.assignment is not None else None
        for level in levels
    )
