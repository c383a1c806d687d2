"""The epochs of a run, on every process that takes part in it."""

import logging
import math
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lightning_fabric import Fabric
from torch import Tensor, nn
from torch.optim import Adam, AdamW, Optimizer
from tqdm import tqdm

from ghr.train.batches import epoch_batches, jittered_steps, local_share, seed_everything
from ghr.train.config import TrainConfig
from ghr.train.evaluate import Examples, ScoredExamples, collate, counted, evaluate
from ghr.train.loss import DiscountedLoss
from ghr.train.objective import GlobalLoss, NotFiniteError
from ghr.train.processes import on_rank_zero
from ghr.train.provenance import machine, versions
from ghr.train.run import RunDirectory, load_best
from ghr.train.schedule import Schedule
from ghr.weights import load_weights, weights_to_bytes

logger = logging.getLogger("ghr.train")

_CRITERIA = {"mse": nn.MSELoss, "l1": nn.L1Loss}
_OPTIMIZERS: dict[str, type[Optimizer]] = {"adam": Adam, "adamw": AdamW}


@dataclass
class Progress:
    """How far a run is.

    Args:
        epoch: Epochs done.
        best_epoch: The epoch with the best validation metric; ``0`` before the first.
        best_val: That metric.
        stale: Epochs since.
        seconds: Time spent, over all starts.
    """

    epoch: int = 0
    best_epoch: int = 0
    best_val: float = math.inf
    stale: int = 0
    seconds: float = 0.0


