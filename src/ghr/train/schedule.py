"""Learning rates over the epochs."""

import math
from typing import Any

from torch.optim import Optimizer

from ghr.train.config import TrainConfig

FALLING = ("cosine", "exponential")  # by the epoch alone
LEAST_CHANGE = 1e-4  # the part of an error by which it must fall to count as better, as in PyTorch


class Schedule:
    """A learning rate that moves once an epoch, on the validation metric where it needs one.

    Args:
        optimizer: Whose learning rate moves.
        config: Names the schedule and its numbers.
    """

    def __init__(self, optimizer: Optimizer, config: TrainConfig) -> None:
        self.optimizer = optimizer
        self.config = config
        self.epoch = 0
        self.best = math.inf
        self.stale = 0

    @property
    def lr(self) -> float:
        """The learning rate in force."""
        return float(self.optimizer.param_groups[0]["lr"])

    def step(self, error: float) -> None:
        """End an epoch whose validation error was ``error``; lower is better."""
        self.epoch += 1
        if self.config.schedule == "plateau":
            self._follow(error)
        elif self.config.schedule in FALLING:
            self._set(self._fall())

    def _follow(self, error: float) -> None:
        # PyTorch's own schedule multiplies by 1 - threshold, which calls no change at all better below zero.
        if error < self.best * (1 - math.copysign(LEAST_CHANGE, self.best)):
            self.best, self.stale = error, 0
            return
        self.stale += 1
        if self.stale > self.config.plateau_patience:
            self._set(max(self.lr * self.config.plateau_factor, self.config.min_lr))
            self.stale = 0

    def _fall(self) -> float:
        # Of the epoch alone, so that a run of more epochs can go on from one of fewer.
        least, part = self.config.min_lr / self.config.lr, min(self.epoch / self.config.epochs, 1.0)
        if self.config.schedule == "exponential":
            return float(self.config.lr * least**part)
        return self.config.lr * (least + (1 - least) * (1 + math.cos(math.pi * part)) / 2)

    def _set(self, lr: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = lr

    def state_dict(self) -> dict[str, Any]:
        """Return everything needed to go on later, but what the optimiser keeps."""
        return {"epoch": self.epoch, "best": self.best, "stale": self.stale}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`state_dict` returned, also of a schedule over fewer epochs."""
        self.epoch, self.best, self.stale = state["epoch"], state["best"], state["stale"]
        if self.config.schedule in FALLING:
            self._set(self._fall())

    def __repr__(self) -> str:
        return f"Schedule({self.config.schedule!r}, lr={self.lr})"
