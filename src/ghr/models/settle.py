"""When a recurrence has run long enough."""

import logging
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from ghr.checks import check_number, check_whole

MOST_STEPS = 10**6  # of any loop: a number beyond is a mistake that would take days
logger = logging.getLogger(__name__)


def relative_change(before: Tensor, after: Tensor) -> float:
    """Return the largest change of a number, over the largest number after it; zero where nothing changed."""
    before, after = before.detach(), after.detach()
    change = float((after - before).abs().max()) if after.numel() else 0.0
    if change == 0:
        return 0.0
    largest = float(after.abs().max())
    return change / largest if largest else math.inf


@dataclass(frozen=True)
class Settled:
    r"""Runs until predictions no longer change, in place of a number of steps.

    A batch stops after the first step :math:`r` with
    :math:`\max |\hat y^{(r)} - \hat y^{(r-1)}| \leq \text{tolerance} \cdot \max |\hat y^{(r)}|`, that is when the last
    of its graphs has settled. It also stops where what still changes does so by the same amount at every step: values
    of nodes that no source reaches grow for ever. :class:`~ghr.MinPlusGHR` settles, and so does ``values="select"``;
    :class:`~ghr.GHR` of the paper need not, and may get worse with every step beyond those of its training, of which a
    warning is logged.

    Args:
        tolerance: Largest change that counts as none, relative to the largest prediction.
        limit: Most steps; ``None`` for what the graphs can need: the largest has fewer hops between any two nodes than
            it has nodes, and one more step shows that nothing changes any more.
    """

    tolerance: float = 1e-5
    limit: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "tolerance", check_number("tolerance", self.tolerance, least=0))
        if self.limit is not None:
            object.__setattr__(self, "limit", check_whole("limit", self.limit, most=MOST_STEPS))

    def reached(self, before: Tensor, after: Tensor) -> bool:
        """Whether the last step changed nothing."""
        return relative_change(before, after) <= self.tolerance

    def drifts(self, first: Tensor, second: Tensor, third: Tensor) -> bool:
        """Whether two steps in a row changed all predictions by the same, within the tolerance."""
        change = (third - second) - (second - first)
        return bool(change.abs().max() <= self.tolerance * third.abs().max())

    def most(self, batch: Tensor, updates: int) -> int:
        """Return the most steps for a batch of graphs.

        Args:
            batch: Graph of every node.
            updates: How many hops information moves in one step.
        """
        if self.limit is not None:
            return self.limit
        return -(-int(torch.bincount(batch).max()) // updates) + 1

    def until(self, predictions: Iterable[Tensor]) -> list[Tensor]:
        """Return the predictions up to the first that is like the one before it."""
        taken: list[Tensor] = []
        for prediction in predictions:
            taken.append(prediction)
            if len(taken) > 1 and self.reached(taken[-2], taken[-1]):
                return taken
            if len(taken) > 2 and self.drifts(*taken[-3:]):
                changing = (taken[-1] - taken[-2]).abs() > self.tolerance * taken[-1].abs().max()
                logger.info("%d predictions grow by the same at every step; the others have settled.", changing.sum())
                return taken
        if len(taken) > 1 and self.limit is None:
            logger.warning(
                "Predictions have not settled within %d steps: the last one changed them by %.2g of their size. More "
                "steps than in training need not help this model.",
                len(taken),
                relative_change(*taken[-2:]),
            )
        return taken


Steps: TypeAlias = int | Literal["auto"] | Settled


def check_steps(steps: object) -> int | Settled:
    """Return a number of steps or the rule that ends them, or raise a ValueError for something else."""
    if isinstance(steps, Settled):
        return steps
    if isinstance(steps, str) and steps == "auto":
        return Settled()
    return check_whole("steps", steps, most=MOST_STEPS, also=', or "auto" or Settled(...)')
