"""The epochs of a training, on every process that takes part in it."""

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
from torch_geometric.data import Data
from tqdm import tqdm

from ghr.datasets.splits import Examples
from ghr.datasets.task import Task
from ghr.models.inputs import dtype_of
from ghr.train.batches import epoch_batches, jittered_steps, local_share, seed_everything
from ghr.train.collate import collate
from ghr.train.config import TrainConfig
from ghr.train.directory import RunDirectory, digest
from ghr.train.evaluate import evaluate
from ghr.train.loss import DiscountedLoss
from ghr.train.objective import GlobalLoss, NotFiniteError
from ghr.train.processes import on_rank_zero
from ghr.train.provenance import machine, versions
from ghr.train.schedule import Schedule
from ghr.train.select import Selection
from ghr.train.sharing import list_shared
from ghr.weights import load_weights, weights_to_bytes

logger = logging.getLogger("ghr.train")

Callback = Callable[[dict[str, Any]], None]
_OPTIMIZERS: dict[str, type[Optimizer]] = {"adam": Adam, "adamw": AdamW}


@dataclass
class Progress:
    """How far a run is.

    Args:
        epoch: Epochs done.
        best_epoch: The epoch with the best validation metric; ``0`` before the first.
        best_val: That metric.
        best_digest: Hash of the weights that had it.
        stale: Epochs since.
        seconds: Time spent, over all starts.
        cpu_seconds: Time that the first process computed, over all its threads and all starts.
    """

    best_val: float
    epoch: int = 0
    best_epoch: int = 0
    best_digest: str = ""
    stale: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


