"""How many threads a computation may use, and what becomes of them in a fork.

Threads of OpenMP do not come along into a process that is forked after they were started: PyTorch would wait for them
for ever, and numba ends such a process. So a fork of a process that computed here goes on with one thread of PyTorch
and without the kernels, which gives the same results, only slower.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

import numba
import torch

logger = logging.getLogger(__name__)
_started = _kernels_started = _lost = False


def available_cores() -> int:
    """Return the number of cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def use_threads(count: int) -> Iterator[None]:
    """Run PyTorch and numba on so many threads; numba on no more than it was started with, a fork on one."""
    before = torch.get_num_threads(), numba.get_num_threads()
    _set_threads(1 if _lost else count, min(count, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
    try:
        yield
    finally:
        _set_threads(*before)


def start_threads(*, kernels: bool) -> None:
    """Note that this process computes from now on.

    Args:
        kernels: Whether with the kernels, whose threads are then started.
    """
    global _started, _kernels_started
    _started = True
    if kernels and not _kernels_started:
        _set_threads(torch.get_num_threads(), numba.get_num_threads())
        _kernels_started = True


def has_lost_threads() -> bool:
    """Whether this process was forked from one that computed before, so that no kernel can run in it."""
    return _lost


def check_threads(what: str) -> None:
    """Raise a ValueError if the threads of this process were lost in a fork.

    Args:
        what: What needs them, as the start of a sentence.
    """
    if _lost:
        raise ValueError(
            f"{what} cannot compute here: this process was forked after threads had started, and a fork has none of "
            "them. Start processes by the method spawn or forkserver."
        )


def _set_threads(torch_count: int, numba_count: int) -> None:
    # Both may share one OpenMP, and numba's number would be PyTorch's too if it came last.
    numba.set_num_threads(numba_count)
    torch.set_num_threads(torch_count)


def _lose_threads() -> None:
    global _lost
    if _started and not _lost:
        _lost = True
        torch.set_num_threads(1)
        logger.info("This process was forked after a model had run, so it computes on one thread and without kernels.")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_lose_threads)
