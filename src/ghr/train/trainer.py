"""Train a model so that a killed run goes on as if nothing had happened."""

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from lightning_fabric import Fabric
from torch import nn

from ghr.train.config import TrainConfig
from ghr.train.evaluate import Examples, ScoredExamples
from ghr.train.loop import Trainer
from ghr.train.processes import default_fabric, on_rank_zero
from ghr.train.run import RunDirectory, jsonable
from ghr.weights import load_weights

logger = logging.getLogger("ghr.train")


def train(
    model: nn.Module,
    train_set: Examples,
    val_set: ScoredExamples,
    config: TrainConfig,
    run_dir: str | os.PathLike[str],
    *,
    extra: Mapping[str, Any] | None = None,
    report: Callable[[nn.Module], Mapping[str, Any]] | None = None,
    quiet: bool = False,
    fabric: Fabric | None = None,
) -> dict[str, Any]:
    """Train a model, write everything about it into a run directory, and leave it with its best weights.

    Started again with the same arguments, a finished run returns its result at once, and an unfinished one goes on
    after its last whole epoch and ends, on the CPU, with the same weights bit for bit as if it had never stopped. Under
    ``torchrun`` or SLURM the same call trains on all processes together. The global random state is reseeded.

    Args:
        model: Has ``rollout(data, steps=None)``, which returns the predictions after every step. A model with an
            integer attribute ``steps`` is recurrent; only for these does ``config.jitter`` apply. Where it has a
            method ``penalty()``, the scalar this returns is added to what is minimised (not to the loss reported).
        train_set: Graphs with targets ``y`` and, optionally, a ``mask`` of the rows that count.
        val_set: Like ``train_set``, with the metric that chooses the best weights.
        config: How to train.
        run_dir: Where the run is written (:mod:`ghr.train.run`).
        extra: What describes model and data, in the types of JSON; part of ``config.json``. A directory is only
            reopened for the same description.
        report: Called once at the end with the best model; what it returns is stored as ``metrics`` of the result,
            where numbers that are not finite become ``null``.
        quiet: Whether to hide the progress bar.
        fabric: A launched Fabric, where the default one does not do.

    Returns:
        The content of ``result.json``.

    Raises:
        NotFiniteError: Where loss, gradient or validation metric stop being finite. It is a ``ValueError``.
        ValueError: Where ``run_dir`` belongs to another config, or its newest checkpoint is damaged.
        OSError: Where ``run_dir`` cannot be written.
    """
    described = _describe(config, extra or {})
    _check_trainable(model, train_set)
    fabric = default_fabric() if fabric is None else fabric
    run = RunDirectory(run_dir)
    result = on_rank_zero(fabric, lambda: run.open(described))
    if result is None:
        trainer = Trainer(model, train_set, val_set, config, run, fabric, quiet=quiet)
        trainer.fit()
        result = on_rank_zero(fabric, lambda: trainer.finish(described, report))
    best = on_rank_zero(fabric, run.read_best)
    if best is None:
        logger.warning("%s is finished but has no best weights; those of the model are left as they are.", run.path)
    else:
        load_weights(model, best, run.best)
    model.eval()
    return result


def _describe(config: TrainConfig, extra: Mapping[str, Any]) -> dict[str, Any]:
    if "train" in extra:
        raise ValueError("extra must not have the key 'train', which config.json uses for the training config.")
    described = jsonable({"train": asdict(config), **extra})
    assert isinstance(described, dict)
    return described


def _check_trainable(model: nn.Module, train_set: Examples) -> None:
    if not callable(getattr(model, "rollout", None)):
        raise TypeError(
            f"{type(model).__name__} cannot be trained: it has no method rollout(data, steps=None) that returns "
            f"the predictions after every step."
        )
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise ValueError(f"{type(model).__name__} cannot be trained: none of its parameters takes a gradient.")
    if len(train_set) == 0:
        raise ValueError("There is nothing to learn from: the training set has no graphs.")
