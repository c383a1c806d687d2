"""Our implementation and the plain one in turns, and what else there is to know about a workload."""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from ghr.bench.floor import product_flops
from ghr.bench.measure import Usage, in_fresh_process
from ghr.bench.model_work import ModelWork
from ghr.bench.workloads import Workload
from ghr.progress import track
from ghr.threads import use_threads

SHORT = 0.2  # seconds that short works take turns for, in every repeat


def compare(workload: Workload, repeats: int) -> dict[str, Any]:
    """Run all implementations of a workload in turns on the same data; compare their results and their medians."""
    _warm_up(workload)
    data: Any = workload.load()
    works = {name: workload.prepare(name, data) for name in workload.implementations}
    turns = 1
    if workload.max_repeats is None:
        start = time.perf_counter()
        for work in works.values():
            work()
        turns = count_turns(time.perf_counter() - start)
    else:
        repeats = min(repeats, workload.max_repeats)
    seconds, results = interleave(works, repeats, turns)
    medians = {name: median(times) for name, times in seconds.items()}
    record: dict[str, Any] = {
        "name": workload.name,
        "title": workload.title,
        "targets": asdict(workload.targets),
        **workload.facts(data, results["ghr"]),
        "repeats": repeats,
        "seconds": seconds,
        "median": medians,
        "speedup": medians["plain"] / medians["ghr"] if "plain" in medians else None,
        "errors": workload.errors(works, results) if "plain" in results else {},
    }
    if isinstance(workload, ModelWork):
        record["product_flops"] = product_flops(workload, data)
    return record


def count_turns(seconds: float) -> int:
    """Return how many turns of all works a repeat has, by the seconds that one took."""
    return max(1, min(50, int(SHORT / max(seconds, 1e-6))))


def interleave(
    works: dict[str, Callable[[], Any]], repeats: int, turns: int = 1
) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Time the works one after the other, over and over; return the seconds of each and what it returned last.

    Args:
        works: What is timed, by its name.
        repeats: Times that this is done.
        turns: Times in a row within each, with memory cleared before the first only. Clearing it empties the caches of
            the processor, which slows down what is short and what training does not meet.
    """
    seconds: dict[str, list[float]] = {name: [] for name in works}
    results: dict[str, Any] = {}
    for _ in track(range(repeats), "repeats", unit="round"):
        for turn in range(turns):
            for name, work in works.items():
                if turn == 0:
                    gc.collect()
                start = time.perf_counter()
                results[name] = work()
                seconds[name].append(time.perf_counter() - start)
    return seconds, results


def compare_memory(workload: ModelWork, *, count: int, quick: bool) -> dict[str, Any]:
    """Measure the memory of both implementations, each in a process of its own."""
    usage = {name: in_fresh_process(workload.name, name, count=count, quick=quick) for name in ("ghr", "plain")}
    ours, plain = usage["ghr"], usage["plain"]
    return {
        **{name: {"before": each.before, "peak": each.peak, "above": each.above} for name, each in usage.items()},
        "ratio_peak": ours.peak / plain.peak,
        "ratio_above": ours.above / max(plain.above, 1),
    }


def scaling(workload: ModelWork, repeats: int) -> dict[str, Any]:
    """Time our implementation on one thread and on two, in turns."""
    _warm_up(workload)
    work = workload.prepare("ghr", workload.load())

    def on(count: int) -> Callable[[], None]:
        def run() -> None:
            with use_threads(count):
                work()

        return run

    seconds, _ = interleave({"1": on(1), "2": on(2)}, min(repeats, workload.max_repeats or repeats))
    return {"name": workload.name, "seconds": seconds, "speedup": median(seconds["1"]) / median(seconds["2"])}


def cold_start(workload: ModelWork, *, count: int, quick: bool) -> dict[str, Any]:
    """Time our first call in a new process: with no compiled code on disk, and again with it."""
    with TemporaryDirectory() as folder:
        environment = {"NUMBA_CACHE_DIR": str(Path(folder))}
        empty, filled = (
            in_fresh_process(workload.name, "ghr", count=count, quick=quick, environment=environment) for _ in range(2)
        )
    return {"name": workload.name, "empty": asdict(empty), "filled": asdict(filled)}


def growth(sizes: Sequence[int], *, count: int, runs: int = 3) -> list[dict[str, Any]]:
    """Measure our inference on one graph of each size, each in a process of its own; the first run does not count."""
    rows = []
    for nodes in track(sizes, "sizes", unit="graph"):
        usage: Usage = in_fresh_process("D", "ghr", count=count, nodes=nodes, runs=runs)
        rows.append({"nodes": nodes, "median": median(usage.seconds[1:]), "above": usage.above, **asdict(usage)})
    return rows


def _warm_up(workload: Workload) -> None:
    """Let everything be compiled and loaded on a tiny graph."""
    small = workload.quick()
    data: Any = small.load()
    for name in small.implementations:
        small.prepare(name, data)()
