"""Further tests of trained models: larger graphs on which nothing was chosen, and errors by the width of graphs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import torch
from torch_geometric.data import Batch

from ghr.datasets import LRIM, ECHOSynth, mae_by_distance
from ghr.datasets.echo import LARGEST
from ghr.datasets.lrim import SIGMAS
from ghr.datasets.splits import Examples
from ghr.models import GraphModel
from ghr.paper.extension import TEST_SEED, FarTest
from ghr.threads import use_threads
from ghr.train import collect, evaluate


@dataclass(frozen=True)
class FarHops:
    """Shortest paths on graphs that are larger than those of the benchmark.

    Args:
        graphs: The graphs.
        in_range: Largest distance in training.
    """

    graphs: FarTest
    in_range: int

    @property
    def name(self) -> str:
        """Such as ``large, 100 graphs, to 40 hops``."""
        return f"{self.graphs.regime}, {self.graphs.graphs} graphs, to {self.graphs.distance} hops"

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the errors in hops: at every distance, in the trained range and out of it."""
        dataset = self.graphs.load(data, transform=model.transform)
        graphs: Examples = dataset
        prediction, target = collect(model, graphs, dataset.task, batch_size=10, **loops)
        hops = torch.cat([graphs[index].hops[graphs[index].mask] for index in range(len(graphs))])
        return {**mae_by_distance(prediction, target, hops, self.in_range)}


@dataclass(frozen=True)
class FarCost(FarHops):
    """The same, with the processor time that predictions take on one thread."""

    @property
    def name(self) -> str:
        """Such as ``large, 100 graphs, to 40 hops, with the time``."""
        return f"{super().name}, with the time"

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the errors, and the median of five times, after one that does not count."""
        dataset = self.graphs.load(data, transform=model.transform)
        graphs: Examples = dataset
        examples = [graphs[index] for index in range(len(graphs))]
        batches = [Batch.from_data_list(examples[first : first + 10]) for first in range(0, len(examples), 10)]
        times = []
        with use_threads(1), torch.inference_mode():
            for _ in range(6):
                began = process_time()
                for batch in batches:
                    model(batch, **loops)
                times.append(process_time() - began)
        return {**super().evaluate(model, data, loops), "cpu_seconds": median(times[1:])}


@dataclass(frozen=True)
class EchoTrees:
    """Fresh graphs of ECHO, all of them and the trees among them.

    Args:
        task: ``"ecc"`` or ``"diam"``.
        graphs: How many.
    """

    task: str
    graphs: int

    @property
    def name(self) -> str:
        """Such as ``ECHO ecc, 400 graphs, trees apart``."""
        return f"ECHO {self.task}, {self.graphs} graphs, trees apart"

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the mean errors in hops."""
        graphs = _load_echo(data, self.task, self.graphs, model, seed=TEST_SEED)
        examples: Examples = graphs
        trees = [  # all are connected, and list every edge twice
            index for index in range(len(graphs)) if examples[index].num_edges == 2 * (len(examples[index].x) - 1)
        ]
        return _evaluate_groups(model, graphs, {"mae": range(len(graphs)), "trees": trees}, loops)


@dataclass(frozen=True)
class EchoDiameters:
    """Shortest paths on fresh graphs of ECHO, by the diameter of the graphs.

    Args:
        graphs: How many.
        in_range: Largest diameter that counts as in range.
    """

    graphs: int
    in_range: int

    @property
    def name(self) -> str:
        """Such as ``400 graphs, diameters to 28 and beyond``."""
        return f"{self.graphs} graphs, diameters to {self.in_range} and beyond"

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the errors in hops: over all graphs, on those with diameters in range and on the others."""
        graphs = _load_echo(data, "sssp", self.graphs, model, seed=TEST_SEED)
        every = range(len(graphs))
        inside = find_narrow(data, self.in_range, split="test", num_graphs=self.graphs, seed=TEST_SEED)
        groups = {"mae": every, "in_range": inside, "out_of_range": sorted({*every} - {*inside})}
        return _evaluate_groups(model, graphs, groups, loops)


@dataclass(frozen=True)
class ByDiameter:
    """The test graphs of ECHO, by the diameter of the graphs.

    Args:
        task: ``"sssp"``, ``"ecc"`` or ``"diam"``.
        graphs: How many of the test graphs.
    """

    task: str
    graphs: int

    @property
    def name(self) -> str:
        """Such as ``ECHO sssp, 400 graphs by diameter``."""
        return f"ECHO {self.task}, {self.graphs} graphs by diameter"

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the mean error in hops on the graphs of every diameter."""
        groups: dict[int, list[int]] = {}
        for index, width in enumerate(find_diameters(data, split="test", num_graphs=self.graphs)):
            groups.setdefault(width, []).append(index)
        graphs = _load_echo(data, self.task, self.graphs, model)
        return _evaluate_groups(model, graphs, {str(width): groups[width] for width in sorted(groups)}, loops)


@dataclass(frozen=True)
class Lattices:
    """Local energies on Ising lattices of another side.

    Args:
        size: Their side.
        graphs: How many.
    """

    size: int
    graphs: int

    @property
    def name(self) -> str:
        """Such as ``side 64, 10 lattices``."""
        return f"side {self.size}, {self.graphs} lattices"

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the logarithm of the mean squared error."""
        graphs = LRIM(
            data,
            self.size,
            SIGMAS["hard"],
            "test",
            num_graphs=self.graphs,
            seed=TEST_SEED,
            pre_transform=model.transform,
        )
        return {"log10_mse": evaluate(model, graphs, graphs.task, batch_size=1, **loops)}


def find_diameters(data: str | Path, **options: Any) -> list[int]:
    """Return the diameters of the graphs of a set of ECHO; all of its tasks share their graphs.

    Args:
        data: Folder of the generated graphs.
        **options: Of :class:`~ghr.datasets.ECHOSynth`.
    """
    graphs: Examples = ECHOSynth(data, "diam", **options)
    return [round(LARGEST * float(graphs[index].y)) for index in range(len(graphs))]


def find_narrow(data: str | Path, largest: int, **options: Any) -> list[int]:
    """Return which graphs of a set of ECHO are at most so wide; arguments as in :func:`find_diameters`."""
    return [index for index, width in enumerate(find_diameters(data, **options)) if width <= largest]


def _load_echo(data: Path, task: str, graphs: int, model: GraphModel, **options: Any) -> ECHOSynth:
    """Return test graphs of ECHO, prepared for a model."""
    return ECHOSynth(data, task, split="test", num_graphs=graphs, pre_transform=model.transform, **options)


def _evaluate_groups(
    model: GraphModel, graphs: ECHOSynth, groups: Mapping[str, Sequence[int]], loops: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the mean error of a model on each of several groups of graphs."""
    return {name: evaluate(model, graphs.index_select(part), graphs.task, **loops) for name, part in groups.items()}
