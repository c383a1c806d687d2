import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tqdm import tqdm

from ghr.cli.together import move_bar, run_together


def end(folder):
    """Fail where another process was first."""
    try:
        (folder / "first").touch(exist_ok=False)
    except FileExistsError:
        (folder / "second").touch()
        sys.exit(2)


def test_processes_that_fail_are_counted(tmp_path):
    looks = []
    assert run_together(end, (tmp_path,), 2, lambda: looks.append(1)) == 1
    assert len([*tmp_path.iterdir()]) == 2
    assert looks


def sleep(folder):
    """Say who sleeps, and sleep for longer than a test may take."""
    (folder / str(os.getpid())).touch()
    time.sleep(60)


def is_there(pid):
    """Return whether a process is there and no zombie; orphans may wait for an init that never asks for them."""
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "\nState:\tZ" not in status.read_text()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells of a process in /proc")
def test_processes_end_with_the_one_that_watches_over_them(tmp_path):
    code = f"from test_together import *; run_together(sleep, (Path({str(tmp_path)!r}),), 2, lambda: None)"
    watcher = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parent)
    wait_until(lambda: len([*tmp_path.iterdir()]) == 2)
    watcher.kill()
    watcher.wait(20)
    pids = [int(file.name) for file in tmp_path.iterdir()]
    try:
        wait_until(lambda: not any(map(is_there, pids)))
    finally:
        for pid in filter(is_there, pids):
            os.kill(pid, signal.SIGKILL)


def wait_until(true, seconds=40):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_bar_goes_where_the_work_is():
    with tqdm(total=5, initial=1, file=io.StringIO()) as bar:
        move_bar(bar, 3)
        assert bar.n == 3
