"""``ghr data``: a benchmark on this machine, its statistics and what it looks like."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import tyro
from torch_geometric.data import Data as Graph

from ghr.cli.table import table
from ghr.datasets import CachedDataset
from ghr.datasets.statistics import Spread, Statistics, describe
from ghr.files import explained
from ghr.paper.benchmarks import BENCHMARKS, Benchmark
from ghr.paper.sheet import draw_sheet

Task = Literal[
    "rgg-sssp-small",
    "rgg-sssp-large",
    "echo-sssp",
    "echo-ecc",
    "echo-diam",
    "echo-charge",
    "echo-energy",
    "peptides-struct",
    "lrim-16-hard",
    "lrim-16-easy",
    "lrim-32-hard",
    "lrim-32-easy",
    "lrim-64-hard",
    "lrim-64-easy",
    "lrim-128-hard",
    "lrim-128-easy",
    "lrim-256-hard",
    "lrim-256-easy",
]
SAMPLES = 12


@dataclass
class Data:
    """Download or generate a benchmark, print its statistics beside the published ones, draw a sheet of its graphs."""

    task: tyro.conf.Positional[Task]
    """The benchmark."""
    source: Literal["hub", "generate"] | None = None
    """The published files (needs a connection), or a rebuild on this machine; by default a rebuild."""
    out: Path = Path("data")
    """Folder of the graphs and of the sheet."""
    graphs: int | None = None
    """Graphs in all splits together, at least one in each, if not all."""
    workers: int = 1
    """Processes that generate where it takes long (not rgg-sssp); the graphs do not depend on it."""
    quiet: bool = False
    """No progress bar."""

    def run(self) -> None:
        """Load every split, print the table and write the sheet."""
        benchmark = BENCHMARKS[self.task]
        for name, value in {"--graphs": self.graphs, "--workers": self.workers}.items():
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1; got {value}.")
        source = self.source or benchmark.sources[0]
        if source not in benchmark.sources:
            raise ValueError(f"{self.task} has no source {source!r}; it has {', '.join(benchmark.sources)}.")
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise explained("make the folder", self.out, error) from error
        started = time.perf_counter()
        splits = {
            split: benchmark.load(self.out, split, source, self.graphs, self.workers) for split in benchmark.splits
        }
        seconds = time.perf_counter() - started
        print(f"{benchmark.title}, source {source}: ready in {seconds:.0f} s\n")
        print(statistics_table({split: describe(dataset) for split, dataset in splits.items()}, benchmark))
        first = next(iter(splits.values()))
        for header, rows in benchmark.report(first) if benchmark.report else []:
            print(f"\n{table(header, rows)}")
        comparable = "it is the published set" if source == "hub" else benchmark.comparable
        print(f"\nComparable with published numbers? {comparable[0].upper()}{comparable[1:]}.")
        sheet = self.out / f"{self.task}-{source}.png"
        self._draw(sheet, first, benchmark)
        print(f"Graphs  {first.processed_dir}")
        print(f"Sheet   {sheet}")

    def _draw(self, path: Path, dataset: CachedDataset, benchmark: Benchmark) -> None:
        graphs = [cast(Graph, dataset.get(index)) for index in range(min(SAMPLES, len(dataset)))]
        draw_sheet(path, graphs, title=benchmark.title, unit=benchmark.unit, scale=dataset.target_scale)


def statistics_table(splits: Mapping[str, Statistics], benchmark: Benchmark) -> str:
    """Return a table of statistics, one column per split and one for what is published.

    Args:
        splits: Statistics by split.
        benchmark: Gives the unit, the metric and the published values.
    """
    rows = {
        "graphs": [f"{each.graphs}" for each in splits.values()],
        "nodes": [_spread(each.nodes) for each in splits.values()],
        "edges": [_spread(each.edges) for each in splits.values()],
        "degree": [f"{each.degree:.2f}" for each in splits.values()],
        "diameter": [_spread(each.diameter) for each in splits.values()],
        "target mean": [f"{each.target_mean:.3f}" for each in splits.values()],
        "target std": [f"{each.target_std:.3f}" for each in splits.values()],
        "MAE of a constant": [f"{each.constant_mae:.3f}" for each in splits.values()],
        f"{benchmark.metric} of a constant": [f"{each.constant_metric:.3f}" for each in splits.values()],
    }
    header = [f"targets in {benchmark.unit}", *splits, "published"]
    return table(header, [[name, *cells, benchmark.published.get(name, "-")] for name, cells in rows.items()])


def _spread(value: Spread | None) -> str:
    if value is None:
        return "-"
    return (
        f"{value.mean:.0f}" if value.least == value.most else f"{value.mean:.1f} ({value.least:.0f}-{value.most:.0f})"
    )
