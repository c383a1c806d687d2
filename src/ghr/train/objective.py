"""The loss of a batch that is spread over processes."""

import math

import torch
from lightning_fabric import Fabric
from torch import Tensor

from ghr.train.loss import DiscountedLoss


class NotFiniteError(FloatingPointError, ValueError):
    """Training ran into a number that is not finite."""


class GlobalLoss:
    r"""The loss of a global batch, of which every process holds some rows.

    With :math:`n_p` of the :math:`n` rows on process :math:`p`, the loss of the batch is
    :math:`\mathcal{L} = \sum_p \frac{n_p}{n} \mathcal{L}_p`. Processes average their gradients, hence each one
    differentiates :math:`P \frac{n_p}{n} \mathcal{L}_p`. The logarithm is taken of the sum over all processes, hence
    its gradient is that of :math:`\mathcal{L}` divided by :math:`\ln 10` times the value of :math:`\mathcal{L}`.

    Args:
        loss: The loss of the rows of one process.
        fabric: Connects the processes.
    """

    def __init__(self, loss: DiscountedLoss, fabric: Fabric) -> None:
        self.loss = loss
        self.fabric = fabric

    def count(self, rows: int) -> int:
        """The number of rows on all processes together."""
        return int(self._sum(torch.tensor(rows, device=self.fabric.device)))

    def __call__(self, predictions: list[Tensor], target: Tensor, *, rows: int, all_rows: int) -> tuple[Tensor, float]:
        """What this process differentiates, and the value of the loss of the global batch.

        Args:
            predictions: The predictions of this process, first step first.
            target: The targets of this process.
            rows: How many rows count on this process; ``0`` if none of those given does.
            all_rows: How many rows count on all processes.
        """
        if rows:
            local = self.loss.total(predictions, target)
        else:
            # The mean over no row is not a number, but the gradient of this process is waited for.
            local = torch.stack([prediction.sum() for prediction in predictions]).sum() * 0.0
        total = self._sum(local.detach() * rows) / all_rows
        surrogate = local * (rows * self.fabric.world_size / all_rows)
        if self.loss.log10:
            return surrogate / (math.log(10.0) * total), float(total.log10())
        return surrogate, float(total)

    def _sum(self, value: Tensor) -> Tensor:
        reduced = self.fabric.all_reduce(value, reduce_op="sum")
        assert isinstance(reduced, Tensor)
        return reduced
