"""``ghr list``: benchmarks and models."""

import json
from dataclasses import dataclass
from typing import Any

import torch
from torch_geometric.data import Data

from ghr.cli.table import table
from ghr.datasets import BENCHMARKS, Benchmark, Metric, Task
from ghr.experiment import OWN_SUGGESTIONS
from ghr.hierarchy.lattice import lattice_edges
from ghr.models import MODELS, Entry, GraphModel

SIDE = 16  # of lattices, for models that take nothing else


@dataclass
class List:
    """Show what there is: the benchmarks and the models."""

    benchmarks: bool = False
    """Only the benchmarks."""
    models: bool = False
    """Only the models."""
    json: bool = False
    """Print JSON."""
    quiet: bool = False
    """Without the lines that explain the tables."""

    def run(self) -> None:
        """Print the tables, or the same as JSON."""
        both = self.benchmarks == self.models
        if self.json:
            found = {"benchmarks": describe_benchmarks} if both or self.benchmarks else {}
            found |= {"models": describe_models} if both or self.models else {}
            print(json.dumps({name: describe() for name, describe in found.items()}, indent=2, ensure_ascii=False))
            return
        shown = [list_benchmarks()] if both or self.benchmarks else []
        shown += [list_models()] if both or self.models else []
        print("\n\n".join(rows if self.quiet else f"{rows}\n{end}" for rows, end in shown))


def list_benchmarks() -> tuple[str, str]:
    """Return a table of all benchmarks, and what explains it."""
    header = ["benchmark", "graphs", "metric", "offline", "comparable", "what is predicted"]
    rows = [[name, *_describe_benchmark(benchmark)] for name, benchmark in BENCHMARKS.items()]
    end = (
        "graphs: train/val/test; (+): higher is better; offline: can be generated on this machine, otherwise it is "
        "downloaded;\ncomparable: whether scores on generated graphs may stand beside published ones, see: ghr data "
        "BENCHMARK."
    )
    return table(header, rows, left=(0, 2, 3, 4, 5)), end


def list_models() -> tuple[str, str]:
    """Return a table of all models, and what explains it."""
    header = ["model", "parameters", "loops", "reference", "what it is"]
    rows = [[name, *_describe_model(entry)] for name, entry in MODELS.items()]
    end = (
        "parameters: by default, for one number per node and edge and one target per node; loops: what can be raised "
        "after training."
    )
    return table(header, rows, left=(0, 2, 3, 4)), end


def describe_benchmarks() -> list[dict[str, Any]]:
    """Return what the table of benchmarks has, in the types of JSON."""
    return [
        {
            "name": name,
            "title": benchmark.title,
            "summary": benchmark.summary,
            "graphs": dict(benchmark.sizes),
            "one_graph": benchmark.one_graph,
            "level": benchmark.task.level,
            "metric": describe_metric(benchmark.task.score),
            "sources": list(benchmark.sources),
            "comparable": benchmark.comparable,
        }
        for name, benchmark in BENCHMARKS.items()
    ]


def describe_models() -> list[dict[str, Any]]:
    """Return what the table of models has, in the types of JSON."""
    models = {name: _build(entry) for name, entry in MODELS.items()}
    return [
        {
            "name": name,
            "summary": entry.summary,
            "reference": entry.reference,
            "parameters": models[name].num_parameters,
            "loops": list(models[name].loops),
        }
        for name, entry in MODELS.items()
    ]


def describe_metric(metric: Metric) -> dict[str, Any]:
    """Return a metric with its unit and its direction, in the types of JSON."""
    return {"name": metric.name, "unit": metric.unit, "higher_is_better": metric.higher_is_better}


def _describe_benchmark(benchmark: Benchmark) -> list[str]:
    metric = benchmark.task.score
    return [
        "one graph" if benchmark.one_graph else "/".join(map(str, benchmark.sizes.values())),
        f"{metric}{' (+)' if metric.higher_is_better else ''}",
        "yes" if "generate" in benchmark.sources else "no",
        benchmark.comparable.partition(":")[0],
        benchmark.summary,
    ]


def _describe_model(entry: Entry) -> list[str]:
    model = _build(entry)
    return [f"{model.num_parameters:,}", ", ".join(model.loops) or "none", entry.reference, entry.summary]


def _build(entry: Entry) -> GraphModel:
    """Return a model of default size."""
    return entry.for_data(make_example(entry), Task("node"), {}, OWN_SUGGESTIONS)


def make_example(entry: Entry) -> Data:
    """Return a graph with one number per node and edge and one target per node, as random geometric graphs have them.

    Args:
        entry: The model it is for: a ring for most, a lattice for those that take nothing else.
    """
    nodes = torch.arange(8)
    ring = torch.cat([torch.stack([nodes, nodes.roll(1)]), torch.stack([nodes.roll(1), nodes])], dim=1)
    count, edge_index = (SIDE**2, lattice_edges(SIDE)) if entry.build.lattices_only else (8, ring)
    edge_attr = torch.ones(edge_index.size(1), 1)
    return Data(x=torch.zeros(count, 1), edge_index=edge_index, edge_attr=edge_attr, y=torch.zeros(count, 1))
