"""What else chosen values can answer beside shortest paths, on graphs larger than those of the training."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from torch import Tensor
from torch_geometric.data import Data

from ghr.datasets.generators.geometric import GeometricGraph, draw_geometric_graph
from ghr.datasets.splits import Splits
from ghr.datasets.task import Task
from ghr.experiment import Experiment, OwnGraphs
from ghr.models import MODELS, GraphModel
from ghr.paper.row import Row, Setup
from ghr.train import TrainConfig, collect

Floats = NDArray[np.float64]
TASK = Task("node", loss="mse", metric="mae")
STEPS = 4  # global steps in training
MARKS = 3
DEGREE = 8.0
SMALL, LARGE = ((40, 60), 8), ((300, 400), 40)  # nodes, and the largest distance in hops from a node


@dataclass(frozen=True)
class Question:
    """Something to be known of every node of a graph.

    Args:
        name: A few words.
        text: What it is.
        make: Makes an example of a random geometric graph.
        t_low: Updates of each of the four global steps in training; all together must cross a small graph.
    """

    name: str
    text: str
    make: Callable[[GeometricGraph, np.random.Generator], Data]
    t_low: int = 4


@dataclass(frozen=True)
class QuestionTest:
    """How well a question is answered on larger graphs than those of the training, with four times the updates.

    Args:
        question: The question.
        trained: Graphs of the training, the largest answer of which is the end of the range.
        graphs: Graphs of each test.
    """

    question: Question
    trained: int
    graphs: int

    @property
    def name(self) -> str:
        """Such as ``nearest, 40 small and 40 large graphs, trained on 1000``."""
        return f"{self.question.name}, {self.graphs} small and {self.graphs} large graphs, trained on {self.trained}"

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the end of the range, the mean absolute errors in and beyond it, and that of the best constant."""
        largest = max(float(graph["y"].nan_to_num(0).max()) for graph in draw_training(self.question, self.trained))
        small, large = (
            draw_examples(self.question, self.graphs, *sizes, seed=seed) for seed, sizes in ((2, SMALL), (3, LARGE))
        )
        error, target = _errors(model, small, **loops)
        far, beyond = _errors(model, large, **{"steps": 4 * STEPS, **loops})
        outside = beyond > largest
        return {
            "largest": largest,
            "in_range": float(error[target <= largest].mean()),
            "beyond": float(far[outside].mean()),
            "constant": float((beyond[outside] - beyond[outside].median()).abs().mean()),
        }


