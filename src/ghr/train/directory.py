"""The directory of a run: what was asked, what happened, where to go on, what came out.

=============================  ========================================================================
``config.json``                everything that was asked for: model, task, data and training
``metrics.jsonl``              one line per epoch
``last/epoch-0012/``           where to go on (:mod:`ghr.train.checkpoint`)
``best.safetensors``           weights with the best validation metric
``lock``                       held by the process that works here
``result.json``                written last: its presence means that the run is finished
=============================  ========================================================================

At the end of an epoch the line of metrics is written first, then the checkpoint, then the best weights. The rename of
the checkpoint is what makes the epoch happen: without it the line is dropped and the epoch repeated; with it the best
weights are written again from the checkpoint where they belong to its epoch.
"""

import hashlib
import json
import math
import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from ghr.files import TEMPORARY_PREFIX, explained, write_bytes, write_text
from ghr.lock import hold
from ghr.models.pretrained import BEST
from ghr.train.checkpoint import Checkpoint, newest_checkpoint, save_checkpoint, tidy
from ghr.weights import load_weights

FORMAT = 2  # of config.json; 1 was that of version 0.1.0
LOCK = "lock"
LONGER = ("train.epochs", "train.patience")  # with more of these a run may go on


class BusyError(ValueError):
    """Another process works in the same run directory."""


