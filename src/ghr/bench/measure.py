"""One workload by one implementation in a process of its own: seconds and peak memory.

``python -m ghr.bench.measure A ghr`` prints them as JSON. :func:`in_fresh_process` calls this.
"""

import argparse
import ctypes
import gc
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ghr.bench.model_work import ModelWork
from ghr.bench.workloads import Workload, select
from ghr.threads import available_cores, use_threads


@dataclass(frozen=True)
class Usage:
    """What a process needed.

    Attributes:
        build_seconds: Making the graphs and the model, imports not included.
        seconds: Every run of the work, the first one first.
        before: Resident bytes before the first run, with everything imported and built.
        peak: Most resident bytes while the work ran.
    """

    build_seconds: float
    seconds: list[float]
    before: int
    peak: int

    @property
    def above(self) -> int:
        """Bytes that the work took at its peak."""
        return self.peak - self.before


def in_fresh_process(
    workload: str,
    implementation: str,
    *,
    count: int | None = None,
    quick: bool = False,
    nodes: int | None = None,
    loops: tuple[int, int, int] | None = None,
    runs: int = 2,
    environment: Mapping[str, str] | None = None,
) -> Usage:
    """Measure in a new interpreter, whose memory starts from nothing.

    Args:
        workload: Name of a workload.
        implementation: ``"ghr"`` or ``"plain"``.
        count: Number of threads; all cores by default.
        quick: Shrink the workload.
        nodes: Run on one graph of this size instead.
        loops: Run with these ``steps``, ``t_high`` and ``t_low`` instead.
        runs: Times the work is done.
        environment: Variables to set for the process.
    """
    command = [sys.executable, "-m", "ghr.bench.measure", workload, implementation, "--runs", str(runs)]
    command += ["--threads", str(count or available_cores())]
    command += ["--quick"] if quick else []
    command += [] if nodes is None else ["--nodes", str(nodes)]
    command += [] if loops is None else ["--loops", *map(str, loops)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise ValueError(f"Measuring {workload} ({implementation}) in its own process failed: {last[0]}")
    return Usage(**json.loads(done.stdout.splitlines()[-1]))


def measure(workload: Workload, implementation: str, runs: int = 2) -> Usage:
    """Build and run a workload in this process."""
    start = time.perf_counter()
    data: Any = workload.load()
    work = workload.prepare(implementation, data)
    build_seconds = time.perf_counter() - start
    before = _forget_peak()
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return Usage(build_seconds, seconds, before, max(peak_bytes(), before))


def peak_bytes() -> int:
    """Return the most memory that was resident in this process, since its start or since the peak was forgotten."""
    try:
        return _status("VmHWM")
    except (OSError, ValueError):
        return _most_since_the_start()


def _forget_peak() -> int:
    """Reset the peak where the system can, and return the memory that is resident now."""
    gc.collect()
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)  # what building has freed would otherwise hide as much of the work's memory
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except (OSError, ValueError):
        return peak_bytes()


def _status(key: str) -> int:
    found = re.search(rf"^{key}:\s*(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    if found is None:
        raise ValueError(f"/proc/self/status has no {key}.")
    return 1024 * int(found.group(1))


def _most_since_the_start() -> int:
    try:
        import resource  # there is none on Windows
    except ImportError as error:
        raise ValueError("This system does not tell the memory of a process; use --no-memory.") from error
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main(arguments: list[str] | None = None) -> None:
    """Measure what the command line names and print it."""
    parser = argparse.ArgumentParser(prog="ghr.bench.measure", description="Seconds and memory of one workload.")
    parser.add_argument("workload")
    parser.add_argument("implementation", choices=["ghr", "plain"])
    parser.add_argument("--threads", type=int, default=available_cores())
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--loops", type=int, nargs=3)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args(arguments)
    for name in ("threads", "runs", "nodes"):
        value = getattr(given, name)
        if value is not None and value < 1:
            parser.error(f"--{name} must be at least 1; got {value}")
    workload = select([given.workload])[0]
    workload = workload.quick() if given.quick else workload
    if given.nodes is not None and isinstance(workload, ModelWork):
        workload = workload.sized(given.nodes)
    if given.loops is not None and isinstance(workload, ModelWork):
        workload = workload.looped(*given.loops)
    with use_threads(given.threads):
        print(json.dumps(asdict(measure(workload, given.implementation, given.runs))))


if __name__ == "__main__":
    main()
