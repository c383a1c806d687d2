import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from ghr.interrupts import ending_children, shield_children

PRINT = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"


def test_children_do_not_hear_of_it():
    with shield_children():
        inside = subprocess.run([sys.executable, "-c", PRINT], capture_output=True, text=True).stdout
    outside = subprocess.run([sys.executable, "-c", PRINT], capture_output=True, text=True).stdout
    assert (inside, outside) == ("True\n", "False\n")


def test_this_process_hears_of_it_afterwards():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it
    reached = False
    waiting, done = threading.Thread(target=lambda: done.wait()), threading.Event()
    waiting.start()  # the system gives it to any thread that does not block it
    with pytest.raises(KeyboardInterrupt), shield_children():  # noqa: PT012 (both lines belong to it)
        os.kill(os.getpid(), signal.SIGINT)
        reached = True
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler
    done.set()
    assert reached


def test_children_end_with_the_block_that_fails():
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    before, inside = (context.Process(target=time.sleep, args=(600,), daemon=True) for _ in range(2))
    before.start()
    try:
        with pytest.raises(KeyboardInterrupt), ending_children():  # noqa: PT012
            inside.start()
            raise KeyboardInterrupt
        inside.join(60)
        assert inside.exitcode == -signal.SIGTERM
        assert before.is_alive()
    finally:
        before.terminate()
        before.join()
