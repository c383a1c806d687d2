"""Predictions of a model on many graphs, and their score."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.checks import check_whole
from ghr.datasets.splits import Examples
from ghr.datasets.task import Task
from ghr.hierarchy.parts import Parts
from ghr.models.in_parts import InParts, Share
from ghr.progress import track
from ghr.train.collate import collate_list
from ghr.train.select import select_rows


def predict(
    model: nn.Module, graphs: Examples, task: Task, *, batch_size: int = 64, parts: int = 1, **loops: Any
) -> list[Tensor]:
    """Predict graphs, without gradients and in evaluation mode; they need no targets.

    Args:
        model: Called as ``model(data, **loops)``.
        graphs: The graphs, prepared as the model needs them.
        task: What is asked of them.
        batch_size: Graphs predicted at once.
        parts: Predict nodes in so many parts of every graph, one graph and one part at a time, which gives the same
            and takes less memory (:class:`~ghr.InParts`).
        **loops: Numbers for the loops of the model, where other than its own, such as ``steps=8``.

    Returns:
        One prediction per graph, a row for each of its nodes, for itself or for each of its edges, on the CPU.
    """
    predictions: list[Tensor] = []
    for batch, _, prediction in _run(model, graphs, task, batch_size, parts, loops):
        predictions += torch.split(prediction.cpu(), [task.rows(graph) for graph in batch])
    return predictions


def collect(
    model: nn.Module, graphs: Examples, task: Task, *, batch_size: int = 64, parts: int = 1, **loops: Any
) -> tuple[Tensor, Tensor]:
    """Predict graphs with targets; return the predictions and targets that count, over all of them.

    Rows stay together, unless a target of several numbers is known in part: then come single entries, except for a
    metric that is taken column by column, which gets NaN where a target is missing. Arguments as in :func:`predict`.

    Shapes:
        - **output:** prediction :math:`(N, C)` and target :math:`(N, C)`, or classes :math:`(N)`, on the CPU
    """
    pairs = [
        select_rows(task, data, prediction)
        for _, data, prediction in _run(model, graphs, task, batch_size, parts, loops)
    ]
    return join_pairs(pairs, task)


def join_pairs(pairs: Sequence[tuple[Tensor, Tensor]], task: Task) -> tuple[Tensor, Tensor]:
    """Return all predictions and targets that count, of those that :func:`~ghr.train.select.select_rows` gave."""
    guesses, targets = (torch.cat(side).cpu() for side in zip(*pairs, strict=True))
    there = ~targets.isnan()
    if task.score.columns or bool(there.all()):
        return guesses, targets
    return guesses[there], targets[there]


def evaluate(
    model: nn.Module,
    graphs: Examples,
    task: Task | None = None,
    *,
    batch_size: int = 64,
    parts: int = 1,
    **loops: Any,
) -> float:
    """Return the score of a model on graphs, by the metric of their task.

    Args:
        model: As in :func:`predict`; so are the other arguments.
        graphs: Graphs with targets.
        task: What is asked of them; by default the ``task`` of the dataset.
        batch_size: Graphs predicted at once.
        parts: As in :func:`predict`.
        **loops: Numbers for the loops of the model.
    """
    asked = find_task(task, graphs)
    prediction, target = collect(model, graphs, asked, batch_size=batch_size, parts=parts, **loops)
    return score(prediction, target, asked)


def score(prediction: Tensor, target: Tensor, task: Task) -> float:
    """Return the score of what :func:`collect` returned, or raise a ValueError where it is empty."""
    if target.shape[0] == 0:
        raise ValueError("The metric needs at least one target, but masks and missing entries leave none.")
    return task.score(prediction, target)


def find_task(task: Task | None, *sources: object) -> Task:
    """Return the task that is given or, without one, that of the first dataset that has one."""
    found = [getattr(source, "task", None) for source in sources]
    chosen = task if task is not None else next((own for own in found if isinstance(own, Task)), None)
    if not isinstance(chosen, Task):
        raise ValueError(
            "Nothing says what is asked of the graphs; pass a task, such as Task('node', out_channels=1, loss='mse', "
            f"metric='mae'); got {task!r}."
        )
    return chosen


def _run(
    model: nn.Module, graphs: Examples, task: Task, batch_size: int, parts: int, loops: dict[str, Any]
) -> Iterator[tuple[list[Any], Any, Tensor]]:
    """Give the graphs of every batch, the batch and its prediction."""
    if len(graphs) == 0:
        raise ValueError("There is nothing to predict: there are no graphs.")
    batch_size = check_whole("batch_size", batch_size)
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            if check_whole("parts", parts) > 1:
                for index in track(range(len(graphs)), "predict", unit="graph"):
                    data = graphs[index]
                    prediction = predict_parts(model, data, task, parts, loops)
                    yield [data], data, prediction
                return
            starts = range(0, len(graphs), batch_size)
            for start in track(starts, "predict", unit="batch"):
                batch = [graphs[index] for index in range(start, min(start + batch_size, len(graphs)))]
                data = collate_list(batch).to(device)
                prediction = model(data, **loops)
                task.check_prediction(prediction, data)
                yield batch, data, prediction
    finally:
        model.train(was_training)


def predict_parts(
    model: nn.Module, graph: Data, task: Task, parts: int, loops: dict[str, Any], share: Share | None = None
) -> Tensor:
    """Predict the nodes of one graph in parts.

    Args:
        model: The model.
        graph: The graph with its coarse levels.
        task: What is asked of it.
        parts: Number of parts; a small graph has fewer.
        loops: Numbers for the loops of the model.
        share: Which parts this process takes.
    """
    steps = {name: value for name, value in loops.items() if name == "steps"}
    inner = {name: value for name, value in loops.items() if name != "steps"}
    clusters = getattr(graph, "level1_batch", None)
    few = parts if clusters is None else min(parts, len(clusters))
    prediction = InParts(model, Parts(graph, few, halo=0), share=share, **inner).refresh(**steps, keep=False)
    task.check_prediction(prediction, graph)
    return prediction
