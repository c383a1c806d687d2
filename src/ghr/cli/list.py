"""``ghr list``: benchmarks and models."""

from dataclasses import dataclass

import torch
from torch_geometric.data import Data

from ghr.cli.table import table
from ghr.datasets import BENCHMARKS, Benchmark, Task
from ghr.experiment import OWN_SUGGESTIONS
from ghr.models import MODELS, Entry


@dataclass
class List:
    """Show what there is: the benchmarks and the models."""

    benchmarks: bool = False
    """Only the benchmarks."""
    models: bool = False
    """Only the models."""
    quiet: bool = False
    """Without the lines that explain the tables."""

    def run(self) -> None:
        """Print the tables."""
        both = self.benchmarks == self.models
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
    model = entry.for_data(_example(), Task("node"), {}, OWN_SUGGESTIONS)
    return [f"{model.num_parameters:,}", ", ".join(model.loops) or "none", entry.reference, entry.summary]


def _example() -> Data:
    """Return a ring with one number per node and edge and one target per node, as random geometric graphs have them."""
    nodes = torch.arange(8)
    edge_index = torch.cat([torch.stack([nodes, nodes.roll(1)]), torch.stack([nodes.roll(1), nodes])], dim=1)
    return Data(x=torch.zeros(8, 1), edge_index=edge_index, edge_attr=torch.ones(16, 1), y=torch.zeros(8, 1))
