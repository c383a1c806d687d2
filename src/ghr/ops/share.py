"""Work that threads share: parts of the nodes, each part done by one thread.

Numba's own parallel loops compile everything they call again for every loop, which takes minutes for large kernels.
Kernels here are compiled once, for a range of parts; they let go of Python's lock while they run.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numba
from torch import Tensor


def share(work: Callable[..., None], count: int, *args: Any) -> None:
    """Call ``work(first, last, *args)`` so that the ranges cover all of `count` parts, on as many threads as numba has.

    What becomes of a part must not depend on which others are in its range.
    """
    threads = min(numba.get_num_threads(), count)
    ends = [count * k // max(threads, 1) for k in range(threads + 1)]
    if threads <= 1:
        work(0, count, *args)
        return
    pool = _pool(threads - 1)
    others = [pool.submit(work, ends[k], ends[k + 1], *args) for k in range(1, threads)]
    try:
        work(ends[0], ends[1], *args)
    finally:
        wait(others)
    for other in others:
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
