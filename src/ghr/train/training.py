"""Train a model so that a killed run goes on as if nothing had happened."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

from lightning_fabric import Fabric
from torch import nn
from torch_geometric.data import Data

from ghr.datasets.fingerprint import fingerprint
from ghr.datasets.splits import Examples, view_examples
from ghr.datasets.task import Task
from ghr.models.base import GraphModel
from ghr.models.pretrained import ARCHITECTURE, describe_model
from ghr.progress import hide_bars
from ghr.train.config import TrainConfig
from ghr.train.directory import FORMAT, RunDirectory, jsonable
from ghr.train.evaluate import find_task, predict
from ghr.train.least_squares import LeastSquaresTrainer, LinearModel, check_least_squares
from ghr.train.part_trainer import PartTrainer, try_parts
from ghr.train.processes import default_fabric, on_rank_zero
from ghr.train.trainer import Callback, Trainer

OWN_KEYS = ("format", ARCHITECTURE, "task", "train", "data")


def train(
    model: nn.Module,
    train_set: Examples,
    val_set: Examples,
    config: TrainConfig,
    run_dir: str | os.PathLike[str],
    *,
    task: Task | None = None,
    extra: Mapping[str, Any] | None = None,
    report: Callable[[nn.Module], Mapping[str, Any]] | None = None,
    callback: Callback | None = None,
    quiet: bool = False,
    fabric: Fabric | None = None,
) -> dict[str, Any]:
    """Train a model, write everything about it into a run directory, and leave it with its best weights.

    Started again with the same arguments, a finished run returns its result at once, and an unfinished one goes on
    after its last whole epoch and ends, on the CPU, with the same weights bit for bit as if it had never stopped. With
    more ``epochs`` (or ``patience``) a finished run goes on too. A directory of another model, other data or another
    task is refused, and so is one in which another process works. Under ``torchrun`` or SLURM the same call trains on
    all processes together. The global random state is reseeded.

    Args:
        model: Has ``rollout(data, steps=None)``, which returns the predictions after every step. A model with an
            integer attribute ``steps`` is recurrent; only for these does ``config.jitter`` apply. Where it has a
            method ``penalty(data)``, the scalar this returns is added to what is minimised (not to the loss reported);
            ``augment(data)`` may change a training batch, and ``anneal(progress)`` is told how far the training is.
            One with ``design(data)`` and ``set_coefficients(value)`` is linear
            (:class:`~ghr.train.least_squares.LinearModel`): it is solved for in one epoch, without gradients.
        train_set: Graphs with targets, prepared as the model needs them. Of a graph with a ``train_mask`` only these
            rows count.
        val_set: Graphs that choose the best weights, of a graph with a ``val_mask`` by these rows.
        config: How to train.
        run_dir: Where the run is written (:mod:`ghr.train.directory`).
        task: What is asked of the graphs; by default the ``task`` of the training set, where it is a dataset.
        extra: What else describes the run, in the types of JSON; part of ``config.json``. A directory is only
            reopened for the same description.
        report: Called once at the end with the best model; what it returns is stored as ``metrics`` of the result,
            where numbers that are not finite become ``null``.
        callback: Called after every epoch with the line of ``metrics.jsonl``.
        quiet: Whether to hide the progress bars.
        fabric: A launched Fabric, where the default one does not do.

    Returns:
        The content of ``result.json``.

    Raises:
        NotFiniteError: Where loss, gradient or validation metric stop being finite. It is a ``ValueError``.
        BusyError: Where another process works in ``run_dir``. It is a ``ValueError``.
        ValueError: Where ``run_dir`` belongs to another run, or what it holds is damaged.
        OSError: Where ``run_dir`` cannot be written.
    """
    asked = find_task(task, train_set, val_set)
    _check_trainable(model, train_set, val_set)
    check_least_squares(model, asked)
    train_set, val_set = view_examples(train_set, asked, "train"), view_examples(val_set, asked, "val")
    described = _describe(model, train_set, val_set, asked, config, extra or {})
    fabric = default_fabric() if fabric is None else fabric
    run = RunDirectory(run_dir)
    model.to(fabric.device)
    if not run.config.exists():
        _try_out(model, train_set, val_set, asked, config)
    with ExitStack() as stack:
        stack.enter_context(hide_bars(quiet or not fabric.is_global_zero))
        result = on_rank_zero(fabric, lambda: run.open(described, stack))
        if result is None:
            kind = _choose_trainer(model, config)
            trainer = kind(model, train_set, val_set, asked, config, run, fabric, quiet=quiet, callback=callback)
            trainer.fit()
            result = on_rank_zero(fabric, lambda: trainer.finish(described, report))
        best = on_rank_zero(fabric, run.read_best)
        run.load_best(model, best)
    model.eval()
    return result


def _choose_trainer(model: nn.Module, config: TrainConfig) -> type[Trainer]:
    if config.parts > 1:
        return PartTrainer
    return LeastSquaresTrainer if isinstance(model, LinearModel) else Trainer


def _describe(
    model: nn.Module, train_set: Examples, val_set: Examples, task: Task, config: TrainConfig, extra: Mapping[str, Any]
) -> dict[str, Any]:
    for key in OWN_KEYS:
        if key in extra:
            raise ValueError(f"extra must not have the key {key!r}, which config.json uses itself.")
    own = getattr(model, "config", None)
    architecture = describe_model(model, own if isinstance(own, dict) else {})
    described = {
        "format": FORMAT,
        ARCHITECTURE: {**architecture, "parts": _hash_parts(model)},
        "task": task.describe(),
        "train": config.describe(),
        "data": {"train": fingerprint(train_set), "val": fingerprint(val_set)},
        **extra,
    }
    return dict(jsonable(described))


def _hash_parts(model: nn.Module) -> str:
    """Return a hash of all layers and parameters, which tells models apart that have no config."""
    shapes = [(name, tuple(value.shape)) for name, value in model.state_dict().items()]
    parts = [repr(model), getattr(model, "steps", None), *shapes]
    return hashlib.sha256(json.dumps(parts, default=repr).encode()).hexdigest()[:16]


def _check_trainable(model: nn.Module, train_set: Examples, val_set: Examples) -> None:
    if not callable(getattr(model, "rollout", None)):
        raise TypeError(
            f"{type(model).__name__} cannot be trained: it has no method rollout(data, steps=None) that returns "
            f"the predictions after every step."
        )
    if isinstance(model, GraphModel) and not hasattr(model, "config"):
        raise ValueError(
            f"{type(model).__name__} could not be loaded again: its constructor must call self.remember(...) with all "
            f"its arguments."
        )
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise ValueError(f"{type(model).__name__} cannot be trained: none of its parameters takes a gradient.")
    if len(train_set) == 0:
        raise ValueError("There is nothing to learn from: the training set has no graphs.")
    if len(val_set) == 0:
        raise ValueError("Nothing can choose the best model: the validation set has no graphs.")
    for graphs in (train_set, val_set):
        if not isinstance(graphs[0], Data):
            raise ValueError(f"Graphs must be Data of PyTorch Geometric; got {type(graphs[0]).__name__}.")


def _try_out(model: nn.Module, train_set: Examples, val_set: Examples, task: Task, config: TrainConfig) -> None:
    """Raise what the first epoch would raise, while there is nothing on disk yet."""
    for name, graphs in (("training", train_set), ("validation", val_set)):
        if config.parts == 1:
            predict(model, [graphs[0]], task)
        elif graphs is train_set:
            try_parts(model, train_set, task, config)
        if not any(_has_target(graphs[index], task) for index in range(len(graphs))):
            raise ValueError(f"Masks and missing targets leave no target in any {name} graph; at least one is needed.")


def _has_target(graph: Data, task: Task) -> bool:
    return bool(task.counted(graph, task.target(graph)).any())