@dataclass(frozen=True)
class QuestionRow(Row):
    """One question, asked with several seeds of weights and batches; the graphs are the same.

    Args:
        question: The question.
        graphs: Graphs of the training.
    """

    question: Question = field(kw_only=True)
    graphs: int = field(kw_only=True)

    @classmethod
    def on(
        cls,
        question: Question,
        *,
        seeds: tuple[int, ...] = (42, 43, 44),
        graphs: int = 1000,
        epochs: int = 40,
        tests: int = 40,
    ) -> "QuestionRow":
        """Return the row of a question.

        Args:
            question: The question.
            seeds: One run each.
            graphs: Graphs of the training.
            epochs: Epochs.
            tests: Graphs of each test.
        """
        return cls(
            question.name,
            "GHR",
            Setup("table-questions", "none", seeds=seeds),
            "ghr-select",
            {"steps": STEPS, "t_low": question.t_low, "epochs": epochs},
            folder=question.name.replace(" ", "-"),
            tests=(QuestionTest(question, graphs, tests),),
            question=question,
            graphs=graphs,
        )

    def experiment(self, seed: int = 0) -> Experiment:
        """Return what one run trains."""
        options = {name: value for name, value in self.settings.items() if name != "epochs"}
        recipe = {**MODELS[self.model].training, "epochs": self.settings["epochs"], "seed": seed}
        splits = Splits(
            TASK,
            Drawn(partial(draw_training, self.question, self.graphs), self.graphs),
            Drawn(partial(draw_examples, self.question, self.graphs // 5, *SMALL, seed=1), self.graphs // 5),
            description={"question": self.question.name, "graphs": self.graphs},
        )
        return Experiment(OwnGraphs(splits), self.model, options, TrainConfig(**recipe))

    @property
    def budget(self) -> str:
        """What the training may cost, in words."""
        return f"{self.graphs:,} graphs, {self.settings['epochs']} epochs"


class Drawn(Sequence[Data]):
    """Graphs that are drawn when the first of them is asked for.

    Args:
        draw: Draws them.
        count: How many they are.
    """

    def __init__(self, draw: Callable[[], Sequence[Data]], count: int) -> None:
        self._draw, self._count = draw, count

    @cached_property
    def _graphs(self) -> Sequence[Data]:
        return self._draw()

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return self._graphs[index]


@lru_cache(maxsize=1)
def draw_training(question: Question, graphs: int) -> list[Data]:
    """Return the graphs of the training."""
    return draw_examples(question, graphs, *SMALL, seed=0)


def draw_examples(question: Question, count: int, nodes: tuple[int, int], distance: int, *, seed: int) -> list[Data]:
    """Return examples of a question.

    Args:
        question: The question.
        count: How many.
        nodes: Least and largest number of nodes.
        distance: Largest distance from a node, in hops.
        seed: Of all randomness.
    """
    examples = []
    for index in range(count):
        rng = np.random.default_rng((seed, index))
        examples.append(question.make(draw_geometric_graph(rng, nodes, DEGREE, distance), rng))
    return examples


def _errors(model: GraphModel, graphs: list[Data], **loops: Any) -> tuple[Tensor, Tensor]:
    prediction, target = collect(model, graphs, TASK, batch_size=10, **loops)
    return (prediction - target).abs().flatten(), target.flatten()


def _example(marked: NDArray[np.int64], edge_index: NDArray[np.int64], length: Floats, answer: Floats) -> Data:
    x = torch.zeros(len(answer), 1)
    x[torch.from_numpy(marked)] = 1
    answer = np.where(np.isfinite(answer), answer, np.nan)
    return Data(
        x=x,
        edge_index=torch.from_numpy(edge_index),
        edge_attr=torch.from_numpy(length).float().unsqueeze(1),
        y=torch.from_numpy(answer).float().unsqueeze(1),
    )


def _search(edge_index: NDArray[np.int64], length: Floats, marked: NDArray[np.int64], size: int) -> Floats:
    """Return the shortest distance of every node from the nearest marked one; infinite where there is no path."""
    graph = csr_array((length, (edge_index[0], edge_index[1])), shape=(size, size))
    found: Floats = dijkstra(graph, indices=marked, min_only=True)
    return found


def measure_lengths(graph: GeometricGraph, rng: np.random.Generator) -> Data:
    """Ask how long the shortest path from the marked node is, along edges of different lengths."""
    length = graph.length / graph.length.mean()
    marked = np.array([graph.source])
    return _example(marked, graph.edge_index, length, _search(graph.edge_index, length, marked, len(graph.pos)))


def find_nearest(graph: GeometricGraph, rng: np.random.Generator) -> Data:
    """Ask how many hops the nearest of a few marked nodes is away."""
    marked = rng.choice(np.flatnonzero(graph.mask), MARKS, replace=False)
    length = np.ones_like(graph.length)
    return _example(marked, graph.edge_index, length, _search(graph.edge_index, length, marked, len(graph.pos)))


def follow_arrows(graph: GeometricGraph, rng: np.random.Generator) -> Data:
    """Ask how many hops it takes from the marked node along edges of which many lead one way only."""
    source, target = graph.edge_index
    pair = np.minimum(source, target) * len(graph.pos) + np.maximum(source, target)
    kind = rng.integers(3, size=len(graph.pos) ** 2)[pair]  # both ways, only up or only down in number
    kept = (kind == 0) | ((kind == 1) == (source < target))
    edge_index, marked = graph.edge_index[:, kept], np.array([graph.source])
    length = np.ones(edge_index.shape[1])
    return _example(marked, edge_index, length, _search(edge_index, length, marked, len(graph.pos)))


def count_stages(graph: GeometricGraph, rng: np.random.Generator) -> Data:
    """Ask for the longest way that leads to a node, where all edges lead from left to right: no way comes back.

    That is the earliest time at which a task can start if it must wait for others. Nothing is marked.
    """
    place = graph.pos[:, 0]
    edge_index = graph.edge_index[:, place[graph.edge_index[0]] < place[graph.edge_index[1]]]
    stage = np.zeros(len(place))
    for node in np.argsort(place):
        before = edge_index[0, edge_index[1] == node]
        if len(before):
            stage[node] = stage[before].max() + 1
    return _example(np.empty(0, np.int64), edge_index, np.ones(edge_index.shape[1]), stage)


def wait_longest(graph: GeometricGraph, rng: np.random.Generator) -> Data:
    """Ask the same where every edge takes a time of its own."""
    stages = count_stages(graph, rng)
    place, (source, target) = graph.pos[:, 0], stages["edge_index"].numpy()
    length, time = rng.uniform(0.5, 1.5, len(source)), np.zeros(len(place))
    for node in np.argsort(place):
        before = target == node
        if before.any():
            time[node] = (time[source[before]] + length[before]).max()
    return _example(np.empty(0, np.int64), stages["edge_index"].numpy(), length, time)


QUESTIONS = (
    Question("lengths", "the length of the shortest path, along edges of different lengths", measure_lengths),
    Question("nearest", f"hops to the nearest of {MARKS} marked nodes", find_nearest),
    Question("one way", "hops along edges of which two in three lead one way only", follow_arrows, 8),
    Question("longest way", "the longest way to a node, where all edges lead from left to right", count_stages, 12),
    Question("longest time", "the same where every edge takes a time of its own", wait_longest, 12),
)