class Trainer:
    """One run on every process that takes part in it; see :func:`ghr.train.train` for the arguments."""

    def __init__(
        self,
        model: nn.Module,
        train_set: Examples,
        val_set: ScoredExamples,
        config: TrainConfig,
        run: RunDirectory,
        fabric: Fabric,
        *,
        quiet: bool = False,
    ) -> None:
        self.model = model
        self.train_set = train_set
        self.val_set = val_set
        self.config = config
        self.run = run
        self.fabric = fabric
        self.quiet = quiet
        self.progress = Progress()
        self.shown: dict[str, str] = {}
        self.batches = math.ceil(len(train_set) / config.batch_size)
        self.objective = GlobalLoss(
            DiscountedLoss(_CRITERIA[config.criterion](), gamma=config.gamma, log10=config.log10), fabric
        )
        self.penalty: Callable[[], Tensor] | None = getattr(model, "penalty", None)
        optimizer_class: Any = _OPTIMIZERS[config.optimizer]
        self.optimizer: Optimizer = optimizer_class(model.parameters(), lr=config.lr, weight_decay=config.weight_decay)
        self.schedule = Schedule(self.optimizer, config)
        state = on_rank_zero(fabric, self._load_weights)
        # From here on all processes have the weights of the first: setting up DDP sends them around.
        self.module, self.stepper = fabric.setup(model, self.optimizer)
        self.module.mark_forward_method("rollout")
        if state is None:
            on_rank_zero(fabric, lambda: self._save(weights_to_bytes(model)))
        else:
            self._load_state(state)
        self._started = time.monotonic() - self.progress.seconds

    def fit(self) -> None:
        """Run the epochs that are left."""
        progress, config = self.progress, self.config
        with tqdm(
            total=config.epochs * self.batches,
            initial=progress.epoch * self.batches,
            desc="train",
            unit="batch",
            disable=self.quiet or not self.fabric.is_global_zero,
            mininterval=0.2 if sys.stderr.isatty() else 10.0,
        ) as bar:
            while progress.epoch < config.epochs and not self._is_stale():
                self._epoch(progress.epoch + 1, bar)
        if progress.epoch < config.epochs and self.fabric.is_global_zero:
            logger.info("Stopped early after epoch %d: no better since %d.", progress.epoch, progress.best_epoch)

    def finish(
        self, described: dict[str, Any], report: Callable[[nn.Module], Mapping[str, Any]] | None
    ) -> dict[str, Any]:
        """Load the best weights, report on them and write the result; on the first process only."""
        load_best(self.model, self.run.path)
        self.model.eval()
        seed_everything(self.config.seed, 0, 0)
        metrics = {} if report is None else report(self.model)
        return self.run.finish(
            {
                "config": described,
                "seed": self.config.seed,
                "epochs": self.progress.epoch,
                "best_epoch": self.progress.best_epoch,
                "best_val": self.progress.best_val,
                "parameters": sum(parameter.numel() for parameter in self.model.parameters()),
                "metrics": metrics,
                "seconds": round(time.monotonic() - self._started, 3),
                "processes": self.fabric.world_size,
                "versions": versions(),
                "machine": machine(self.fabric.device),
            }
        )

    def _epoch(self, epoch: int, bar: "tqdm[Any]") -> None:
        progress, started, lr = self.progress, time.monotonic(), self.schedule.lr
        train_loss = self._train_batches(epoch, bar)
        val = on_rank_zero(self.fabric, lambda: evaluate(self.model, self.val_set, batch_size=self.config.batch_size))
        if not math.isfinite(val):
            raise self._not_finite(f"The validation metric became {val} in epoch {epoch}")
        self.schedule.step(val)
        better = val < progress.best_val
        if better:
            progress.best_epoch, progress.best_val, progress.stale = epoch, val, 0
        else:
            progress.stale += 1
        progress.epoch, progress.seconds = epoch, time.monotonic() - self._started
        seconds = round(time.monotonic() - started, 3)
        row = {"epoch": epoch, "train_loss": train_loss, "val": val, "lr": lr, "seconds": seconds}
        on_rank_zero(self.fabric, lambda: self._record(row, better=better))
        self.shown = {"val": f"{val:.4g}", "best": f"{progress.best_val:.4g}"}

    def _train_batches(self, epoch: int, bar: "tqdm[Any]") -> float:
        config, fabric = self.config, self.fabric
        seed_everything(config.seed, epoch, fabric.global_rank)
        self.model.train()
        batches = epoch_batches(len(self.train_set), config.batch_size, seed=config.seed, epoch=epoch)
        steps = getattr(self.model, "steps", None)
        all_steps: list[int | None] = [None] * len(batches)
        if config.jitter and steps is not None:
            all_steps = [*jittered_steps(steps, len(batches), seed=config.seed, epoch=epoch)]
        losses = []
        for number, (batch, batch_steps) in enumerate(zip(batches, all_steps, strict=True), start=1):
            loss = self._train_batch(batch, batch_steps, place=f"epoch {epoch}, batch {number}")
            if loss is not None:
                losses.append(loss)
                bar.set_postfix({"loss": f"{loss:.4g}", **self.shown}, refresh=False)
            bar.update()
        if not losses:
            raise ValueError("There is nothing to learn from: the masks of the training set leave no row in any graph.")
        return sum(losses) / len(losses)

    def _train_batch(self, batch: list[int], steps: int | None, *, place: str) -> float | None:
        """One step of the optimiser; returns the loss, or ``None`` where no row of the batch counts."""
        share, counts = local_share(batch, rank=self.fabric.global_rank, world=self.fabric.world_size)
        data = collate(self.train_set, share).to(self.fabric.device)
        target = counted(data.y, data)
        rows = target.shape[0] if counts else 0
        all_rows = self.objective.count(rows)
        if all_rows == 0:
            return None
        with self.fabric.autocast():
            outputs = self.module.rollout(data) if steps is None else self.module.rollout(data, steps=steps)
        predictions = [counted(output, data) for output in outputs]
        surrogate, loss = self.objective(predictions, target, rows=rows, all_rows=all_rows)
        if self.penalty is not None:  # every process adds the same one, and the mean of their gradients has it once
            surrogate = surrogate + self.penalty()
        if not math.isfinite(loss):
            raise self._not_finite(f"The loss became {loss} in {place}")
        self.stepper.zero_grad()
        self.fabric.backward(surrogate)
        norm = self.fabric.clip_gradients(
            self.module,
            self.stepper,
            # An infinite bound leaves every gradient as it is, and still measures it.
            max_norm=math.inf if self.config.clip is None else self.config.clip,
            error_if_nonfinite=False,
        )
        if norm is not None and not math.isfinite(norm):
            raise self._not_finite(
                f"The norm of the gradient became {float(norm)} in {place}, where the loss is {loss}"
            )
        self.stepper.step()
        return loss

    def _record(self, row: dict[str, Any], *, better: bool) -> None:
        # The order matters: see ghr.train.run.
        weights = weights_to_bytes(self.model)
        self.run.append_metrics(row)
        self._save(weights)
        if better:
            self.run.write_best(weights)
            logger.debug("New best validation metric %.6g in epoch %d.", self.progress.best_val, self.progress.epoch)

    def _save(self, weights: bytes) -> None:
        state = {
            **asdict(self.progress),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
        }
        self.run.save(self.progress.epoch, weights, state)

    def _load_weights(self) -> dict[str, Any] | None:
        checkpoint = self.run.resume()
        if checkpoint is None:
            return None
        load_weights(self.model, checkpoint.weights, checkpoint.source)
        logger.info("Resumed %s after epoch %d.", self.run.path, checkpoint.epoch)
        return checkpoint.state

    def _load_state(self, state: dict[str, Any]) -> None:
        self.optimizer.load_state_dict(state.pop("optimizer"))
        self.schedule.load_state_dict(state.pop("schedule"))
        self.progress = Progress(**state)

    def _is_stale(self) -> bool:
        return self.config.patience is not None and self.progress.stale >= self.config.patience

    def _not_finite(self, what: str) -> NotFiniteError:
        clip = "stronger clipping" if self.config.clip else "gradient clipping"
        return NotFiniteError(
            f"{what}. Nothing of it was saved: the last good state in {self.run.path} is that after epoch "
            f"{self.progress.epoch}. Try, in a new run directory, a smaller learning rate (lr is {self.config.lr}), "
            f"{clip} (clip is {self.config.clip}) or fewer steps."
        )
