"""``ghr data``: a benchmark on this machine, its statistics and what it looks like."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch
import tyro
from torch_geometric.data import Data as Graph

from ghr.checks import check_choice, check_names, check_whole
from ghr.cli.check import check_folder
from ghr.cli.settings import KeyValue, parse_settings
from ghr.cli.table import table
from ghr.datasets import BENCHMARKS, Benchmark, Splits, Task
from ghr.datasets.statistics import Extent, Statistics, describe
from ghr.plots.layout import is_lattice
from ghr.plots.sheet import draw_sheet

SAMPLES = 12
MOST_PLACED = 3000  # nodes of a graph that is drawn, unless it has places for them


@dataclass
class Data:
    """Download or generate a benchmark, print its statistics beside the published ones, draw a sheet of its graphs."""

    benchmark: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="BENCHMARK")]
    """The benchmark; `ghr list` has all names."""
    source: str | None = None
    """hub (the published files, needs a connection) or generate (on this machine); by default generate if it can."""
    out: Path = Path("data")
    """Folder of the graphs and of the sheet."""
    graphs: int | None = None
    """Training graphs, at least 10, with validation and test in proportion, if not all."""
    set: KeyValue = ()
    """Options of the data, such as --set molecules=lrgb; an unknown name shows all."""
    workers: int = 1
    """Processes that generate; the graphs do not depend on it."""
    quiet: bool = False
    """No progress bar."""

    def run(self) -> None:
        """Load every split, print the table and write the sheet."""
        benchmark = BENCHMARKS[check_choice("benchmark", self.benchmark, BENCHMARKS)]
        check_whole("--workers", self.workers)
        check_folder("--out", self.out)
        options = parse_settings(self.set)
        check_names(benchmark.title, options, benchmark.options)
        started = time.perf_counter()
        splits = benchmark.splits(self.out, graphs=self.graphs, source=self.source, workers=self.workers, **options)
        seconds = time.perf_counter() - started
        source = splits.description["source"]
        print(f"{benchmark.title}, source {source}: ready in {seconds:.0f} s\n")
        print(statistics_table(splits, benchmark.published))
        for header, rows in benchmark.report(splits.train) if benchmark.report else []:
            print(f"\n{table(header, rows)}")
        comparable = "it is the published set" if source == "hub" else benchmark.comparable
        print(f"\nComparable with published numbers? {comparable[0].upper()}{comparable[1:]}.")
        print(f"Graphs  {self.out}")
        sheet = self.out / f"{self.benchmark}-{source}.png"
        if _draw(sheet, splits, benchmark):
            print(f"Sheet   {sheet}")


def statistics_table(splits: Splits, published: Mapping[str, str]) -> str:
    """Return a table of statistics, one column per split and one for what is published.

    Args:
        splits: The graphs.
        published: Published values by the name of a row.
    """
    task = splits.task
    found = {
        name: describe(graphs, task, scale=getattr(graphs, "target_scale", 1.0))
        for name, graphs in splits.named().items()
    }
    rows = {name: [show(statistics) for statistics in found.values()] for name, show in _ROWS.items()}
    best = f"the most frequent class, {task.score.unit}" if task.has_classes else "a constant"
    rows[f"{task.score.name} of {best}"] = [f"{statistics.constant_metric:.3f}" for statistics in found.values()]
    header = [f"targets: {_target_name(task)}", *found, "published"]
    shown = {name: cells for name, cells in rows.items() if set(cells) != {""}}
    return table(header, [[name, *cells, published.get(name, "-")] for name, cells in shown.items()])


# Rows of numbers that a dataset does not have, such as the mean of classes, are empty and left out.
_ROWS: dict[str, Callable[[Statistics], str]] = {
    "graphs": lambda statistics: f"{statistics.graphs}",
    "nodes": lambda statistics: _extent(statistics.nodes),
    "edges": lambda statistics: _extent(statistics.edges),
    "degree": lambda statistics: f"{statistics.degree:.2f}",
    "diameter": lambda statistics: "-" if statistics.diameter is None else _extent(statistics.diameter),
    "targets": lambda statistics: f"{statistics.targets}",
    "target mean": lambda statistics: _number(statistics.target_mean),
    "target std": lambda statistics: _number(statistics.target_std),
    "MAE of a constant": lambda statistics: _number(statistics.constant_mae),
}


def _target_name(task: Task) -> str:
    return f"{task.name}, {task.score.unit}" if task.score.unit and not task.has_classes else task.name


def _draw(path: Path, splits: Splits, benchmark: Benchmark) -> bool:
    """Draw the first training graphs and return true, unless they are too large to be placed."""
    graphs = [splits.train[index] for index in range(min(SAMPLES, len(splits.train)))]
    if any((graph.num_nodes or 0) > MOST_PLACED and graph.pos is None and not is_lattice(graph) for graph in graphs):
        return False
    scale = getattr(splits.train, "target_scale", 1.0)
    shown = [_show_target(graph, splits.task) for graph in graphs]
    draw_sheet(path, shown, title=benchmark.title, unit=_target_name(splits.task), scale=scale)
    return True


def _show_target(graph: Graph, task: Task) -> Graph:
    """Return a graph with one column of numbers as targets, and a mask of those that count."""
    target = task.target(graph)
    counted = task.counted(graph, target).reshape(len(target), -1)[:, 0]
    shown = Graph(x=graph.x, edge_index=graph.edge_index, pos=graph.pos)
    shown.y = torch.where(counted, target.reshape(len(target), -1)[:, 0].double(), 0.0).unsqueeze(1)
    if task.level == "node":
        shown.mask = counted
    return shown


def _extent(value: Extent) -> str:
    if value.least == value.most:
        return f"{value.mean:.0f}"
    return f"{value.mean:.1f} ({value.least:.0f}-{value.most:.0f})"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
