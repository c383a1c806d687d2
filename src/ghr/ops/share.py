"""Work that threads share: ranges of rows or of parts of the nodes, each done by one thread.

Numba's own parallel loops compile everything they call again for every loop, which takes minutes for large kernels.
Kernels here are compiled once, for a range; they let go of Python's lock while they run.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
from torch import Tensor

PIECES = 8  # ranges for every thread: one that is held up leaves the others to the rest


def share(work: Callable[..., None], count: int, *args: Any, least: int = 1) -> None:
    """Call ``work(first, last, *args)`` so that the ranges cover all of `count`, on as many threads as numba has.

    What becomes of a row must not depend on which others are in its range.

    Args:
        work: A kernel.
        count: Number of rows or parts.
        args: What else the kernel takes.
        least: Rows that are worth a range.
    """
    threads = min(numba.get_num_threads(), count // least)
    if threads <= 1:
        work(0, count, *args)
        return
    pieces = min(count // least, PIECES * threads)
    left = iter(range(pieces))  # handing out the next one is atomic

    def take() -> None:
        for piece in left:
            work(count * piece // pieces, count * (piece + 1) // pieces, *args)

    others = [_pool(threads - 1).submit(take) for _ in range(threads - 1)]
    try:
        take()
    finally:
        for _ in left:  # after an error, what nobody has begun stays undone
            pass
        for other in others:
            if not other.cancel():
                other.exception()  # wait: it works on the same arrays
    for other in others:
        if not other.cancelled():
            other.result()


def spans(updates: int, alone: Tensor) -> list[tuple[int, int]]:
    """Return which updates, from one to before another, parts may run before they wait for each other.

    Args:
        updates: Number of updates.
        alone: Whether no edge leads from part to part; as in :class:`~ghr.ops.Neighbours`.
    """
    return [(0, updates)] if alone.item() else [(update, update + 1) for update in range(updates)]


_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}


def _pool(threads: int) -> ThreadPoolExecutor:
    """Return the threads of this process: those of a process that forked it are not in it."""
    key = (os.getpid(), threads)
    if key not in _pools:
        _pools[key] = ThreadPoolExecutor(threads, thread_name_prefix="ghr")
    return _pools[key]
