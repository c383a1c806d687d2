"""Ctrl-C with several processes: a terminal sends it to all of them, but one of them shall answer, in one line."""

import signal
import threading
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
    with _wait():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _wait() -> Iterator[None]:
    """Put off Ctrl-C, which the system may give to other threads, until the end of a block."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    pressed = []
    signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if pressed:
            signal.raise_signal(signal.SIGINT)


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
