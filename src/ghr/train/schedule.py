"""Learning rates over the epochs."""

from typing import Any

from torch.optim import Optimizer
from torch.optim.lr_scheduler import ConstantLR, CosineAnnealingLR, LRScheduler, ReduceLROnPlateau

from ghr.train.config import TrainConfig


class Schedule:
    """A learning rate that moves once an epoch, on the validation metric where it needs one.

    Args:
        optimizer: Whose learning rate moves.
        config: Names the schedule and its numbers.
    """

    def __init__(self, optimizer: Optimizer, config: TrainConfig) -> None:
        self.optimizer = optimizer
        self.scheduler: LRScheduler
        if config.schedule == "cosine":
            self.scheduler = CosineAnnealingLR(optimizer, T_max=config.epochs, eta_min=config.min_lr)
        elif config.schedule == "plateau":
            self.scheduler = ReduceLROnPlateau(
                optimizer, factor=config.plateau_factor, patience=config.plateau_patience, min_lr=config.min_lr
            )
        else:
            self.scheduler = ConstantLR(optimizer, factor=1.0)

    @property
    def lr(self) -> float:
        """The learning rate in force."""
        return float(self.optimizer.param_groups[0]["lr"])

    def step(self, val: float) -> None:
        """End an epoch whose validation metric was ``val`` (lower is better)."""
        if isinstance(self.scheduler, ReduceLROnPlateau):
            self.scheduler.step(val)
        else:
            self.scheduler.step()

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on later."""
        return dict(self.scheduler.state_dict())

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`state_dict` returned."""
        self.scheduler.load_state_dict(state)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self.scheduler).__name__}, lr={self.lr})"
