"""Slow work on many molecules: by several processes, kept part by part, and going on where it was stopped."""

import hashlib
import json
import logging
import os
import queue
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import SystemRandom
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load, save
from torch import Tensor

from ghr.files import write_bytes, write_text
from ghr.progress import track

PART = 16  # molecules that are lost at most, per process, when everything is stopped
VERSION = 1  # raised when a function gives other arrays for the same item

# A worker needs neither PyTorch nor the rest of this package, whose import would take it seconds: the packages above
# its modules stand empty. Isolated from the environment, it finds modules exactly where this process finds them.
BEGIN = """
import json, sys, types
sys.path[:] = json.loads(sys.argv[1])
for name, folder in json.loads(sys.argv[2]).items():
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from ghr.datasets.generators.molecules.worker import serve
serve()
"""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

logger = logging.getLogger(__name__)


class Outcome(NamedTuple):
    """Tensors of every item, or ``None`` and a reason."""

    results: list[dict[str, Tensor] | None]
    failures: dict[int, str]

    def write(self, path: Path, names: Sequence[str]) -> None:
        """List what was left out and why in a file; nothing is written where nothing was."""
        if self.failures:
            left_out = {names[index]: reason for index, reason in sorted(self.failures.items())}
            write_text(path, json.dumps({"asked": len(self.results), "left_out": left_out}, indent=2) + "\n")

    def report(self, what: str, names: Sequence[str]) -> None:
        """Say by a warning how many items were left out, and why."""
        if self.failures:
            counts = Counter(self.failures.values()).most_common()
            reasons = "; ".join(f"{count} because {reason}" for reason, count in counts)
            first = names[min(self.failures)]
            logger.warning(
                "%d of %d %s are left out: %s. The first is %s.",
                len(self.failures), len(self.results), what, reasons, first,
            )  # fmt: skip


def compute(
    function: str, items: Sequence[Mapping[str, Any]], folder: str | Path, *, workers: int = 1, description: str = ""
) -> Outcome:
    """Return what a function of :mod:`ghr.datasets.generators.molecules.worker` gives for every item.

    Results are kept in ``folder`` in parts of a few items each, found again by a hash of function and items; a part
    that cannot be read is computed again. They depend on the items alone, not on the number of processes. Programs that
    ask for the same at once share the parts. An item that fails, or whose process dies, is left out with its reason and
    stops nothing.

    Args:
        function: Name of the function.
        items: Its keyword arguments, as values that JSON can hold.
        folder: Where parts are kept; it is made.
        workers: Number of processes.
        description: Title of the progress bar.

    Raises:
        ImportError: Where RDKit or tblite is missing.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    parts = [list(items[start : start + PART]) for start in range(0, len(items), PART)]
    paths = [folder / f"{_key(function, part)}.safetensors" for part in parts]
    missing = [index for index, path in enumerate(paths) if _read(path) is None]
    damaged = {index for index in missing if paths[index].exists()}
    SystemRandom().shuffle(missing)  # so that processes started at once begin with different parts
    if missing:
        with ThreadPoolExecutor(workers) as pool, _crew(min(workers, len(missing))) as crew:
            work = [
                pool.submit(_work, crew, function, parts[index], paths[index], again=index in damaged)
                for index in missing
            ]
            try:
                for future in track(work, description):
                    future.result()
            finally:
                for future in work:
                    future.cancel()
    results: list[dict[str, Tensor] | None] = []
    failures: dict[int, str] = {}
    for part, path in zip(parts, paths, strict=True):
        stored = _read(path)
        if stored is None:
            raise OSError(f"{path} was removed or damaged while it was needed; run again to compute it once more.")
        failures |= {len(results) + int(index): reason for index, reason in stored[1].items()}
        results += [_below(f"{index}/", stored[0]) or None for index in range(len(part))]
    return Outcome(results, failures)


class _Worker:
    """A process that computes, started when it is first asked, and again after it died."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.closed = False

    def ask(self, function: str, item: Mapping[str, Any]) -> tuple[dict[str, NDArray[Any]], str | None]:
        """Return arrays, or the reason why there are none."""
        process = self.process = self.process or _start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"function": function, "item": dict(item)}).encode() + b"\n")
            process.stdin.flush()
            size = int.from_bytes(process.stdout.read(8), "big")
            answer = process.stdout.read(size)
        except BrokenPipeError:
            size, answer = 0, b""
        if self.closed:
            raise RuntimeError("The work was stopped.")
        if not size or len(answer) < size:
            self.stop()
            return {}, "its process died"
        says = _metadata(answer)
        if "missing" in says:
            raise ImportError(says["missing"])
        return load(answer), says.get("failure")

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


@contextmanager
def _crew(size: int) -> Iterator["queue.SimpleQueue[_Worker]"]:
    members = [_Worker() for _ in range(size)]
    crew: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
    for member in members:
        crew.put(member)
    try:
        yield crew
    finally:
        for member in members:
            member.closed = True  # so that its end is not taken for a failure
            if member.process is not None:
                member.process.kill()
        for member in members:
            member.stop()


def _start() -> "subprocess.Popen[bytes]":
    datasets = Path(__file__).parents[1]
    packages = {
        "ghr": str(datasets.parent),
        "ghr.datasets": str(datasets),
        "ghr.datasets.generators": str(datasets / "generators"),
    }
    return subprocess.Popen(
        [sys.executable, "-I", "-c", BEGIN, json.dumps(sys.path), json.dumps(packages)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | ONE_THREAD,
        start_new_session=True,  # Ctrl-C is for this process, which ends the others
    )


def _work(
    crew: "queue.SimpleQueue[_Worker]", function: str, part: Sequence[Mapping[str, Any]], path: Path, *, again: bool
) -> None:
    if path.exists() and not again:  # somebody else has made it meanwhile
        return
    worker = crew.get()
    try:
        tensors: dict[str, NDArray[Any]] = {}
        failures: dict[str, str] = {}
        for index, item in enumerate(part):
            arrays, reason = worker.ask(function, item)
            if reason is not None:
                failures[str(index)] = reason
            tensors |= {f"{index}/{name}": np.ascontiguousarray(array) for name, array in arrays.items()}
        write_bytes(path, save(tensors, {"part": json.dumps({"key": path.stem, "failures": failures})}))
    finally:
        crew.put(worker)


def _key(function: str, part: Sequence[Mapping[str, Any]]) -> str:
    text = json.dumps([VERSION, function, [dict(item) for item in part]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]] | None:
    """Tensors and failures of a part, or nothing where it is not there, cut off, or another one."""
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {}).get("part", "{}"))  # one entry: their order is not fixed
            if header.get("key") != path.stem:
                raise ValueError(f"it holds the part {header.get('key')!r}")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (the file is no dictionary)
            failures: dict[str, str] = header["failures"]
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        logger.warning("The part %s cannot be used and is computed again: %s", path, error)
        return None
    return tensors, failures


def _metadata(answer: bytes) -> dict[str, str]:
    length = int.from_bytes(answer[:8], "little")
    return dict(json.loads(answer[8 : 8 + length]).get("__metadata__") or {})


def _below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
