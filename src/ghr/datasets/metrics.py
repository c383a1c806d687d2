"""Scores of predictions, each with its unit and with which way is better."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ghr.checks import check_choice, check_flag, check_number, show
from ghr.hierarchy.tensors import check_range, check_tensor, check_values

Score = Callable[[Tensor, Tensor], float]
MOST_POWER = 300  # of ten, which leaves room for a sum


@dataclass(frozen=True)
class Metric:
    """A score with a name, a unit and a direction.

    Args:
        name: How people call it.
        score: ``(prediction, target) -> number``, over the rows of a whole dataset.
        unit: Unit of the number; empty where it has none.
        higher_is_better: Which way is better; an error is better where it is lower.
        columns: Whether the score is taken column by column and gets whole rows, with NaN where a target is missing.
            Otherwise it gets only entries that are there.
    """

    name: str
    score: Score
    unit: str = ""
    higher_is_better: bool = False
    columns: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"A metric needs a name; got {show(self.name)}.")
        if not callable(self.score):
            raise ValueError(f"score must be a function (prediction, target) -> number; got {show(self.score)}.")
        if not isinstance(self.unit, str):
            raise ValueError(f"unit must be a word, or an empty one for none; got {show(self.unit)}.")
        check_flag("higher_is_better", self.higher_is_better)
        check_flag("columns", self.columns)

    def __call__(self, prediction: Tensor, target: Tensor) -> float:
        """Return the score of a prediction; that of one with entries that are not numbers is not a number."""
        for name, value in (("The prediction", prediction), ("The target", target)):
            check_values(name, check_tensor(name, value))
        if prediction.is_floating_point() and bool(prediction.isnan().any()):
            return float("nan")
        return float(self.score(prediction, target))

    def is_better(self, new: float, old: float) -> bool:
        """Whether a score is better than another; one that is not a number never is."""
        return new > old if self.higher_is_better else new < old

    @property
    def worst(self) -> float:
        """A score that any other is better than."""
        return float("-inf") if self.higher_is_better else float("inf")

    def scale(self, factor: float, unit: str) -> "Metric":
        """Return the same metric times a factor, in another unit."""
        factor = check_number("factor", factor)
        before = self.score if isinstance(self.score, _Scaled) else _Scaled(self.score, 1.0)
        return replace(self, score=_Scaled(before.score, factor * before.factor), unit=unit)

    def __str__(self) -> str:
        return f"{self.name}, {self.unit}" if self.unit else self.name


@dataclass(frozen=True)
class _Scaled:
    score: Score
    factor: float

    def __call__(self, prediction: Tensor, target: Tensor) -> float:
        return self.factor * self.score(prediction, target)


def mean_absolute_error(prediction: Tensor, target: Tensor) -> float:
    """Return the mean absolute error over all entries."""
    return float(_difference(prediction, target).abs().mean())


def mae_of_powers(prediction: Tensor, target: Tensor) -> float:
    """Return the mean absolute error after ten to the power of both, for logarithms of what is asked for.

    Predictions above 300 count as 300. The power of an untrained model's is often more than a number can hold, and an
    error that is not finite would end its training.
    """
    check_shapes(prediction, target)
    return mean_absolute_error(10 ** prediction.double().clamp(max=MOST_POWER), 10 ** target.double())


def log10_mse(prediction: Tensor, target: Tensor) -> float:
    """Return the logarithm to base 10 of the mean squared error over all entries; minus infinity if there is none."""
    return float(torch.log10(_difference(prediction, target).square().mean()))


def r2(prediction: Tensor, target: Tensor) -> float:
    r"""Return the coefficient of determination, the mean over columns.

    For one column it is :math:`1 - \sum (y - \hat y)^2 / \sum (y - \bar y)^2`. A column whose targets are all
    equal has no spread to explain: it counts as one where the prediction is exact and as zero otherwise.
    """
    check_shapes(prediction, target)
    scores = []
    for guess, truth in _columns(prediction, target):
        error, spread = (truth - guess).square().sum(), (truth - truth.mean()).square().sum()
        exact = float(error == 0)
        scores.append(float(1 - error / spread) if spread > 0 else exact)
    return _mean(scores)


def accuracy(prediction: Tensor, target: Tensor) -> float:
    """Return the share of rows whose highest score is that of the right class.

    Predictions of one column, or of the shape of the targets, are logits: above zero says yes.
    """
    classes, truth = _classes(prediction, target)
    return float((classes == truth).double().mean())


def macro_f1(prediction: Tensor, target: Tensor) -> float:
    """Return the F1 score of every class that occurs, in targets or predictions, and the mean of them."""
    classes, truth = _classes(prediction, target)
    scores = []
    for label in torch.unique(torch.cat([classes.reshape(-1), truth.reshape(-1)])):
        hits = ((classes == label) & (truth == label)).sum().double()
        scores.append(float(2 * hits / ((classes == label).sum() + (truth == label).sum())))
    return _mean(scores)


def roc_auc(prediction: Tensor, target: Tensor) -> float:
    """Return the area under the ROC curve, ties counting half; the mean over columns, or over classes against the rest.

    Columns whose targets are all alike have no curve and are left out.
    """
    if target.dim() == 1 and prediction.dim() == 2:
        if prediction.size(1) == 1:
            target = target.unsqueeze(1)
        elif prediction.size(1) > 1:  # one class against the rest; the scores of all classes make a probability
            check_shapes(prediction[:, 0], target)
            prediction = prediction.detach().double().softmax(dim=1)
            if not bool((target == target.long()).all()):
                raise ValueError("The target must hold classes, whole numbers from 0; some of them are not.")
            check_range("The target", target, prediction.size(1) - 1)
            target = torch.nn.functional.one_hot(target.long(), prediction.size(1))
    check_shapes(prediction, target)
    scores = []
    for guess, truth in _columns(prediction, target):
        positive = truth > 0.5
        wins, losses = int(positive.sum()), int((~positive).sum())
        if wins and losses:
            rank = _ranks(guess)
            scores.append(float((rank[positive].sum() - wins * (wins + 1) / 2) / (wins * losses)))
    if not scores:
        raise ValueError("The area under the ROC curve needs both answers in some column; every column has one only.")
    return _mean(scores)


METRICS: dict[str, Metric] = {
    "mae": Metric("MAE", mean_absolute_error),
    "mae_of_powers": Metric("MAE after 10**", mae_of_powers),
    "log10_mse": Metric("log10 MSE", log10_mse),
    "r2": Metric("R2", r2, higher_is_better=True, columns=True),
    "accuracy": Metric("accuracy", accuracy, higher_is_better=True),
    "macro_f1": Metric("macro F1", macro_f1, higher_is_better=True),
    "roc_auc": Metric("ROC-AUC", roc_auc, higher_is_better=True, columns=True),
}


def make_metric(metric: "str | Metric") -> Metric:
    """Return a metric by its name in :data:`METRICS`, or the one given; a bare function is refused."""
    if isinstance(metric, Metric):
        return metric
    if callable(metric):
        name = show(getattr(metric, "__name__", metric))
        raise ValueError(
            f"The metric {name} is a bare function, and nobody knows whether higher "
            'or lower is better; write Metric("its name", function, higher_is_better=...).'
        )
    return METRICS[check_choice("metric", metric, METRICS)]


def find_metric(metric: Metric) -> tuple[str, float]:
    """Return the name in :data:`METRICS` of a metric and what it is multiplied by; of any other, its own name."""
    scaled = metric.score if isinstance(metric.score, _Scaled) else _Scaled(metric.score, 1.0)
    for name, known in METRICS.items():
        if known.score == scaled.score and known.higher_is_better == metric.higher_is_better:
            return name, scaled.factor
    return metric.name, 1.0


def check_shapes(prediction: Tensor, target: Tensor) -> None:
    """Raise a ValueError if the shapes differ: one of them would be broadcast silently."""
    if prediction.shape != target.shape:
        raise ValueError(
            f"Prediction and target must have the same shape; got {tuple(prediction.shape)} and {tuple(target.shape)}."
        )


def _difference(prediction: Tensor, target: Tensor) -> Tensor:
    check_shapes(prediction, target)
    _check_rows(target)
    return prediction.detach().double() - target.detach().double()


def _columns(prediction: Tensor, target: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Return prediction and target of every column, without the entries that are missing."""
    _check_rows(target)
    guesses, truths = (value.detach().double().reshape(len(value), -1) for value in (prediction, target))
    there = ~truths.isnan()
    pairs = [(guesses[:, c][there[:, c]], truths[:, c][there[:, c]]) for c in range(truths.size(1))]
    return [pair for pair in pairs if pair[1].numel()]


