"""The same results from one process or from many."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.context import BaseContext
from typing import TypeVar

from ghr.interrupts import ending_children, shield_children
from ghr.progress import track

Result = TypeVar("Result")


def in_order(
    function: Callable[[int], Result], indices: Sequence[int], *, workers: int, description: str
) -> list[Result]:
    """Return ``[function(index) for index in indices]``, computed by several processes if wanted.

    Args:
        function: Must depend on the index alone, and be known to other processes by name: a function of a module, or
            a ``functools.partial`` of one.
        indices: What it is called with.
        workers: Number of processes; with one, everything happens in this one.
        description: Title of the progress bar.
    """
    if workers == 1:
        return [function(index) for index in track(indices, description)]
    size = max(1, min(64, len(indices) // (4 * workers)))
    starts = range(0, len(indices), size)
    with ProcessPoolExecutor(workers, mp_context=_context(function)) as pool, ending_children():
        # Not pool.map(), which cancels what is left where it is interrupted: a pool that breaks stumbles over that.
        with shield_children():  # the processes start here
            parts = [pool.submit(_call, function, indices[start : start + size]) for start in starts]
        results = (result for part in parts for result in part.result())
        return [next(results) for _ in track(indices, description)]


def _call(function: Callable[[int], Result], indices: Sequence[int]) -> list[Result]:
    return [function(index) for index in indices]


def _context(function: Callable[[int], Result]) -> BaseContext:
    """Where the system can, copies of a fresh process with everything imported; otherwise fresh processes.

    Not copies of this one: they may inherit a lock that some thread holds.
    """
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([getattr(function, "func", function).__module__])
    from multiprocessing import forkserver

    with shield_children():
        forkserver.ensure_running()
    return context
