"""One global step over all levels, Algorithm 2 of the paper, for every kind of update."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

S = TypeVar("S")


class LevelUpdate(Protocol[S]):
    """How one level of a batch is updated: its weights, and everything about the level that no state enters."""

    def read_above(self, above: S) -> Any:
        """Return what the level reads from the state above it, which stays the same while the level loops."""

    def read_below(self, below: S) -> Any:
        """Return what a coarse level reads from the state below it, at every one of its updates."""

    def update(self, state: S, above: Any, below: Any) -> S:
        """Return the state of a coarse level after one update; `above` is ``None`` at the top."""

    def repeat(self, state: S, above: Any, updates: int, outer: int, first: int = 1) -> S:
        """Return the state of the finest level after several updates, during the `outer`-th of the level above.

        The first of them is the `first`-th of the loop, which matters to a level that is told the time.
        """


def run_global_step(levels: Sequence[LevelUpdate[S]], states: Iterable[S], updates: Sequence[int]) -> list[S]:
    """Return all states after one global step: every update of a level is followed by the whole loop of the one below.

    Args:
        levels: The updates of the levels, fine to coarse.
        states: Their states.
        updates: How many updates each has in one pass of its loop.
    """
    current = list(states)
    _loop(levels, current, updates, len(current) - 1, 1)
    return current


def trace_global_step(
    levels: Sequence[LevelUpdate[S]], states: Sequence[S], updates: Sequence[int]
) -> Iterator[tuple[int, list[S]]]:
    """Give the updated level and all states after every single update of a step; arguments as of the whole step."""
    current = list(states)
    for k in _trace(levels, current, updates, len(current) - 1, 1):
        yield k, list(current)


def count_updates(updates: Sequence[int]) -> int:
    """Return how many single updates one global step has, with so many of every level in one pass of its loop."""
    return sum(math.prod(updates[k:]) for k in range(len(updates)))


# No closures: one that calls itself would hold on to the states until Python looks for cycles.
def _loop(levels: Sequence[LevelUpdate[S]], current: list[S], updates: Sequence[int], k: int, outer: int) -> None:
    """Run the loop of a level, with those below in it; the states change in their list."""
    above = levels[k].read_above(current[k + 1]) if k + 1 < len(current) else None
    if k == 0:
        current[0] = levels[0].repeat(current[0], above, updates[0], outer)
        return
    for inner in range(1, updates[k] + 1):
        current[k] = levels[k].update(current[k], above, levels[k].read_below(current[k - 1]))
        _loop(levels, current, updates, k - 1, inner)


def _trace(
    levels: Sequence[LevelUpdate[S]], current: list[S], updates: Sequence[int], k: int, outer: int
) -> Iterator[int]:
    """Do the same update by update, telling which level was updated."""
    above = levels[k].read_above(current[k + 1]) if k + 1 < len(current) else None
    for inner in range(1, updates[k] + 1):
        if k == 0:
            current[0] = levels[0].repeat(current[0], above, 1, outer, inner)
            yield 0
        else:
            current[k] = levels[k].update(current[k], above, levels[k].read_below(current[k - 1]))
            yield k
            yield from _trace(levels, current, updates, k - 1, inner)
