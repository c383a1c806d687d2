"""Predictions as a table that a user can join with their own."""

import csv
import os
from collections.abc import Iterable, Iterator, Sequence

from torch import Tensor

from ghr.datasets.folders.folder import FolderData
from ghr.datasets.folders.numbering import Names
from ghr.datasets.task import Task
from ghr.files import replacing


def write_predictions(
    path: str | os.PathLike[str], data: FolderData, predictions: Sequence[Tensor], task: Task | None = None
) -> int:
    r"""Write predictions as CSV, one row per graph, node or listed edge, and return how many rows there are.

    The columns are ``graph``, then ``node``, or ``source`` and ``target``, then the target by its own name. For
    classes it holds their names, and ``p(name)`` follows for every class: its probability.

    Args:
        path: The file to write.
        data: The graphs that were predicted.
        predictions: For every graph the output of a model, :math:`(N, C)`; for edges, that of added ones is left out.
        task: What was asked of them, by default the data's own task.

    Raises:
        OSError: Where the file cannot be written.
        ValueError: Where the predictions are not those of the graphs.
    """
    task = task or data.task
    if task is None:
        raise ValueError("Without a target there is nothing to write; give a task.")
    if len(predictions) != len(data.graphs):
        raise ValueError(f"There are {len(data.graphs)} graphs, but predictions for {len(predictions)}.")
    for graph, prediction in zip(data.graphs, predictions, strict=True):
        task.check_prediction(prediction, graph)
    rows = 0
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_header(task, data.schema.target))
        for names, prediction in zip(data.names, predictions, strict=True):
            places = list(_places(task, names))
            values = _values(task, prediction[: len(places)].detach().cpu())
            writer.writerows([*place, *value] for place, value in zip(places, values, strict=True))
            rows += len(places)
    return rows


def _header(task: Task, target: Sequence[str]) -> list[str]:
    places = {"graph": ["graph"], "node": ["graph", "node"], "edge": ["graph", "source", "target"]}[task.level]
    names = list(target) or [task.name]
    if task.has_classes:
        return [*places, *names, *(f"p({name})" for name in _classes(task))]
    if len(names) != task.out_channels:
        names = [f"{task.name}[{place}]" for place in range(task.out_channels)]
    return [*places, *names]


def _places(task: Task, names: Names) -> Iterable[tuple[str, ...]]:
    if task.level == "graph":
        return [(names.graph,)]
    if task.level == "node":
        return ((names.graph, node) for node in names.nodes)
    return ((names.graph, *ends) for ends in zip(names.sources, names.targets, strict=True))


def _values(task: Task, prediction: Tensor) -> Iterator[list[str]]:
    if not task.has_classes:
        for row in prediction.numpy():
            yield list(map(str, row))
        return
    classes = _classes(task)
    chance = prediction.double().softmax(dim=1)
    for number, row in zip(chance.argmax(dim=1).tolist(), chance.tolist(), strict=True):
        yield [classes[number], *(f"{entry:.6g}" for entry in row)]


def _classes(task: Task) -> Sequence[str]:
    return task.classes or [str(number) for number in range(task.out_channels)]
