"""The benchmarks by name, with what is published about them.

Marks say how sure a published value is: [S] stated by the benchmark's own publication or code, [V] verified by
simulation, [I] inferred, [2] from a secondary summary only, [?] unknown.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ghr.datasets import LRIM, RGGSSSP, CachedDataset, ECHOChem, ECHOSynth, PeptidesStruct
from ghr.datasets.echo_chem import NUM_MOLECULES
from ghr.datasets.rgg import SPLITS as RGG_SPLITS
from ghr.paper.lrim_report import Table, lrim_report

Source = Literal["hub", "generate"]


@dataclass(frozen=True)
class Benchmark:
    """One benchmark: how to have it, and what it should look like.

    Args:
        title: Its name for people.
        load: ``(root, split, source, num_graphs, workers) -> dataset``; ``num_graphs`` counts all splits together and
            is ``None`` for all there are.
        unit: Unit of the targets, as its metric has it.
        metric: Name of its metric.
        sources: Where its graphs can come from, the preferred one first.
        splits: Its splits.
        published: For rows of the table of statistics, the published value with its mark.
        comparable: Whether numbers on the rebuilt set can stand beside published ones.
        report: More tables, headers with rows, about the first split.
    """

    title: str
    load: Callable[[Path, str, Source, int | None, int], CachedDataset]
    unit: str
    metric: str
    comparable: str
    sources: tuple[Source, ...] = ("generate", "hub")
    splits: tuple[str, ...] = ("train", "val", "test")
    published: Mapping[str, str] = field(default_factory=dict)
    report: Callable[[Any], list[Table]] | None = None


def _rgg(regime: str, root: Path, split: str, source: Source, num_graphs: int | None, workers: int) -> CachedDataset:
    count = None if num_graphs is None else max(1, num_graphs * RGG_SPLITS[split] // sum(RGG_SPLITS.values()))
    return RGGSSSP(root, regime, split, num_graphs=count)


def _echo(task: str, root: Path, split: str, source: Source, num_graphs: int | None, workers: int) -> CachedDataset:
    return ECHOSynth(root, task, split, source, num_graphs=num_graphs, workers=workers)


def _lrim(
    size: int, sigma: float, root: Path, split: str, source: Source, num_graphs: int | None, workers: int
) -> CachedDataset:
    return LRIM(root, size, sigma, split, source, num_graphs, workers=workers)


def _echo_chem(
    task: str, root: Path, split: str, source: Source, num_graphs: int | None, workers: int
) -> CachedDataset:
    count = None if num_graphs is None else max(1, num_graphs * NUM_MOLECULES[split] // sum(NUM_MOLECULES.values()))
    return ECHOChem(root, task, split, source, num_graphs=count, workers=workers)


def _peptides(root: Path, split: str, source: Source, num_graphs: int | None, workers: int) -> CachedDataset:
    count = None if num_graphs is None else max(1, num_graphs // 3)
    return PeptidesStruct(root, split, source, num_graphs=count, workers=workers)


def _rgg_benchmark(regime: str, published: dict[str, str]) -> Benchmark:
    return Benchmark(
        f"RGG-SSSP, {regime} regime",
        partial(_rgg, regime),
        unit="hops",
        metric="MAE",
        comparable="yes: generating is the protocol",
        sources=("generate",),
        published={"graphs": "6000 / 1000 / 1000 [S]"} | published,
    )


def _echo_benchmark(task: str, constant: str) -> Benchmark:
    return Benchmark(
        f"ECHO-Synth, {task}",
        partial(_echo, task),
        unit="hops",
        metric="MAE",
        comparable="nearly: families, diameters and targets agree, details of the generator and the split are inferred",
        published={
            "graphs": "10080 in all [S]",
            "nodes": "about 30 to several hundred [2]",
            "diameter": "17 to 40 [2]",
            "MAE of a constant": constant,
        },
    )


def _echo_chem_benchmark(task: str, unit: str, metric: str, count: str) -> Benchmark:
    return Benchmark(
        f"ECHO-Chem, {task}",
        partial(_echo_chem, task),
        unit=unit,
        metric=metric,
        comparable="no: other molecules, and labels by GFN2-xTB instead of DFT",
        published={"graphs": count, "diameter": "17 to 40 [2]"},
    )


def _lrim_benchmark(size: int, level: str, sigma: float, published: dict[str, str]) -> Benchmark:
    facts = {
        "graphs": "8000 / 1000 / 1000 [S]",
        "nodes": f"{size * size} [S]",
        "edges": f"{4 * size * size}, half of them stored [S]",
        "degree": "4 [S]",
        "diameter": f"{size} [S]",
    }
    return Benchmark(
        f"LRIM-{size}-{level}",
        partial(_lrim, size, sigma),
        unit="J",
        metric="log10 MSE",
        comparable=_lrim_comparable(size, level),
        published=facts | published,
        report=lrim_report,
    )


def _lrim_comparable(size: int, level: str) -> str:
    if (size, level) == (16, "hard"):
        return "yes: on all 10,000 graphs the published oracle errors are met"
    if size <= 32:
        return "if the oracle errors above are near the published ones; few graphs scatter"
    if size <= 128:
        return "unchecked: the temperature is fitted or follows the trend of the sizes"
    return "no: the published sets do not follow the trend of the sizes"


BENCHMARKS: dict[str, Benchmark] = {
    "rgg-sssp-small": _rgg_benchmark("small", {"nodes": "40 to 60 [S]", "degree": "12 away from the border [S]"}),
    "rgg-sssp-large": _rgg_benchmark(
        "large", {"nodes": "300 to 350, test to 500 [S]", "degree": "12 [S], by the code 6 [I]"}
    ),
    "echo-sssp": _echo_benchmark("sssp", "about 5.7 [V]"),
    "echo-ecc": _echo_benchmark("ecc", "about 5.3 to 5.5 [V]"),
    "echo-diam": _echo_benchmark("diam", "about 6.0 [V]"),
    "echo-charge": _echo_chem_benchmark("charge", "e", "MAE in 1e-3 e", "about 170000 in all [2]"),
    "echo-energy": _echo_chem_benchmark("energy", "log10 energy", "MAE after 10**", "about 196000 in all [2]"),
    "peptides-struct": Benchmark(
        "Peptides-struct",
        _peptides,
        unit="standard deviations",
        metric="MAE",
        comparable="no: random peptides, and conformations of another origin",
        published={
            "graphs": "10873 / 2331 / 2331 [S]",
            "nodes": "150.94 [S]",
            "edges": "307.30 [S]",
            "diameter": "56.99 [S]",
        },
    ),
    "lrim-16-hard": _lrim_benchmark(16, "hard", 0.6, {"target mean": "-2.79 [V]", "target std": "4.66 [V]"}),
    "lrim-16-easy": _lrim_benchmark(16, "easy", 1.5, {}),
    "lrim-32-hard": _lrim_benchmark(32, "hard", 0.6, {}),
    "lrim-32-easy": _lrim_benchmark(32, "easy", 1.5, {}),
    "lrim-64-hard": _lrim_benchmark(64, "hard", 0.6, {}),
    "lrim-64-easy": _lrim_benchmark(64, "easy", 1.5, {}),
    "lrim-128-hard": _lrim_benchmark(128, "hard", 0.6, {}),
    "lrim-128-easy": _lrim_benchmark(128, "easy", 1.5, {}),
    "lrim-256-hard": _lrim_benchmark(256, "hard", 0.6, {}),
    "lrim-256-easy": _lrim_benchmark(256, "easy", 1.5, {}),
}
