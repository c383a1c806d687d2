"""What operations that run several updates of a level have in common: room for states, and stages in turn."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ghr.ops.buffers import buffers
from ghr.ops.neighbours import as_array
from ghr.ops.share import share, spans


def make_room(updates: int, like: Tensor, *, keep: bool) -> Tensor:
    """Return room for the states between updates: for all of them or, where none is kept, for two in turn.

    Args:
        updates: Number of updates.
        like: A state.
        keep: Whether a gradient will ask for all of them.
    """
    return buffers.empty((updates - 1 if keep else min(updates - 1, 2), *like.shape), like)


def take_out(between: Tensor, *, keep: bool) -> Tensor:
    """Return the states between, if they are kept; what is not kept is no output of an operation."""
    return between if keep else between.new_empty(0, *between.shape[1:])


def fake_states(state: Tensor, updates: int, *, keep: bool) -> tuple[Tensor, Tensor]:
    """Return the last state and the states between as ``torch.compile`` sees them, without numbers."""
    return torch.empty_like(state), state.new_empty(updates - 1 if keep else 0, *state.shape)


def run_stages(
    kernel: Callable[..., None],
    stages: Sequence[int],
    parts: Tensor,
    alone: Tensor,
    updates: int,
    arrays: Sequence[Any],
    *,
    back: bool = False,
) -> None:
    """Run the stages of all updates on all parts: one after the other, each for all parts at once.

    Args:
        kernel: Takes a range of parts, a stage, where parts start, the updates from one to before another, the number
            of updates, and the arrays.
        stages: That of everything together, for parts that no edge joins, then the single ones.
        parts: Where parts start, as in :class:`~ghr.ops.Neighbours`.
        alone: Whether no edge leads from part to part.
        updates: Number of updates.
        arrays: What else the kernel takes.
        back: Whether to begin with the last update.
    """
    everything, *single = stages
    turns = spans(updates, alone)
    for begin, end in reversed(turns) if back else turns:
        for stage in (everything,) if alone.item() else single:
            share(kernel, parts.numel() - 1, stage, as_array(parts), begin, end, updates, *arrays)
