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

from ghr.ops.kernels.team import ALONE

PIECES = 32  # that the share of a thread has at most: one that is held up leaves the last of them to the rest


def share(work: Callable[..., None], count: int, *args: Any, least: int = 1) -> None:
    """Run a kernel on ranges that cover all of `count`, on as many threads as numba has.

    What becomes of a row must not depend on which others are in its range.

    Args:
        work: A kernel, as in :mod:`ghr.ops.kernels.team`.
        count: Number of rows or parts.
        args: What else the kernel takes.
        least: Rows that are worth a range.
    """
    threads = min(numba.get_num_threads(), count // least)
    if threads <= 1:
        work(ALONE, 0, count, *args)
        return
    step, (parallel, number) = max(least, count // (PIECES * threads)), _find_team()
    if parallel and os.getpid() == _FIRST:
        work((parallel, number, threads, step), 0, count, *args)
        return
    ranges = [(first, min(first + step, count)) for first in range(0, count, step)]
    list(_pool(threads).map(lambda range_: work(ALONE, *range_, *args), ranges))


def spans(updates: int, alone: Tensor) -> list[tuple[int, int]]:
    """Return which updates, from one to before another, parts may run before they wait for each other.

    Args:
        updates: Number of updates.
        alone: Whether no edge leads from part to part; as in :class:`~ghr.ops.Neighbours`.
    """
    return [(0, updates)] if alone.item() else [(update, update + 1) for update in range(updates)]


_FIRST = os.getpid()  # threads of OpenMP do not come along into a process that is forked
_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}


@lru_cache
def _find_team() -> tuple[int, int]:
    """Return where GNU's OpenMP, if PyTorch computes with it, starts a parallel region and numbers threads; else zeros.

    Threads of our own would wait for a core: those of PyTorch spin for milliseconds after every operation.
    """
    try:
        library = ctypes.CDLL(None)
        functions = (library.GOMP_parallel, library.omp_get_thread_num)
    except (AttributeError, OSError, TypeError):
        return 0, 0
    parallel, number = (ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions)
    return parallel, number


def _pool(threads: int) -> ThreadPoolExecutor:
    """Return the threads of this process: those of a process that forked it are not in it."""
    key = (os.getpid(), threads)
    if key not in _pools:
        _pools[key] = ThreadPoolExecutor(threads, thread_name_prefix="ghr")
    return _pools[key]
