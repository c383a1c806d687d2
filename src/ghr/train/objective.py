"""The loss of a batch that is spread over processes."""

import math
from typing import cast

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn

from ghr.train.loss import DiscountedLoss


class NotFiniteError(FloatingPointError, ValueError):
    """Training ran into a number that is not finite."""


class GlobalLoss:
    r"""The loss of a global batch, of which every process holds some rows.

    With :math:`n_p` of the :math:`n` targets on process :math:`p`, the loss of the batch is
    :math:`\mathcal{L} = \sum_p \frac{n_p}{n} \mathcal{L}_p`; classes with weights count by these. Processes average
    their gradients, hence each one differentiates :math:`P \frac{n_p}{n} \mathcal{L}_p`. The logarithm is taken of the
    sum over all processes, hence its gradient is that of :math:`\mathcal{L}` divided by :math:`\ln 10` times the value
    of :math:`\mathcal{L}`.

    Args:
        loss: The loss of the rows of one process.
        fabric: Connects the processes.
    """

    def __init__(self, loss: DiscountedLoss, fabric: Fabric) -> None:
        self.loss = loss
        self.fabric = fabric

    def weigh(self, target: Tensor) -> float:
        """Return how much targets count: their number or, for classes with weights, the sum of these."""
        criterion = self.loss.criterion
        if isinstance(criterion, nn.CrossEntropyLoss) and criterion.weight is not None:
            return float(criterion.weight[target].sum())
        return target.numel()

    def add_up(self, share: float) -> float:
        """Return the sum of a number over all processes."""
        if self.fabric.world_size == 1:
            return float(share)
        return float(self._sum(torch.tensor(float(share), dtype=torch.float64, device=self.fabric.device)))

    def __call__(
        self, predictions: list[Tensor], target: Tensor, *, share: float, whole: float
    ) -> tuple[Tensor, float]:
        """Return what this process differentiates, and the value of the loss of the global batch.

        Args:
            predictions: The predictions of this process, first step first.
            target: The targets of this process.
            share: How much they count, by :meth:`weigh`; ``0`` if they shall not.
            whole: The same of all processes together.
        """
        if share:
            local = self.loss.total(predictions, target)
        else:
            # The mean over nothing is not a number, but the gradient of this process is waited for.
            local = torch.stack([prediction.sum() for prediction in predictions]).sum() * 0.0
        total = self._sum(local.detach() * share) / whole
        surrogate = local * (share * self.fabric.world_size / whole)
        if self.loss.log10:
            # Nothing is left to learn where the loss is zero, and its logarithm has no slope.
            slope = 1 / (math.log(10.0) * total) if total > 0 else torch.zeros_like(total)
            return surrogate * slope, float(total.log10())
        return surrogate, float(total)

    def _sum(self, value: Tensor) -> Tensor:
        return cast(Tensor, self.fabric.all_reduce(value, reduce_op="sum"))
