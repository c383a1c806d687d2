"""Work that threads share: ranges of rows or of parts of the nodes, each done by one thread.

Numba's own parallel loops compile everything they call again for every loop, which takes minutes for large kernels.
Kernels here are compiled once, for a range; they let go of Python's lock while they run.
"""

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numba
from torch import Tensor

PIECES = 8  # of these a thread's share has at least so many halves: one that is held up leaves them to the rest


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
    left = iter(_cut(count, threads, least))  # handing out the next one is atomic

    def take() -> None:
        for first, last in left:
            work(first, last, *args)

    _on_threads(threads, take)


def _cut(count: int, threads: int, least: int) -> list[tuple[int, int]]:
    """Return ranges that cover all of `count`, ever shorter ones: long ones cost few calls, short ones end together."""
    ranges, first = [], 0
    least = max(least, count // (PIECES * threads * 2), 1)
    while first < count:
        size = max((count - first) // (2 * threads), least)
        last = count if count - first - size < least else first + size
        ranges.append((first, last))
        first = last
    return ranges


def _on_threads(threads: int, take: Callable[[], None]) -> None:
    """Call a function on so many threads at once, this one among them; an error of any comes through at the end."""
    errors: list[BaseException] = []

    def member(_: Any = None) -> None:
        try:
            take()
        except BaseException as error:  # nothing may leave a thread that is not Python's
            errors.append(error)

    team = _team()
    if team is not None and os.getpid() == _FIRST:
        team(_Member(member), None, threads, 0)
    else:
        others = [_pool(threads - 1).submit(member) for _ in range(threads - 1)]
        member()
        for other in others:
            other.result()
    if errors:
        raise errors[0]


def spans(updates: int, alone: Tensor) -> list[tuple[int, int]]:
    """Return which updates, from one to before another, parts may run before they wait for each other.

    Args:
        updates: Number of updates.
        alone: Whether no edge leads from part to part; as in :class:`~ghr.ops.Neighbours`.
    """
    return [(0, updates)] if alone.item() else [(update, update + 1) for update in range(updates)]


_FIRST = os.getpid()  # threads of OpenMP do not come along into a process that is forked
_Member = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}


@lru_cache
def _team() -> Any:
    """Return what starts a parallel region of GNU's OpenMP, where PyTorch computes with it; ``None`` elsewhere.

    Threads of our own would wait for a core: those of PyTorch spin for milliseconds after every operation.
    """
    try:
        start = ctypes.CDLL(None).GOMP_parallel
    except (AttributeError, OSError, TypeError):
        return None
    start.argtypes, start.restype = (_Member, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint), None
    return start


def _pool(threads: int) -> ThreadPoolExecutor:
    """Return the threads of this process: those of a process that forked it are not in it."""
    key = (os.getpid(), threads)
    if key not in _pools:
        _pools[key] = ThreadPoolExecutor(threads, thread_name_prefix="ghr")
    return _pools[key]
