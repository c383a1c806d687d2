"""Ctrl-C with several processes: a terminal sends it to all of them, but one of them shall answer, in one line."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import active_children


@contextmanager
def shield_children() -> Iterator[None]:
    """Let processes that are started inside never hear of Ctrl-C; this one hears of it afterwards, and ends them.

    Where the system has no signal masks, as on Windows, nothing is changed.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # started inside, it would lift the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def ending_children() -> Iterator[None]:
    """End processes that were started inside, by :mod:`multiprocessing`, where an exception leaves the block."""
    before = {child.pid for child in active_children()}
    try:
        yield
    except BaseException:
        for child in active_children():
            if child.pid not in before:
                child.terminate()
        raise
