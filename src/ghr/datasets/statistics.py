"""What the graphs of a dataset look like in numbers."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from ghr.datasets.generators.distances import eccentricities
from ghr.datasets.splits import Examples
from ghr.datasets.task import Task
from ghr.progress import track

LARGEST_SEARCHED = 20_000  # nodes; the diameter takes a search from every one of them


class Extent(NamedTuple):
    """Mean and extremes over graphs."""

    mean: float
    least: float
    most: float


@dataclass(frozen=True)
class Statistics:
    """Numbers that describe graphs; targets have the unit of their metric.

    Attributes:
        graphs: Number of graphs.
        nodes: Nodes of a graph.
        edges: Edges of a graph, both directions counted.
        degree: Edges per node, over all graphs.
        diameter: Largest distance in a graph, within its components; ``None`` where graphs are too large to search.
        searched: Number of graphs that the diameter was computed for.
        targets: Number of targets that count.
        target_mean: Mean of all targets; ``None`` for classes, as the two that follow.
        target_std: Their standard deviation.
        constant_mae: Mean absolute error of the best constant, the median of each column.
        constant_metric: The metric of the better of two constants, mean and median; for classes of the most frequent.
    """

    graphs: int
    nodes: Extent
    edges: Extent
    degree: float
    diameter: Extent | None
    searched: int
    targets: int
    target_mean: float | None
    target_std: float | None
    constant_mae: float | None
    constant_metric: float


def describe(graphs: Examples, task: Task, *, scale: float = 1.0, most_searched: int = 500) -> Statistics:
    """Count and average over graphs.

    Args:
        graphs: The graphs, with targets.
        task: What is asked of them.
        scale: What targets are multiplied by to have the unit of the metric.
        most_searched: Diameters are computed for at most as many graphs, spread over all of them.
    """
    listed: list[Data] = [graphs[index] for index in range(len(graphs))]
    nodes = np.array([graph.num_nodes for graph in listed])
    edges = np.array([graph.num_edges for graph in listed])
    searched = np.linspace(0, len(listed) - 1, min(most_searched, len(listed))).astype(int)
    diameter = None
    if nodes[searched].max() <= LARGEST_SEARCHED:
        diameter = _extent(_diameters([listed[index] for index in searched]))
    target, counted = _targets(listed, task)
    mean, deviation, error = (None, None, None) if task.has_classes else _moments(target, counted, scale)
    return Statistics(
        graphs=len(listed),
        nodes=_extent(nodes),
        edges=_extent(edges),
        degree=float(edges.sum() / nodes.sum()),
        diameter=diameter,
        searched=len(searched) if diameter else 0,
        targets=int(counted.sum()),
        target_mean=mean,
        target_std=deviation,
        constant_mae=error,
        constant_metric=_score_constants(target, counted, task),
    )


def _targets(graphs: list[Data], task: Task) -> tuple[Tensor, Tensor]:
    """Return the targets of all graphs and which of their entries count."""
    targets = [task.target(graph) for graph in graphs]
    counted = [task.counted(graph, target) for graph, target in zip(graphs, targets, strict=True)]
    return torch.cat(targets), torch.cat(counted)


def _moments(target: Tensor, counted: Tensor, scale: float) -> tuple[float, float, float]:
    known = torch.where(counted, scale * target.double(), torch.nan)
    middle = known.nanmedian(dim=0, keepdim=True).values
    values = known[counted]
    return float(values.mean()), float(values.std(correction=0)), float((known - middle)[counted].abs().mean())


def _score_constants(target: Tensor, counted: Tensor, task: Task) -> float:
    """Return the best metric that a constant has, of those that are tried."""
    if task.has_classes:
        known = target[counted]
        scores = torch.nn.functional.one_hot(known.bincount().argmax(), task.out_channels)
        return task.score(scores.float().expand(len(known), -1), known)
    known = torch.where(counted, target, torch.nan)
    guesses = (known.nanmedian(dim=0, keepdim=True).values, known.nanmean(dim=0, keepdim=True))
    found = []
    for guess in guesses:
        prediction = guess.expand_as(target)
        whole = task.score.columns  # such a metric wants whole rows
        found.append(task.score(prediction, known) if whole else task.score(prediction[counted], known[counted]))
    return max(found) if task.score.higher_is_better else min(found)


def _diameters(graphs: list[Data]) -> NDArray[np.int64]:
    result = np.empty(len(graphs), np.int64)
    before: tuple[int, Tensor] | None = None
    for index, graph in enumerate(track(graphs, "Diameters")):
        size, edges = int(graph.num_nodes or 0), graph["edge_index"]
        if before is not None and before[0] == size and torch.equal(before[1], edges):
            result[index] = result[index - 1]  # as for lattices, all of which are one graph
        else:
            result[index] = eccentricities(edges.numpy(), size).max()
        before = (size, edges)
    return result


def _extent(values: NDArray[np.int64]) -> Extent:
    return Extent(float(values.mean()), float(values.min()), float(values.max()))