class RunDirectory:
    """The files of one run.

    Args:
        path: The directory, made by :meth:`open` where it is missing.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.config = self.path / "config.json"
        self.metrics = self.path / "metrics.jsonl"
        self.last = self.path / "last"
        self.best = self.path / BEST
        self.result = self.path / "result.json"

    def open(self, config: dict[str, Any], stack: ExitStack) -> dict[str, Any] | None:
        """Make or reopen the directory for ``config`` and hold its lock; return the result of a finished run.

        A run that is to be trained for longer than it was is opened again where it ended.

        Args:
            config: All that is asked for.
            stack: Gives the lock back.

        Raises:
            OSError: Where the directory cannot be made or written.
            BusyError: Where another process works in it.
            ValueError: Where it belongs to another run.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise explained("make the run directory", self.path, error) from error
        if not stack.enter_context(hold(self.path / LOCK)):
            raise BusyError(f"Another process works in {self.path}; wait for it, or choose another run directory.")
        if self.config.exists():
            longer = self._check_config(read_json(self.config), config)
            if self.result.exists() and not longer:
                return read_json(self.result)
            if longer:
                self._reopen(config)
        elif self.last.exists() or self.result.exists():
            raise ValueError(
                f"{self.path} holds a run but no config.json, so what it belongs to is unknown. "
                f"Put its config.json back or choose another run directory."
            )
        else:
            write_text(self.config, _dumps(config))
        for leftover in self.path.glob(f"{TEMPORARY_PREFIX}*"):
            leftover.unlink(missing_ok=True)
        tidy(self.last)
        return None

    def _reopen(self, config: dict[str, Any]) -> None:
        """Ask for more of a run, unless it is finished and cannot go on."""
        checkpoint = newest_checkpoint(self.last)
        if checkpoint is None and self.result.exists():
            raise ValueError(
                f"{self.path} is finished and its checkpoints are gone, so it cannot be trained for longer; ask for as "
                f"many epochs as it has, or choose another run directory."
            )
        if checkpoint is not None:
            self._check_best(checkpoint)
        self.result.unlink(missing_ok=True)
        write_text(self.config, _dumps(config))

    def resume(self) -> Checkpoint | None:
        """Return the checkpoint to go on from, with all other files brought to the same epoch."""
        checkpoint = newest_checkpoint(self.last)
        epoch = checkpoint.epoch if checkpoint else 0
        if self.metrics.exists():
            lines = self.metrics.read_text().splitlines(keepends=True)
            kept = [line for line in lines if _epoch_of(line) <= epoch]
            if kept != lines:
                write_text(self.metrics, "".join(kept))
        if checkpoint is None:
            return None
        self._check_best(checkpoint)
        if checkpoint.state["best_epoch"] == epoch > 0:
            self.write_best(checkpoint.weights)
        return checkpoint

    def _check_best(self, checkpoint: Checkpoint) -> None:
        """Raise an error if the best weights are not those that an earlier epoch than the checkpoint's wrote."""
        if checkpoint.state["best_epoch"] in (0, checkpoint.epoch):
            return
        wrote = f"epoch {checkpoint.state['best_epoch']} of this run wrote it"
        remedy = f"Put it back or delete the folder {self.path} to start again"
        if not self.best.exists():
            raise FileNotFoundError(f"{self.best} is missing, though {wrote}. {remedy}.")
        if digest(self.best.read_bytes()) != checkpoint.state["best_digest"]:
            raise ValueError(f"{self.best} is damaged: it is not as {wrote}. {remedy}.")

    def append_metrics(self, row: Mapping[str, Any]) -> None:
        """Add the line of an epoch, whole or not at all."""
        line = json.dumps(jsonable(row)).encode() + b"\n"
        try:
            with open(self.metrics, "ab", buffering=0) as file:
                before = file.tell()
                try:
                    while line:
                        line = line[file.write(line) :]
                    os.fsync(file.fileno())
                except OSError:
                    os.ftruncate(file.fileno(), before)
                    raise
        except OSError as error:
            raise explained("write", self.metrics, error) from error

    def save(self, epoch: int, weights: bytes, state: dict[str, Any]) -> None:
        """Write the checkpoint of an epoch."""
        save_checkpoint(self.last, epoch, weights, state)

    def read_best(self) -> bytes:
        """Return the weights with the best validation metric so far."""
        try:
            return self.best.read_bytes()
        except FileNotFoundError:
            raise FileNotFoundError(
                f"There are no best weights at {self.best}; a run writes them at the end of its first epoch."
            ) from None

    def load_best(self, model: nn.Module, weights: bytes | None = None) -> None:
        """Load the best weights into a model of the same shape, on whatever device it is."""
        load_weights(model, self.read_best() if weights is None else weights, self.best)

    def write_best(self, weights: bytes) -> None:
        """Write the best weights so far."""
        write_bytes(self.best, weights)

    def finish(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Write the result, which ends the run, and return it as it will be read again."""
        text = _dumps(jsonable(result))
        write_text(self.result, text)
        return dict(json.loads(text))

    def _check_config(self, stored: dict[str, Any], asked: dict[str, Any]) -> bool:
        """Raise a ValueError if the directory belongs to another run; return whether the same is asked for longer."""
        check_format(stored, self.path)
        old, new = _flat(stored), _flat(asked)
        different = [
            name
            for name in sorted(old.keys() | new.keys(), key=_rank)
            if name not in old or name not in new or old[name] != new[name]
        ]
        if different and all(name in LONGER and _is_more(new.get(name), old.get(name)) for name in different):
            return True
        if different:
            said = "; ".join(f"{name} is {_show(old, name)} there and {_show(new, name)} now" for name in different[:8])
            more = f"; and {len(different) - 8} more" if len(different) > 8 else ""
            raise ValueError(
                f"{self.path} belongs to another run: {said}{more}. Choose another run directory, or ask for the same "
                f"to go on."
            )
        return False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"


def check_format(config: Mapping[str, Any], path: Path) -> None:
    """Raise a ValueError if a run was written by a version that this one does not read."""
    found = config.get("format")
    if found != FORMAT:
        written = "by version 0.1.0" if found is None else f"in the format {found!r}"
        raise ValueError(
            f"{path} was written {written}, which this version does not read (it reads format {FORMAT}). Train it "
            f"again in another directory, or use the version that wrote it."
        )


def digest(weights: bytes) -> str:
    """Return a hash of weights."""
    return hashlib.sha256(weights).hexdigest()


def jsonable(value: Any) -> Any:
    """``value`` in the types of JSON: arrays become lists and numbers that are not finite become ``None``."""
    if isinstance(value, Tensor | np.ndarray | np.generic):
        return jsonable(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    raise ValueError(
        f"JSON cannot hold {value!r} of type {type(value).__name__}; use numbers, strings, lists and dicts."
    )


def _dumps(value: Any) -> str:
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def read_json(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file holds."""
    try:
        value = json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path} is not JSON ({error}); it was damaged or written by something else.") from error
    if not isinstance(value, dict):
        raise ValueError(f"{path} must hold a JSON object, but holds {type(value).__name__}.")
    return value


def _epoch_of(line: str) -> float:
    # A line cut short belongs to an epoch without a checkpoint.
    try:
        return float(json.loads(line)["epoch"])
    except (ValueError, KeyError, TypeError):
        return math.inf


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    if isinstance(value, dict) and (value or not prefix):
        return {
            name: leaf
            for key, item in value.items()
            for name, leaf in _flat(item, f"{prefix}.{key}" if prefix else key).items()
        }
    return {prefix: value}


def _show(flat: dict[str, Any], name: str) -> str:
    return repr(flat[name]) if name in flat else "absent"


def _rank(name: str) -> tuple[bool, str]:
    """Return the place of a name in a sentence: what a user asked for stands before what follows from it."""
    return name.startswith(("architecture.", "data.")), name


def _is_more(new: Any, old: Any) -> bool:
    """Whether a number is larger; none means no limit."""
    return old is not None and (new is None or new > old)
