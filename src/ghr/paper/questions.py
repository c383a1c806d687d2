"""What else chosen values can answer beside shortest paths, on graphs larger than those of the training."""

from collections.abc import Callable
from dataclasses import dataclass
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
from ghr.train import TrainConfig, collect

Floats = NDArray[np.float64]
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
class Answer:
    """What came of one question.

    Args:
        largest: The largest answer in training; what lies above it is beyond the range.
        in_range: Mean absolute error on fresh graphs of the training's size.
        beyond: The same on larger graphs, where the answer is beyond the range.
        constant: That of the constant which is best there.
        parameters: Number of parameters.
        cpu_seconds: Processor time of the training.
    """

    largest: float
    in_range: float
    beyond: float
    constant: float
    parameters: int
    cpu_seconds: float

    @property
    def ratio(self) -> float:
        """The error beyond the range as a part of the constant's."""
        return self.beyond / self.constant


def ask(
    question: Question, out: str | Path, *, graphs: int = 1000, epochs: int = 40, tests: int = 40, seed: int = 0
) -> Answer:
    """Train ``ghr-select`` on small graphs, and test it on large ones with four times the updates.

    Args:
        question: The question.
        out: The run directory.
        graphs: Graphs for training.
        epochs: Epochs.
        tests: Graphs of each test.
        seed: Of graphs, weights and batches.
    """
    task = Task("node", loss="mse", metric="mae")
    train = draw_examples(question, graphs, *SMALL, seed=seed)
    val = draw_examples(question, max(1, graphs // 5), *SMALL, seed=seed + 1)
    recipe = TrainConfig(**{**MODELS["ghr-select"].training, "epochs": epochs, "seed": seed})
    experiment = Experiment(
        OwnGraphs(Splits(train=train, val=val, test=None, task=task)),
        "ghr-select",
        {"steps": 4, "t_low": question.t_low},
        recipe,
    )
    run = experiment.run(out, quiet=True)
    result = run.result or {}
    largest = max(float(graph["y"].nan_to_num(0).max()) for graph in train)
    near = _errors(run.model, draw_examples(question, tests, *SMALL, seed=seed + 2), task)
    far, target = _errors(run.model, draw_examples(question, tests, *LARGE, seed=seed + 3), task, steps=16)
    outside = target > largest
    return Answer(
        largest=largest,
        in_range=float(near[0][near[1] <= largest].mean()),
        beyond=float(far[outside].mean()),
        constant=float((target[outside] - target[outside].median()).abs().mean()),
        parameters=run.model.num_parameters,
        cpu_seconds=result["cpu_seconds"],
    )


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


def _errors(model: GraphModel, graphs: list[Data], task: Task, **loops: Any) -> tuple[Tensor, Tensor]:
    prediction, target = collect(model, graphs, task, batch_size=10, **loops)
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