def _classes(prediction: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    _check_rows(target)
    if target.dim() == 1 and prediction.dim() == 2 and prediction.size(1) > 1:
        classes = (prediction if prediction.is_floating_point() else prediction.long()).argmax(dim=1)
    else:
        if sorted([prediction.dim(), target.dim()]) == [1, 2] and prediction.numel() == target.numel():
            prediction, target = prediction.reshape(-1), target.reshape(-1)  # one of them is a single column
        classes = (prediction > 0).long() if prediction.is_floating_point() else prediction
    if classes.shape != target.shape:
        raise ValueError(
            f"Scores (N, classes) or classes (N) are needed for N targets; got {tuple(prediction.shape)} and "
            f"{tuple(target.shape)}."
        )
    return classes.long(), target.long()


def _ranks(values: Tensor) -> Tensor:
    """Return the rank of every value from one up, equal values sharing the mean of theirs."""
    _, group, count = torch.unique(values, sorted=True, return_inverse=True, return_counts=True)
    last = count.cumsum(0).double()
    ranks: Tensor = (last - (count.double() - 1) / 2)[group]
    return ranks


def _mean(scores: list[float]) -> float:
    if not scores:
        raise ValueError("The score of no rows is not defined; give at least one.")
    return sum(scores) / len(scores)


def _check_rows(target: Tensor) -> None:
    if not target.numel():
        raise ValueError("The error of no rows is not defined; give at least one.")
