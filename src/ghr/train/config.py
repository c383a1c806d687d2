"""What a training may be told."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from ghr.checks import check_choice, check_flag, check_number, check_whole

OptimizerName = Literal["adam", "adamw"]
ScheduleName = Literal["constant", "cosine", "exponential", "plateau"]


@dataclass(frozen=True)
class TrainConfig:
    """How to train: optimiser, schedule and stopping. The loss belongs to the :class:`~ghr.Task`.

    Args:
        epochs: Passes over the training set, at most.
        batch_size: Graphs in one batch, over all processes together.
        lr: Learning rate at the start.
        optimizer: ``"adam"`` or ``"adamw"``.
        weight_decay: Weight decay of the optimiser.
        clip: Largest norm of the gradient; ``None`` does not clip.
        schedule: ``"constant"``; ``"cosine"`` or ``"exponential"`` (from ``lr`` down to ``min_lr`` over all epochs, the
            second by the same part every epoch, which suits errors that fall by orders of magnitude); or ``"plateau"``
            (``lr`` times ``plateau_factor`` after more than ``plateau_patience`` epochs without improvement).
        plateau_factor: Factor of the plateau schedule, in ``(0, 1)``.
        plateau_patience: Epochs without improvement that the plateau schedule tolerates.
        min_lr: Learning rate below which no schedule goes.
        patience: Stop after this many epochs without a better validation metric; ``None`` never stops early.
        gamma: Discount of earlier steps in the loss, in ``(0, 1]``.
        log10: Whether to minimise the logarithm of the loss.
        jitter: Whether each batch runs one step fewer, the same or one more, so that no single number of steps
            is learned by heart. Models of fixed depth have no steps and ignore it.
        seed: Seed of the order of batches, of the jitter and of all randomness inside the model.
        parts: Into how many parts a single graph is divided that is too large to train on at once
            (:class:`~ghr.InParts`); ``batch_size`` then counts parts. ``1`` keeps graphs whole.
        halo: Hops around a part from which it still hears.
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
    gamma: float = 0.8
    log10: bool = False
    jitter: bool = True
    seed: int = 0
    parts: int = 1
    halo: int = 4

    def __post_init__(self) -> None:
        self._set("epochs", check_whole("epochs", self.epochs))
        self._set("batch_size", check_whole("batch_size", self.batch_size))
        self._set("parts", check_whole("parts", self.parts))
        self._set("halo", check_whole("halo", self.halo, 0))
        self._set("plateau_patience", check_whole("plateau_patience", self.plateau_patience, 0))
        self._set("seed", check_whole("seed", self.seed, 0, 2**63 - 1))
        if self.patience is not None:
            never = ", or None, which never stops early"
            self._set("patience", check_whole("patience", self.patience, also=never))
        check_choice("optimizer", self.optimizer, get_args(OptimizerName))
        check_choice("schedule", self.schedule, get_args(ScheduleName))
        self._set("lr", check_number("lr", self.lr, above=0))
        if self.clip is not None:
            self._set("clip", check_number("clip", self.clip, above=0, also=", or None, which does not clip"))
        self._set("weight_decay", check_number("weight_decay", self.weight_decay, least=0))
        self._set("min_lr", check_number("min_lr", self.min_lr, least=0))
        if self.schedule != "constant" and self.min_lr > self.lr:
            raise ValueError(f"min_lr must not exceed lr; got min_lr={self.min_lr!r} and lr={self.lr!r}.")
        self._set("plateau_factor", check_number("plateau_factor", self.plateau_factor, above=0))
        if self.plateau_factor >= 1:
            raise ValueError(f"plateau_factor must lie in (0, 1); got {self.plateau_factor!r}.")
        alike = ", which weighs all steps alike"
        self._set("gamma", check_number("gamma", self.gamma, above=0, most=1, also=alike))
        check_flag("log10", self.log10)
        check_flag("jitter", self.jitter)

    def describe(self) -> dict[str, Any]:
        """Return what was told in the types of JSON; of parts only where there are any."""
        described = asdict(self)
        return described if self.parts > 1 else {k: v for k, v in described.items() if k not in ("parts", "halo")}

    def _set(self, name: str, value: float) -> None:
        """Keep a number as Python has it, which JSON can hold; it may have come as one of numpy."""
        object.__setattr__(self, name, value)
