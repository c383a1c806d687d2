"""What level 1 reads from below where the nodes of a graph are run in parts."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from ghr.models.cell import LevelCellUpdate, LevelState
from ghr.ops import Above


class Level1:
    """Level 1 of a run in parts; what it reads from below is the matter of a subclass.

    Args:
        inner: Its update, as on a whole graph.
    """

    def __init__(self, inner: LevelCellUpdate) -> None:
        self.inner = inner

    def read_above(self, above: LevelState) -> Above:
        """Return what is read from above."""
        return self.inner.read_above(above)

    def update(self, state: LevelState, above: Above | None, below: Tensor) -> LevelState:
        """Update the level once."""
        return self.inner.update(state, above, below)


class Noting(Level1):
    """Notes what is read from below.

    Args:
        inner: Its update.
        notes: Where to write, one place for every time it reads; ``None`` to note nothing.
    """

    def __init__(self, inner: LevelCellUpdate, notes: Iterator[Tensor] | None) -> None:
        super().__init__(inner)
        self.notes = notes

    def read_below(self, below: LevelState) -> Tensor:
        """Return the pooled states, which may lie on another device than the level."""
        pooled = self.inner.read_below(below._replace(state=below.state.to(self.inner.level.batch.device)))
        if self.notes is not None:
            next(self.notes).copy_(pooled)
        return pooled


class Reading(Level1):
    """Reads a part as it is and all else as it was noted.

    Args:
        inner: Its update.
        noted: What was noted, for every time it reads.
        own: Which clusters belong to the part :math:`(N_1, 1)`.
        inside: Through which of them gradients flow :math:`(N_1, 1)`.
    """

    def __init__(self, inner: LevelCellUpdate, noted: Tensor, own: Tensor, inside: Tensor) -> None:
        super().__init__(inner)
        self.noted, self.own, self.inside = iter(noted), own, inside

    def read_below(self, below: LevelState) -> Tensor:
        """Return the pooled states of the part, and what was noted of all others."""
        pooled = self.inner.read_below(below)
        joined: Tensor = _Join.apply(pooled, next(self.noted), self.own, self.inside)  # type: ignore[no-untyped-call]
        return joined


class _Join(torch.autograd.Function):
    """Values of the part's own clusters as they are, of all others as noted; gradients to all that are inside."""

    @staticmethod
    def forward(ctx: Any, pooled: Tensor, noted: Tensor, own: Tensor, inside: Tensor) -> Tensor:
        ctx.save_for_backward(inside)
        return torch.where(own, pooled, noted)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        (inside,) = ctx.saved_tensors
        return grad * inside, None, None, None
