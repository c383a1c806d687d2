"""What a training run may be told."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

OptimizerName = Literal["adam", "adamw"]
ScheduleName = Literal["constant", "cosine", "plateau"]
CriterionName = Literal["mse", "l1"]


@dataclass(frozen=True)
class TrainConfig:
    """How to train: optimiser, schedule, loss and stopping.

    Args:
        epochs: Passes over the training set, at most.
        batch_size: Graphs in one batch, over all processes together.
        lr: Learning rate at the start.
        optimizer: ``"adam"`` or ``"adamw"``.
        weight_decay: Weight decay of the optimiser.
        clip: Largest norm of the gradient; ``None`` does not clip.
        schedule: ``"constant"``, ``"cosine"`` (from ``lr`` down to ``min_lr`` over all epochs) or ``"plateau"``
            (``lr`` times ``plateau_factor`` after more than ``plateau_patience`` epochs without improvement).
        plateau_factor: Factor of the plateau schedule, in ``(0, 1)``.
        plateau_patience: Epochs without improvement that the plateau schedule tolerates.
        min_lr: Learning rate below which no schedule goes.
        patience: Stop after this many epochs without a better validation metric; ``None`` never stops early.
        criterion: ``"mse"`` or ``"l1"``.
        gamma: Discount of earlier steps in the loss, in ``(0, 1]``.
        log10: Whether to minimise the logarithm of the loss.
        jitter: Whether each batch runs one step fewer, the same or one more, so that no single number of steps
            is learned by heart. Feed-forward models have no steps and ignore it.
        seed: Seed of the order of batches, of the jitter and of all randomness inside the model.
    """

    epochs: int = 100
    batch_size: int = 32
    lr: float = 1e-3
    optimizer: OptimizerName = "adam"
    weight_decay: float = 0.0
    clip: float | None = 1.0
    schedule: ScheduleName = "constant"
    plateau_factor: float = 0.5
    plateau_patience: int = 10
    min_lr: float = 1e-6
    patience: int | None = None
    criterion: CriterionName = "mse"
    gamma: float = 0.8
    log10: bool = False
    jitter: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        _check_integer("epochs", self.epochs, least=1)
        _check_integer("batch_size", self.batch_size, least=1)
        _check_integer("plateau_patience", self.plateau_patience, least=0)
        _check_integer("seed", self.seed, least=0)
        if self.seed >= 2**63:
            raise ValueError(f"seed must be below 2**63, but is {self.seed}.")
        if self.patience is not None:
            _check_integer("patience", self.patience, least=1, also=" or None, which never stops early")
        _check_choice("optimizer", self.optimizer, get_args(OptimizerName))
        _check_choice("schedule", self.schedule, get_args(ScheduleName))
        _check_choice("criterion", self.criterion, get_args(CriterionName))
        _check_positive("lr", self.lr)
        if self.clip is not None:
            _check_positive("clip", self.clip, also=" or None, which does not clip")
        if not (_is_number(self.weight_decay) and 0 <= self.weight_decay < math.inf):
            raise ValueError(f"weight_decay must be a finite number of at least 0, but is {self.weight_decay!r}.")
        if not (_is_number(self.min_lr) and 0 <= self.min_lr < math.inf):
            raise ValueError(f"min_lr must be a finite number of at least 0, but is {self.min_lr!r}.")
        if self.schedule != "constant" and self.min_lr > self.lr:
            raise ValueError(f"min_lr must not exceed lr, but min_lr is {self.min_lr!r} and lr is {self.lr!r}.")
        if not (_is_number(self.plateau_factor) and 0 < self.plateau_factor < 1):
            raise ValueError(f"plateau_factor must lie in (0, 1), but is {self.plateau_factor!r}.")
        if not (_is_number(self.gamma) and 0 < self.gamma <= 1):
            raise ValueError(f"gamma must lie in (0, 1], where 1 weighs all steps alike, but is {self.gamma!r}.")
        for name in ("log10", "jitter"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be True or False, but is {getattr(self, name)!r}.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_integer(name: str, value: object, *, least: int, also: str = "") -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}{also}, but is {value!r}.")


def _check_positive(name: str, value: float, *, also: str = "") -> None:
    if not (_is_number(value) and 0 < value < math.inf):
        raise ValueError(f"{name} must be a finite number above 0{also}, but is {value!r}.")


def _check_choice(name: str, value: object, choices: Collection[str]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, but is {value!r}.")
