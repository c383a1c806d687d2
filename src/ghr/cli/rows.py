"""Predictions beside the truth, as a table in a file."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from ghr.datasets import Splits, Task
from ghr.files import replacing

PLACES = {"graph": ["graph"], "node": ["graph", "node"], "edge": ["graph", "source", "target"]}


def write_rows(path: Path, splits: Splits, split: str, predictions: Sequence[Tensor]) -> int:
    """Write the rows of a split that count, as CSV, and return how many there are.

    The columns are ``graph``, then ``node``, or ``source`` and ``target``, then ``distance`` where the data have
    distances, ``truth`` and ``prediction`` (with numbers where there are several targets). For classes these hold
    names, and ``p(name)`` follows for every class: its probability.

    Args:
        path: The file.
        splits: Graphs as they were predicted.
        split: Which of them.
        predictions: One for every graph of the split.

    Raises:
        OSError: Where the file cannot be written.
    """
    task, graphs, count = splits.task, splits.named()[split], 0
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        distance = [] if splits.distance is None else ["distance"]
        writer.writerow([*PLACES[task.level], *distance, *_header(task)])
        for number, prediction in enumerate(predictions):
            rows = list(_rows(splits, graphs[number], prediction))
            writer.writerows([number, *row] for row in rows)
            count += len(rows)
    return count


def _header(task: Task) -> list[str]:
    if task.has_classes:
        return ["truth", "prediction", *(f"p({name})" for name in _classes(task))]
    if task.out_channels == 1:
        return ["truth", "prediction"]
    return [f"{name}[{place}]" for name in ("truth", "prediction") for place in range(task.out_channels)]


def _rows(splits: Splits, graph: Data, prediction: Tensor) -> Iterator[list[Any]]:
    task, target = splits.task, splits.task.target(graph)
    counted = task.counted(graph, target)
    hops = None if splits.distance is None else splits.distance(graph).tolist()
    ends = graph.edge_index.T.tolist() if task.level == "edge" and graph.edge_index is not None else []
    for row in (counted if counted.dim() == 1 else counted.any(dim=1)).nonzero().squeeze(1).tolist():
        place = {"graph": [], "node": [row], "edge": ends[row] if ends else []}[task.level]
        distance = [] if hops is None else [hops[row]]
        yield [*place, *distance, *_values(task, target[row], counted[row], prediction[row])]


def _values(task: Task, target: Tensor, counted: Tensor, prediction: Tensor) -> list[Any]:
    if task.has_classes:
        chance, names = prediction.double().softmax(dim=0), _classes(task)
        return [names[int(target)], names[int(chance.argmax())], *(f"{share:.6g}" for share in chance.tolist())]
    truth = [str(value) if there else "" for value, there in zip(target.numpy(), counted.tolist(), strict=True)]
    return [*truth, *map(str, prediction.numpy())]


def _classes(task: Task) -> Sequence[str]:
    return task.classes or [str(number) for number in range(task.out_channels)]
