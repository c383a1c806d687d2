"""Graphs that differ from those of a benchmark: their features, their edges, or what drew them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch_geometric.data import Data

from ghr.datasets import BENCHMARKS, LRIM
from ghr.datasets.echo import TASKS
from ghr.datasets.lrim import SIGMAS, TEMPERATURES
from ghr.datasets.splits import Examples
from ghr.datasets.task import Task
from ghr.models import GraphModel
from ghr.paper.changes import Change
from ghr.paper.extension import TEST_SEED
from ghr.paper.strange import KINDS
from ghr.train import evaluate

SCORE = "score"


@dataclass(frozen=True)
class Changed:
    """The first test graphs of a benchmark, changed.

    Args:
        benchmark: Its name in ``BENCHMARKS``.
        graphs: How many.
        change: What is done to them; ``None`` for nothing, to compare with.
    """

    benchmark: str
    graphs: int
    change: Change | None = None

    @property
    def name(self) -> str:
        """Such as ``100 graphs, noise of 0.1``."""
        return f"{self.graphs} graphs, {'as they are' if self.change is None else self.change.name}"

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the score by the metric of the benchmark."""
        graphs = BENCHMARKS[self.benchmark].load(data, "test", num_graphs=self.graphs)
        listed: Examples = graphs
        changed = []
        for index in range(len(listed)):
            rng = np.random.default_rng((TEST_SEED, index))
            changed.append(listed[index] if self.change is None else self.change(listed[index], rng))
        return _score(model, changed, graphs.task, loops)


@dataclass(frozen=True)
class OtherGraphs:
    """Shortest paths on graphs of a kind that ECHO does not have, with features and targets as there.

    Args:
        kind: A name in :data:`KINDS`.
        graphs: How many.
    """

    kind: str
    graphs: int

    @property
    def name(self) -> str:
        """Such as ``100 graphs, geometric``."""
        return f"{self.graphs} graphs, {self.kind}"

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the error in hops."""
        rngs = [np.random.default_rng((TEST_SEED, index)) for index in range(self.graphs)]
        return _score(model, [KINDS[self.kind](rng) for rng in rngs], TASKS["sssp"], loops)


@dataclass(frozen=True)
class OtherTemperature:
    """Ising lattices of side 16, with the couplings of the benchmark, at another temperature.

    Args:
        factor: The temperature, as a multiple of that of the benchmark.
        graphs: How many lattices.
    """

    factor: float
    graphs: int

    @property
    def name(self) -> str:
        """Such as ``100 lattices, temperature x 2``."""
        return f"{self.graphs} lattices, temperature x {self.factor:g}"

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the logarithm of the mean squared error."""
        sigma = SIGMAS["hard"]
        temperature = self.factor * TEMPERATURES[16, sigma]
        graphs = LRIM(data, 16, sigma, "test", num_graphs=self.graphs, temperature=temperature, seed=TEST_SEED)
        listed: Examples = graphs
        return _score(model, [listed[index] for index in range(len(listed))], graphs.task, loops)


def _score(model: GraphModel, graphs: Sequence[Data], task: Task, loops: Mapping[str, Any]) -> dict[str, Any]:
    """Return the score; none, with the reason, of a model that does not take such graphs."""
    try:
        return {SCORE: evaluate(model, [model.prepare(graph) for graph in graphs], task, batch_size=16, **loops)}
    except ValueError as error:
        return {SCORE: None, "why": str(error)}
