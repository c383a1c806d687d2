"""How a model starts: its first predictions and gradients, and how soon it is better than a constant."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ghr.datasets.splits import Splits
from ghr.datasets.task import Task
from ghr.experiment import Experiment
from ghr.models import GraphModel
from ghr.train import DiscountedLoss, collect
from ghr.train.batches import epoch_batches
from ghr.train.collate import collate
from ghr.train.select import select_rows

WINDOW = 8  # batches over which the loss is averaged before it is compared with that of a constant


@dataclass(frozen=True)
class StartTest:
    """A benchmark on which starts are compared.

    Args:
        benchmark: Its name in ``BENCHMARKS``.
        updates: Updates of the training; ``0`` looks at the untrained model only.
        settings: What differs from the recipe, to make it cheap.
        graphs: Graphs of every split.
        batch_size: Graphs in a batch.
    """

    benchmark: str
    updates: int
    settings: Mapping[str, Any] = field(default_factory=lambda: {"hidden_channels": 16})
    graphs: Mapping[str, int] = field(default_factory=lambda: {"train": 16, "val": 16, "test": 1})
    batch_size: int = 4

    def experiment(self, conv: str, start: str, seed: int = 0) -> Experiment:
        """Return what is trained."""
        settings = {**self.settings, "conv": conv, "start": start}
        return Experiment.on(self.benchmark, "ghr", settings, graphs=self.graphs, source="generate", seed=seed)


@dataclass(frozen=True)
class Started:
    """What was measured of one start.

    Args:
        mean_prediction: Mean size of the predictions of the untrained model.
        largest_prediction: The largest of them, also with twice the steps.
        mean_target: Mean size of the targets.
        largest_target: The largest of them.
        first_loss: Loss of the first batch over that of the best constant.
        gradient: Norm of the first gradient, before any clipping.
        passed: Updates after which the loss was below that of the constant; ``None`` if it never was.
        score: Validation error by the metric of the task after all updates; ``None`` without training.
        constant_score: The same of the constant.
    """

    mean_prediction: float
    largest_prediction: float
    mean_target: float
    largest_target: float
    first_loss: float
    gradient: float
    passed: int | None
    score: float | None
    constant_score: float

    @property
    def on_scale(self) -> bool:
        """Whether the untrained model predicts on the scale of its targets."""
        on_average = self.mean_prediction <= self.mean_target + 1
        return on_average and self.largest_prediction <= 10 * self.largest_target


def measure_start(test: StartTest, conv: str, start: str, root: str | Path, *, seed: int = 0) -> Started:
    """Build a model, look at it untrained, and train it for a while.

    Args:
        test: The benchmark and how long to train.
        conv: Message passing.
        start: As in :class:`~ghr.GHR`.
        root: Folder of the benchmarks' graphs.
        seed: Of weights and batches.
    """
    experiment = test.experiment(conv, start, seed)
    model = experiment.build(experiment.data.load(root))
    splits = experiment.data.load(root, model.transform)
    task = splits.task
    guess, target = collect(model, splits.train, task, batch_size=test.batch_size)
    more, _ = collect(model, splits.train, task, batch_size=test.batch_size, steps=2 * model.config["steps"])
    constant = _best_constant(task, target)
    losses, gradient = _train(model, splits, experiment, test)
    reference = _criterion(task, constant.expand_as(target), target)
    score = None
    known, truth = collect(model, splits.val, task, batch_size=test.batch_size)
    if test.updates:
        score = task.score(known, truth)
    return Started(
        mean_prediction=float(guess.abs().mean()),
        largest_prediction=max(float(guess.abs().max()), float(more.abs().max())),
        mean_target=float(target.abs().mean()),
        largest_target=float(target.abs().max()),
        first_loss=losses[0] / reference if reference > 0 else math.inf,
        gradient=gradient,
        passed=_first_below(losses, reference),
        score=score,
        constant_score=task.score(constant.expand_as(truth), truth),
    )


def _train(model: GraphModel, splits: Splits, experiment: Experiment, test: StartTest) -> tuple[list[float], float]:
    """Train; return the loss of the last step of every batch, before the update, and the norm of the first gradient."""
    recipe, task = experiment.train, splits.task
    loss = DiscountedLoss(task.criterion(), recipe.gamma, recipe.log10)
    optimizer = torch.optim.Adam(model.parameters(), lr=recipe.lr)
    losses: list[float] = []
    gradient, batches, epoch = math.nan, [[0]][:0], 0
    model.train()
    for _ in range(max(1, test.updates)):
        if not batches:
            batches = epoch_batches(len(splits.train), test.batch_size, seed=recipe.seed, epoch=epoch)
            epoch += 1
        data = collate(splits.train, batches.pop(0))
        pairs = [select_rows(task, data, prediction) for prediction in model.rollout(data)]
        target = pairs[0][1]
        optimizer.zero_grad()
        loss([prediction for prediction, _ in pairs], target).backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), math.inf if recipe.clip is None else recipe.clip)
        gradient = gradient if losses else float(norm)
        losses.append(_criterion(task, pairs[-1][0].detach(), target))
        if test.updates:
            optimizer.step()
    return losses, gradient


def _criterion(task: Task, prediction: Tensor, target: Tensor) -> float:
    return float(task.criterion()(prediction, target))


def _best_constant(task: Task, target: Tensor) -> Tensor:
    """Return the mean or the median of the targets, whichever has the smaller loss."""
    candidates = (target.mean(dim=0, keepdim=True), target.median(dim=0, keepdim=True).values)
    return min(candidates, key=lambda value: _criterion(task, value.expand_as(target), target))


def _first_below(losses: list[float], reference: float) -> int | None:
    """Return after how many updates the mean of the last batches was below a loss."""
    for count in range(WINDOW, len(losses) + 1):
        if sum(losses[count - WINDOW : count]) / WINDOW < reference:
            return count
    return None
