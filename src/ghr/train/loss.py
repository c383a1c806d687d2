"""The loss over all recurrent steps."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ghr.checks import check_flag, check_number

# Losses that compare entry by entry and would broadcast; whole numbers are never classes for them.
ENTRY_BY_ENTRY = (nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss, nn.BCELoss, nn.BCEWithLogitsLoss)


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
            raise ValueError(f"The criterion must be a loss such as nn.MSELoss(), but is {criterion!r}.")
        self.criterion = criterion
        self.gamma = check_number("gamma", gamma, above=0, most=1, also=", which weighs all steps alike")
        self.log10 = check_flag("log10", log10)

    def forward(self, predictions: Sequence[Tensor], target: Tensor) -> Tensor:
        """The discounted sum, or its logarithm."""
        total = self.total(predictions, target)
        return total.log10() if self.log10 else total

    def total(self, predictions: Sequence[Tensor], target: Tensor) -> Tensor:
        r"""The discounted sum :math:`\mathcal{L}`, before any logarithm."""
        if len(predictions) == 0:
            raise ValueError("The loss needs the prediction of at least one step, but the list is empty.")
        total = predictions[0].new_zeros(())
        for prediction in predictions:
            check_alike(prediction, target, classes=not isinstance(self.criterion, ENTRY_BY_ENTRY))
            step_loss: Tensor = self.criterion(*_align(prediction, target))
            if step_loss.dim() != 0:
                raise ValueError(
                    f"The criterion must reduce to a scalar, but {self.criterion} returned the shape "
                    f"{tuple(step_loss.shape)}."
                )
            # Horner's rule: every later step discounts all earlier ones once more.
            total = self.gamma * total + step_loss
        return total

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.criterion}, gamma={self.gamma}, log10={self.log10})"


def check_alike(prediction: Tensor, target: Tensor, *, classes: bool) -> None:
    """Refuse what a criterion would silently broadcast.

    Args:
        prediction: What was predicted.
        target: What would be right.
        classes: Whether whole numbers may be the classes of rows of scores.
    """
    scores = classes and target.dim() == 1 and not target.is_floating_point() and prediction.shape[1:] != (1,)
    if (prediction.shape[:1] if scores and prediction.dim() == 2 else prediction.shape) != target.shape:
        raise ValueError(
            f"A prediction and its target must have the same shape, but the prediction is {tuple(prediction.shape)} "
            f"and the target {tuple(target.shape)}."
        )


def _align(prediction: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return numbers in the finer of their two precisions: some criteria fail where they differ; classes stay."""
    if not target.is_floating_point():
        return prediction, target
    dtype = torch.promote_types(prediction.dtype, target.dtype)
    return prediction.to(dtype), target.to(dtype)