class Trainer:
    """One run on every process that takes part in it; see :func:`ghr.train.train` for the arguments."""

    def __init__(
        self,
        model: nn.Module,
        train_set: Examples,
        val_set: Examples,
        task: Task,
        config: TrainConfig,
        run: RunDirectory,
        fabric: Fabric,
        *,
        quiet: bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.model = model
        self.train_set = list_shared(train_set)
        self.val_set = list_shared(val_set)
        self.task = task
        self.config = config
        self.run = run
        self.fabric = fabric
        self.quiet = quiet
        self.callback = callback
        self.progress = Progress(task.score.worst)
        self.shown: dict[str, str] = {}
        self.batches = math.ceil(self.num_examples / config.batch_size)
        criterion = task.criterion().to(device=fabric.device, dtype=dtype_of(model))
        self.objective = GlobalLoss(DiscountedLoss(criterion, gamma=config.gamma, log10=config.log10), fabric)
        self.penalty: Callable[[Data], Tensor | None] | None = getattr(model, "penalty", None)
        self.augment: Callable[[Data], Data] | None = getattr(model, "augment", None)
        self.anneal: Callable[[float], None] | None = getattr(model, "anneal", None)
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
        self._cpu_started = time.process_time() - self.progress.cpu_seconds

    @property
    def num_examples(self) -> int:
        """How many examples an epoch has, of which a batch has ``batch_size``."""
        return len(self.train_set)

    def fit(self) -> None:
        """Run the epochs that are left."""
        progress, config = self.progress, self.config
        with tqdm(
            total=config.epochs * self.batches,
            initial=progress.epoch * self.batches,
            desc="train",
            unit="batch",
            leave=None,  # not below the bar of many runs
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
        self.run.load_best(self.model)
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
                "cpu_seconds": round(time.process_time() - self._cpu_started, 3),
                "processes": self.fabric.world_size,
                "versions": versions(),
                "machine": machine(self.fabric.device),
            }
        )

    def _epoch(self, epoch: int, bar: "tqdm[Any]") -> None:
        progress, started, lr = self.progress, time.monotonic(), self.schedule.lr
        train_loss = self._train_batches(epoch, bar)
        val, metric = self._validate(), self.task.score
        if math.isnan(val) or val == metric.worst:
            raise self._not_finite(f"The validation metric became {val} in epoch {epoch}")
        self.schedule.step(-val if metric.higher_is_better else val)
        better = metric.is_better(val, progress.best_val)
        if better:
            progress.best_epoch, progress.best_val, progress.stale = epoch, val, 0
        else:
            progress.stale += 1
        progress.epoch, progress.seconds = epoch, time.monotonic() - self._started
        progress.cpu_seconds = time.process_time() - self._cpu_started
        seconds = round(time.monotonic() - started, 3)
        row = {"epoch": epoch, "train_loss": train_loss, "val": val, "lr": lr, "seconds": seconds}
        on_rank_zero(self.fabric, lambda: self._record(row, better=better))
        self.shown = {"val": f"{val:.4g}", "best": f"{progress.best_val:.4g}"}
        if self.callback is not None and self.fabric.is_global_zero:
            self.callback(row)

    def _validate(self) -> float:
        """Return the validation metric."""
        size = self.config.batch_size
        return on_rank_zero(self.fabric, lambda: evaluate(self.model, self.val_set, self.task, batch_size=size))

    def _train_batches(self, epoch: int, bar: "tqdm[Any]") -> float:
        config, fabric = self.config, self.fabric
        seed_everything(config.seed, epoch, fabric.global_rank)
        self.model.train()
        batches = epoch_batches(self.num_examples, config.batch_size, seed=config.seed, epoch=epoch)
        steps = getattr(self.model, "steps", None)
        all_steps: list[int | None] = [None] * len(batches)
        if config.jitter and steps is not None:
            all_steps = [*jittered_steps(steps, len(batches), seed=config.seed, epoch=epoch)]
        losses = []
        for number, (batch, batch_steps) in enumerate(zip(batches, all_steps, strict=True), start=1):
            if self.anneal is not None:
                self.anneal((epoch - 1 + (number - 1) / len(batches)) / config.epochs)
            loss = self._train_batch(batch, batch_steps, place=f"epoch {epoch}, batch {number}")
            if loss is not None:
                losses.append(loss)
                bar.set_postfix({"loss": f"{loss:.4g}", **self.shown}, refresh=False)
            bar.update()
        if not losses:
            raise ValueError("There is nothing to learn from: no target of any training graph counts.")
        return sum(losses) / len(losses)

    def _train_batch(self, batch: list[int], steps: int | None, *, place: str) -> float | None:
        """Take one step of the optimiser; return the loss, or ``None`` where nothing of the batch counts."""
        indices, counts = local_share(batch, rank=self.fabric.global_rank, world=self.fabric.world_size)
        data = collate(self.train_set, indices)
        if self.augment is not None:
            data = self.augment(data)
        # Chosen before the batch is moved: to look at targets on a GPU would stall it several times.
        chosen = Selection.of(self.task, data).to(self.fabric.device)
        data = data.to(self.fabric.device)
        share = self.objective.weigh(chosen.target) if counts else 0.0
        whole = self.objective.add_up(share)
        if whole == 0:
            return None
        with self.fabric.autocast():
            outputs = self.module.rollout(data) if steps is None else self.module.rollout(data, steps=steps)
        for output in outputs:
            self.task.check_prediction(output, data)
        predictions = [chosen.apply(output) for output in outputs]
        surrogate, loss = self.objective(predictions, chosen.target, share=share, whole=whole)
        penalty = None if self.penalty is None else self.penalty(data)
        if penalty is not None:  # every process adds its own, and the gradients are those of the mean
            surrogate = surrogate + penalty
        self._check_loss(loss, place)
        self.stepper.zero_grad()
        self.fabric.backward(surrogate)
        self._take_step(loss, place)
        return loss

    def _check_loss(self, loss: float, place: str) -> None:
        if not (math.isfinite(loss) or (self.config.log10 and loss == -math.inf)):
            raise self._not_finite(f"The loss became {loss} in {place}")

    def _take_step(self, loss: float, place: str) -> None:
        """Clip the gradients and let the optimiser take its step."""
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

    def _record(self, row: dict[str, Any], *, better: bool) -> None:
        # The order matters: see ghr.train.directory.
        weights = weights_to_bytes(self.model)
        if better:
            self.progress.best_digest = digest(weights)
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
