"""Several processes that work at the same thing, watched over by this one."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

from tqdm import tqdm

from ghr.interrupts import ending_children, shield_children

LOOKS = 0.5  # seconds between two looks at how far they are


def run_together(target: Callable[..., None], arguments: tuple[Any, ...], count: int, look: Callable[[], None]) -> int:
    """Run a function in several fresh processes; return how many of them ended with an error.

    Ctrl-C is for this process alone, which ends the others. They also end where this one is killed.

    Args:
        target: A function of a module.
        arguments: What it is called with, in all processes.
        count: How many processes.
        look: Called every now and then while they work.
    """
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_work, args=(target, *arguments)) for _ in range(count)]
    with ending_children():
        with shield_children():
            for worker in workers:
                worker.start()
        for worker in workers:
            while worker.is_alive():
                worker.join(LOOKS)
                look()
    return sum(bool(worker.exitcode) for worker in workers)


def _work(target: Callable[..., None], *arguments: Any) -> None:
    # The lock that bars share between processes is a thing of the system, which a process that is ended would leave.
    tqdm.set_lock(threading.RLock())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    target(*arguments)


def _end_with_parent() -> None:
    """End this process once the one that started it is gone: it would work on unseen, and keep others from its runs."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def move_bar(bar: Any, done: int) -> None:
    """Move a progress bar to what is done."""
    bar.update(done - bar.n)
