"""Predictions and targets of a task as one number for every node, or one for the graph."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from ghr.checks import check_whole
from ghr.datasets.metrics import find_metric
from ghr.datasets.task import Task

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answers:
    """How predictions on one graph are shown.

    A number is shown in the unit of the metric, a class by its number, and yes or no by the probability of yes. The
    error of a class is one minus its probability. A node stands for the mean of its edges.

    Args:
        task: What is asked of the graph.
        graph: The graph; it need not have targets.
        output: Which number is shown, where a row has several.
    """

    task: Task
    graph: Data
    output: int = 0

    def __post_init__(self) -> None:
        most = 0 if self.task.has_classes else self.task.out_channels - 1
        check_whole("output", self.output, 0, most)

    @property
    def unit(self) -> str:
        """The unit of what is shown."""
        return self.task.score.unit if self.task.is_regression else ""

    @property
    def column(self) -> int | None:
        """The column of a prediction that is shown; ``None`` for the largest one."""
        return None if self.task.has_classes else self.output

    def read_prediction(self, prediction: Tensor) -> Floats:
        """Return what is shown of a prediction, one number per node or one for the graph."""
        return self._to_nodes(self._shown(prediction))

    def read_target(self) -> Floats | None:
        """Return what is shown of the targets, NaN where a row does not count; ``None`` if there are none."""
        rows = self._rows()
        if rows is None:
            return None
        target, counted = rows
        factor = 1.0 if self.task.has_classes else self._factor()
        return self._to_nodes(np.where(counted, factor * target, np.nan))

    def read_error(self, prediction: Tensor) -> Floats | None:
        """Return how wrong a prediction is, NaN where a row does not count; ``None`` without targets."""
        rows = self._rows()
        if rows is None:
            return None
        target, counted = rows
        if self.task.has_classes:
            chance = torch.softmax(prediction.detach().double(), dim=1).numpy()
            right = chance[np.arange(len(chance)), np.where(counted, target, 0).astype(np.int64)]
            error = 1 - right
        else:
            error = np.abs(self._shown(prediction) - self._factor() * target)
        return self._to_nodes(np.where(counted, error, np.nan))

    def _shown(self, prediction: Tensor) -> Floats:
        given = prediction.detach().double()
        if self.task.has_classes:
            return given.argmax(dim=1).double().numpy()
        column = given[:, self.output]
        if not self.task.is_regression:
            return column.sigmoid().numpy()
        return np.asarray(self._factor() * column.numpy())

    def _rows(self) -> tuple[Floats, NDArray[np.bool_]] | None:
        if getattr(self.graph, "y", None) is None:
            return None
        target = self.task.target(self.graph)
        counted = self.task.counted(self.graph, target)
        if not self.task.has_classes:
            target, counted = target[:, self.output], counted[:, self.output]
        return (target.double().numpy(), counted.numpy()) if bool(counted.any()) else None

    def _factor(self) -> float:
        return find_metric(self.task.score)[1] if self.task.is_regression else 1.0

    def _to_nodes(self, rows: Floats) -> Floats:
        if self.task.level != "edge":
            return rows
        size, edges = int(self.graph.num_nodes or 0), self.graph["edge_index"].cpu().numpy()
        known = np.isfinite(rows)
        total, count = np.zeros(size), np.zeros(size)
        for end in edges:
            total += np.bincount(end[known], rows[known], size)
            count += np.bincount(end[known], minlength=size)
        return np.asarray(np.divide(total, count, out=np.full(size, np.nan), where=count > 0))


def describe_task(task: Task, answers: Answers) -> dict[str, Any]:
    """Return what a page says of a task."""
    kind = "class" if task.has_classes else "number" if task.is_regression else "chance"
    return {
        "name": task.name,
        "level": task.level,
        "kind": kind,
        "unit": answers.unit,
        "classes": None if task.classes is None else list(task.classes),
    }
