"""The command as a process of its own, and Ctrl-C at any moment of it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ghr

GHR = [sys.executable, "-m", "ghr"]
PRESS = """
import os, signal, sys

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[-1]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Press())
from ghr.__main__ import main
main()
"""


def listen() -> None:
    """What a shell starts in its background, such as this suite, ignores Ctrl-C, and so would its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_the_version_needs_nothing_else():
    loaded = "import sys; from ghr.__main__ import main; main(); print(sorted({'torch', 'numpy'} & {*sys.modules}))"
    done = subprocess.run([sys.executable, "-c", loaded, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"ghr {ghr.__version__}\n[]\n"


@pytest.mark.parametrize("module", ["torch", "numpy", "ghr.models"])
def test_stopped_while_it_imports(module):
    command = [sys.executable, "-c", PRESS, "list", module]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=listen)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "ghr: stopped.\n")


AFTER = """
import os, signal, sys
from ghr import cli
def press():
    os.kill(os.getpid(), signal.SIGINT)
{moment}
from ghr.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("moment", "code", "said"),
    [("cli.main = press", 130, "ghr: stopped.\n"), ("import atexit; atexit.register(press)", -signal.SIGINT, "")],
    ids=["before the command", "after it"],
)
def test_stopped_between_import_and_end(moment, code, said):
    command = [sys.executable, "-c", AFTER.format(moment=moment), "list", "--benchmarks", "--quiet"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=listen)
    assert (done.returncode, done.stderr) == (code, said)


def processes_of(group: int) -> list[str]:
    """What runs in a process group."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, there = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(there) == group and state != "Z":
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue  # it has just ended
    return found


def train(folder: Path) -> tuple[list[str], str]:
    small = ["--set", "hidden_channels=4", "steps=2", "t_low=1", "--graphs", "10", "--epochs", "1000000"]
    return ["train", "rgg-sssp-small", *small, "--out", str(folder / "run"), "--data", str(folder / "data")], KEPT


def generate(folder: Path) -> tuple[list[str], str]:
    return ["data", "lrim-64-hard", "--graphs", "8000", "--workers", "2", "--out", str(folder)], ""


def search(folder: Path) -> tuple[list[str], str]:
    places = ["--out", str(folder / "search"), "--data", str(folder / "data")]
    vary = ["--vary", "lr=1e-4:1e-2:log", "--epochs", "1000000", "--processes", "2"]
    return ["search", "rgg-sssp-small", "--graphs", "10", *vary, *places], KEPT


KEPT = "; the same command goes on from the last whole epoch"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs to see the processes of a group")
@pytest.mark.parametrize(
    ("command", "begun"),
    [
        (train, lambda folder, running: (folder / "run" / "metrics.jsonl").exists()),
        # one that waits, one that imports what the others need: none of them has begun
        (generate, lambda folder, running: len(running) == 3),
        (generate, lambda folder, running: len(running) == 5),
        (search, lambda folder, running: len([*folder.glob("search/trials/*/metrics.jsonl")]) == 2),
    ],
    ids=["training", "imports of workers", "workers", "search"],
)
def test_stopped_while_it_works(tmp_path, command, begun):
    arguments, kept = command(tmp_path)
    process = subprocess.Popen(
        [*GHR, *arguments, "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=listen,
        env=os.environ | {"GHR_BACKEND": "torch"},  # nothing shall wait for compiled kernels
    )
    try:
        end = time.monotonic() + 600  # a machine that is busy with other things
        while process.poll() is None and not begun(tmp_path, processes_of(process.pid)):
            assert time.monotonic() < end, processes_of(process.pid)
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
        out, err = process.communicate(timeout=300)
        assert (process.returncode, out, err) == (130, "", f"ghr: stopped{kept}.\n")
        while processes_of(process.pid):
            assert time.monotonic() < end, processes_of(process.pid)
            time.sleep(0.05)
    finally:
        if processes_of(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
