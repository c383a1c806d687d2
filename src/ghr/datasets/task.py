"""What is asked of the graphs: level, width, loss and metric. It belongs to the data, not to the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.checks import check_choice, check_number, check_whole, show
from ghr.datasets.metrics import METRICS, Metric, find_metric, make_metric
from ghr.hierarchy.tensors import FLOATS, WHOLES, check_tensor, check_values, describe, is_dense

TaskLevel = Literal["node", "graph", "edge"]
LOSSES: dict[str, type[nn.Module]] = {
    "mse": nn.MSELoss,
    "l1": nn.L1Loss,
    "huber": nn.HuberLoss,
    "cross_entropy": nn.CrossEntropyLoss,
    "bce": nn.BCEWithLogitsLoss,
}
MOST_CHANNELS = 2**31 - 1
DEFAULT_METRICS = {"mse": "mae", "l1": "mae", "huber": "mae", "cross_entropy": "accuracy", "bce": "roc_auc"}


@dataclass(frozen=True, eq=False)
class Task:
    r"""What is predicted, what training minimises and what chooses the best model.

    Args:
        level: ``"node"``, ``"graph"`` or ``"edge"``: what has one target each.
        out_channels: Width of a prediction: the number of targets, or of classes.
        loss: ``"mse"``, ``"l1"``, ``"huber"``, ``"cross_entropy"`` (targets are classes), ``"bce"`` (targets are 0 or
            1, predictions are logits), or any module ``(prediction, target) -> scalar``.
        metric: A name in :data:`~ghr.datasets.METRICS` or a :class:`~ghr.Metric`. By default the one that goes with
            the loss: MAE, accuracy or ROC-AUC. A bare function is refused: nobody knows whether higher is better.
        class_weight: For ``"cross_entropy"``, how much each class counts.
        classes: For classes, their names.
        name: What is predicted, for tables and files.

    Targets are read from ``data.y`` by :meth:`target`. Where an entry is NaN it is left out; so is what ``data.mask``
    leaves out, one flag per row or one per entry.

    Example:
        >>> Task("node", out_channels=1, loss="mse", metric="mae")
        Task('node', out_channels=1, loss='mse', metric='MAE')
    """

    level: TaskLevel
    out_channels: int = 1
    loss: str | nn.Module = "mse"
    metric: str | Metric | None = None
    class_weight: Sequence[float] | None = None
    classes: Sequence[str] | None = None
    name: str = "y"

    levels: ClassVar[tuple[str, ...]] = get_args(TaskLevel)

    def __post_init__(self) -> None:
        check_choice("level", self.level, self.levels)
        object.__setattr__(self, "out_channels", check_whole("out_channels", self.out_channels, most=MOST_CHANNELS))
        if isinstance(self.loss, str):
            check_choice("loss", self.loss, LOSSES)
        elif not isinstance(self.loss, nn.Module):
            raise ValueError(f"loss must be one of {', '.join(LOSSES)} or a module; got {show(self.loss)}.")
        metric = self.metric
        if metric is None:
            if not isinstance(self.loss, str):
                raise ValueError("A loss of your own does not say how to compare models; give a metric too.")
            metric = DEFAULT_METRICS[self.loss]
        object.__setattr__(self, "metric", make_metric(metric))
        if not isinstance(self.name, str):
            raise ValueError(f"name must be a word; got {show(self.name)}.")
        self._check_classes()

    def _check_classes(self) -> None:
        for name in ("class_weight", "classes"):
            given = getattr(self, name)
            if given is None:
                continue
            if self.loss != "cross_entropy" and not (name == "classes" and self.loss == "bce"):
                raise ValueError(f"{name} is for classes, that is for loss='cross_entropy'; the loss is {self.loss!r}.")
            listed = isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim == 1)
            if not listed or len(given) != self.out_channels:
                raise ValueError(f"{name} must have one entry per class, {self.out_channels}; got {show(given)}.")
        if self.class_weight is not None:
            weights = tuple(check_number("class_weight", weight, least=0) for weight in self.class_weight)
            object.__setattr__(self, "class_weight", weights)
        if self.classes is not None:
            object.__setattr__(self, "classes", tuple(map(str, self.classes)))

    @property
    def score(self) -> Metric:
        """The metric as an object."""
        return cast(Metric, self.metric)

    @property
    def has_classes(self) -> bool:
        """Whether a row has one class, and a prediction one score for each."""
        return self.loss == "cross_entropy" or isinstance(self.loss, nn.CrossEntropyLoss)

    @property
    def is_regression(self) -> bool:
        """Whether targets are numbers with a size; not classes, and not yes or no."""
        return not self.has_classes and self.loss != "bce" and not isinstance(self.loss, nn.BCEWithLogitsLoss)

    def criterion(self) -> nn.Module:
        """Return the loss of one prediction as a module."""
        if isinstance(self.loss, nn.Module):
            return self.loss
        if self.class_weight is not None:
            return nn.CrossEntropyLoss(weight=torch.tensor(self.class_weight))
        return LOSSES[self.loss]()

    def rows(self, data: Any) -> int:
        """Return how many nodes, graphs or edges a graph or batch has."""
        if not isinstance(data, Data):
            raise ValueError(f"The rows of a task are those of a graph of PyTorch Geometric; got {show(data)}.")
        if self.level == "node":
            return check_whole("num_nodes", data.num_nodes, 0)
        return int(data.num_edges) if self.level == "edge" else int(getattr(data, "num_graphs", 1))

    def target(self, data: Any) -> Tensor:
        """Return the targets of a graph or a batch, :math:`(N, C)` numbers or :math:`(N)` classes.

        Raises:
            ValueError: Where there are none, or they do not have one row per node, graph or edge.
        """
        y = getattr(data, "y", None)
        if not is_dense(y):
            found = "no y" if y is None else f"{describe(y)} as y"
            raise ValueError(f"The graph has {found}; targets are a tensor, one row per {self.level}.")
        rows, width = self.rows(data), 1 if self.has_classes else self.out_channels
        if y.numel() != rows * width or (y.dim() > 1 and y.size(0) != rows) or y.dim() > 2:
            raise ValueError(
                f"y must have the shape {(rows,) if self.has_classes else (rows, width)}, one row for each of {rows} "
                f"{self.level}s; got {tuple(y.shape)}."
            )
        if y.dtype not in FLOATS + WHOLES:
            raise ValueError(f"y must hold numbers or classes; got {y.dtype}.")
        check_values("y", y)
        if y.is_floating_point() and bool(y.isinf().any()):
            raise ValueError("y must hold finite numbers, or NaN where a target is missing; some of them are infinite.")
        if self.loss == "bce" and bool(((y < 0) | (y > 1)).any()):
            raise ValueError("y must hold 0 or 1 for loss='bce', or what is between; some of them are beyond.")
        if not self.has_classes:
            number = y.dtype if y.is_floating_point() else torch.get_default_dtype()
            return y.reshape(rows, width).to(number)
        if y.is_floating_point():
            known = ~y.isnan()
            if not bool((y[known] == y[known].round()).all()):
                raise ValueError("y must hold classes, whole numbers from 0; some of them are fractions.")
            y = torch.where(known, y, -torch.ones_like(y))
        y = y.reshape(rows)
        if y.numel() and y.max().item() >= self.out_channels:
            raise ValueError(f"y has the class {y.max().item():g}, but the task has {self.out_channels}, from 0.")
        return y.long()

    def counted(self, data: Any, target: Tensor) -> Tensor:
        """Return which entries of the targets count, of the shape of the targets.

        An entry is left out where its target is NaN (or a class below 0) or where ``data.mask`` says so.
        """
        there = target >= 0 if self.has_classes else ~target.isnan()
        if "mask" not in data:
            return there
        mask = data["mask"]
        shapes = {tuple(target.shape), (target.size(0),), (target.size(0), 1)}
        if not is_dense(mask) or mask.dtype != torch.bool or tuple(mask.shape) not in shapes:
            raise ValueError(
                f"data.mask must be boolean, one flag per row or one per entry of targets of shape "
                f"{tuple(target.shape)}; got {describe(mask)}."
            )
        check_values("data.mask", mask)
        return there & mask.reshape(-1, *(1,) * (target.dim() - 1)) if mask.numel() == target.size(0) else there & mask

    def check_prediction(self, prediction: Tensor, data: Any) -> None:
        """Raise a ValueError unless a prediction has one row per node, graph or edge, as wide as the task says."""
        wanted = (self.rows(data), self.out_channels)
        if tuple(check_tensor("The prediction", prediction).shape) != wanted:
            raise ValueError(
                f"The task asks for predictions of shape {wanted}, one row per {self.level}; the model gave "
                f"{tuple(prediction.shape)}."
            )

    def describe(self) -> dict[str, Any]:
        """Return the task in the types of JSON; a loss or a metric of one's own is named, not held."""
        name, factor = find_metric(self.score)
        return {
            "name": self.name,
            "level": self.level,
            "out_channels": self.out_channels,
            "loss": self.loss if isinstance(self.loss, str) else repr(self.loss),
            "metric": name,
            "factor": factor,
            "unit": self.score.unit,
            "higher_is_better": self.score.higher_is_better,
            "class_weight": None if self.class_weight is None else list(self.class_weight),
            "classes": None if self.classes is None else list(self.classes),
        }

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> "Task":
        """Return the task that :meth:`describe` describes.

        Raises:
            ValueError: Where it has a loss or a metric of one's own, which JSON does not hold.
        """
        given = dict(description)
        name, factor, unit = given.pop("metric"), check_number("factor", given.pop("factor")), given.pop("unit")
        given.pop("higher_is_better")
        for what, value, known in (("loss", given["loss"], LOSSES), ("metric", name, METRICS)):
            if not isinstance(value, str) or value not in known:
                raise ValueError(
                    f"The task has a {what} of its own, {show(value)}, which no file holds; pass the task again."
                )
        plain = factor == 1 and isinstance(unit, str) and not unit
        metric = METRICS[name] if plain else METRICS[name].scale(factor, unit)
        return cls(metric=metric, **given)

    def __repr__(self) -> str:
        return f"Task({self.level!r}, out_channels={self.out_channels}, loss={self.loss!r}, metric={self.score.name!r})"
