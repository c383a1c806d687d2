"""Scores that benchmarks publish, pooled over all rows of a prediction."""

import torch
from torch import Tensor


def mean_absolute_error(prediction: Tensor, target: Tensor) -> float:
    """Return the mean absolute error over all entries."""
    return float(_difference(prediction, target).abs().mean())


def log10_mse(prediction: Tensor, target: Tensor) -> float:
    """Return the logarithm to base 10 of the mean squared error over all entries; minus infinity if there is none."""
    return float(torch.log10(_difference(prediction, target).square().mean()))


def check_shapes(prediction: Tensor, target: Tensor) -> None:
    """Raise a ValueError if the shapes differ."""
    if prediction.shape != target.shape:
        raise ValueError(
            f"Prediction and target must have the same shape; got {tuple(prediction.shape)} and {tuple(target.shape)}."
        )


def _difference(prediction: Tensor, target: Tensor) -> Tensor:
    check_shapes(prediction, target)
    if not prediction.numel():
        raise ValueError("The error of no rows is not defined; give at least one.")
    return prediction.detach().double() - target.detach().double()
