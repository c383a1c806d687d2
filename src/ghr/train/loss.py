"""The loss over all recurrent steps."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ghr.checks import check_flag, check_number, show
from ghr.hierarchy.tensors import at_hand, check_range, check_tensor, describe, is_dense

# Losses that compare entry by entry and would broadcast; whole numbers are never classes for them.
ENTRY_BY_ENTRY = (nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss, nn.BCELoss, nn.BCEWithLogitsLoss)
OVER_CLASSES = (nn.CrossEntropyLoss, nn.NLLLoss)


class DiscountedLoss(nn.Module):
    r"""Loss over all recurrent steps, later steps weighing more.

    .. math::
        \mathcal{L} = \sum_{r=1}^{R} \gamma^{R-r}\, \ell\big(\hat{y}^{(r)}, y\big)

    With ``log10=True`` the output is :math:`\log_{10} \mathcal{L}`, which keeps gradients of useful size while the
    loss falls over many orders of magnitude.

    Args:
        criterion: Per-step loss :math:`\ell`, reduced to a scalar.
        gamma: Discount in ``(0, 1]``; ``1.0`` weighs all steps alike.
        log10: Whether to return the logarithm of the sum.

    Shapes:
        - **predictions:** :math:`R` tensors :math:`(N, C)`, first step first
        - **target:** :math:`(N, C)`, or classes :math:`(N)` for a criterion over scores like ``nn.CrossEntropyLoss``
        - **output:** scalar
    """

    def __init__(self, criterion: nn.Module, gamma: float = 1.0, log10: bool = False) -> None:
        super().__init__()
        if not callable(criterion) or isinstance(criterion, type):
            raise ValueError(f"The criterion must be a loss such as nn.MSELoss(), but is {show(criterion)}.")
        self.criterion = criterion
        self.gamma = check_number("gamma", gamma, above=0, most=1, also=", which weighs all steps alike")
        self.log10 = check_flag("log10", log10)

    def forward(self, predictions: Sequence[Tensor], target: Tensor) -> Tensor:
        """The discounted sum, or its logarithm."""
        total = self.total(predictions, target)
        return total.log10() if self.log10 else total

    def total(self, predictions: Sequence[Tensor], target: Tensor) -> Tensor:
        r"""The discounted sum :math:`\mathcal{L}`, before any logarithm."""
        steps = _check_predictions(predictions)
        target = check_tensor("The target", target)
        if isinstance(self.criterion, OVER_CLASSES):
            target = _check_classes(self.criterion, steps[0], target)
        total = steps[0].new_zeros(())
        for prediction in steps:
            _refuse_broadcast(prediction, target, classes=not isinstance(self.criterion, ENTRY_BY_ENTRY))
            step_loss: Tensor = self.criterion(*self._align(prediction, target))
            if not isinstance(step_loss, Tensor) or step_loss.dim() != 0:
                got = f"the shape {tuple(step_loss.shape)}" if isinstance(step_loss, Tensor) else show(step_loss)
                raise ValueError(f"The criterion must reduce to a scalar, but {self.criterion} returned {got}.")
            # Horner's rule: every later step discounts all earlier ones once more.
            total = self.gamma * total + step_loss
        return total

    def _align(self, prediction: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return numbers in the finer of their two precisions: some criteria fail where they differ; classes stay."""
        if not target.is_floating_point():
            return prediction, target.to(prediction.dtype) if isinstance(self.criterion, ENTRY_BY_ENTRY) else target
        dtype = torch.promote_types(prediction.dtype, target.dtype)
        return prediction.to(dtype), target.to(dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.criterion}, gamma={self.gamma}, log10={self.log10})"


def _check_predictions(predictions: Any) -> list[Tensor]:
    """Return the predictions of all steps, or raise a ValueError."""
    stacked = is_dense(predictions) and predictions.dim() > 0
    if not stacked and (not isinstance(predictions, Sequence) or isinstance(predictions, str)):
        raise ValueError(
            f"The loss takes the predictions of all steps as a list of tensors; got {describe(predictions)}."
        )
    steps = [check_tensor("The prediction of a step", prediction) for prediction in predictions]
    if not steps:
        raise ValueError("The loss needs the prediction of at least one step, but the list is empty.")
    for prediction in steps:
        if not prediction.is_floating_point():
            raise ValueError(f"A prediction must hold floating point numbers; got {describe(prediction)}.")
        if prediction.shape != steps[0].shape:
            raise ValueError(
                f"The predictions of all steps must have the same shape; got {tuple(steps[0].shape)} and "
                f"{tuple(prediction.shape)}."
            )
    return steps


def _check_classes(criterion: nn.Module, scores: Tensor, target: Tensor) -> Tensor:
    """Return classes as a criterion over scores takes them; probabilities of classes stay as they are."""
    if scores.dim() != 2:
        raise ValueError(
            f"{criterion} reads a row of scores per item, but a prediction has the shape {tuple(scores.shape)}."
        )
    if target.is_floating_point() and isinstance(criterion, nn.CrossEntropyLoss):
        return target
    if target.is_floating_point() or target.dim() != 1:
        raise ValueError(f"{criterion} reads one class per item, whole numbers of shape (N,); got {describe(target)}.")
    classes = target.long()
    known = classes[classes != criterion.ignore_index] if at_hand(classes) else classes[:0]
    check_range("The target", known, scores.size(1) - 1)
    return classes


def _refuse_broadcast(prediction: Tensor, target: Tensor, *, classes: bool) -> None:
    """Refuse what a criterion would silently broadcast.

    Args:
        prediction: What was predicted.
        target: What would be right.
        classes: Whether whole numbers may be the classes of rows of scores.
    """
    if prediction.device != target.device:
        raise ValueError(
            f"A prediction and its target must be on the same device; got {prediction.device} and {target.device}."
        )
    scores = classes and target.dim() == 1 and not target.is_floating_point() and prediction.shape[1:] != (1,)
    if (prediction.shape[:1] if scores and prediction.dim() == 2 else prediction.shape) != target.shape:
        raise ValueError(
            f"A prediction and its target must have the same shape, but the prediction is {tuple(prediction.shape)} "
            f"and the target {tuple(target.shape)}."
        )
