"""The directory of a run: what was asked, what happened, where to go on, what came out.

=============================  ========================================================================
``config.json``                training config, and what describes model and data
``metrics.jsonl``              one line per epoch
``last/epoch-0012/``           where to go on (:mod:`ghr.train.checkpoint`)
``best.safetensors``           weights with the best validation metric
``result.json``                written last: its presence means that the run is finished
=============================  ========================================================================

At the end of an epoch the line of metrics is written first, then the checkpoint, then the best weights. The rename of
the checkpoint is what makes the epoch happen: without it the line is dropped and the epoch repeated; with it the best
weights are written again from the checkpoint where they belong to its epoch.
"""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from ghr.files import TEMPORARY_PREFIX, explained, write_bytes, write_text
from ghr.train.checkpoint import Checkpoint, newest_checkpoint, save_checkpoint, tidy
from ghr.weights import load_weights

BEST = "best.safetensors"


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

    def open(self, config: dict[str, Any]) -> dict[str, Any] | None:
        """Make or reopen the directory for ``config``; return the result of a finished run.

        Raises:
            OSError: Where the directory cannot be made or written.
            ValueError: Where the directory belongs to a run with another config.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise explained("make the run directory", self.path, error) from error
        if self.result.exists():
            result = _read_json(self.result)
            self._check_config(result.get("config", {}), config)
            return result
        if self.config.exists():
            self._check_config(_read_json(self.config), config)
        elif self.last.exists():
            raise ValueError(
                f"{self.path} holds checkpoints but no config.json, so what they belong to is unknown. "
                f"Put its config.json back or choose another run directory."
            )
        else:
            write_text(self.config, _dumps(config))
        for leftover in self.path.glob(f"{TEMPORARY_PREFIX}*"):
            leftover.unlink(missing_ok=True)
        tidy(self.last)
        return None

    def resume(self) -> Checkpoint | None:
        """The checkpoint to go on from, with all other files brought to the same epoch."""
        checkpoint = newest_checkpoint(self.last)
        epoch = checkpoint.epoch if checkpoint else 0
        if self.metrics.exists():
            lines = self.metrics.read_text().splitlines(keepends=True)
            kept = [line for line in lines if _epoch_of(line) <= epoch]
            if kept != lines:
                write_text(self.metrics, "".join(kept))
        if checkpoint and epoch > 0:
            if checkpoint.state["best_epoch"] == epoch:
                self.write_best(checkpoint.weights)
            elif not self.best.exists():
                raise FileNotFoundError(
                    f"{self.best} is missing, though epoch {checkpoint.state['best_epoch']} of this run wrote it. "
                    f"Put it back or delete the folder {self.path} to start again."
                )
        return checkpoint

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

    def read_best(self) -> bytes | None:
        """The best weights so far, or ``None`` where there are none."""
        return self.best.read_bytes() if self.best.exists() else None

    def write_best(self, weights: bytes) -> None:
        """Write the best weights so far."""
        write_bytes(self.best, weights)

    def finish(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Write the result, which ends the run, and return it as it will be read again."""
        text = _dumps(jsonable(result))
        write_text(self.result, text)
        return dict(json.loads(text))

    def _check_config(self, stored: dict[str, Any], asked: dict[str, Any]) -> None:
        old, new = _flat(stored), _flat(asked)
        differences = [
            f"{name} is {_shown(old, name)} there and {_shown(new, name)} now"
            for name in sorted(old.keys() | new.keys())
            if name not in old or name not in new or old[name] != new[name]
        ]
        if differences:
            raise ValueError(
                f"{self.path} belongs to a run with another config: {'; '.join(differences)}. "
                f"Choose another run directory, or the same config to go on."
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"


def load_best(model: nn.Module, run_dir: str | os.PathLike[str]) -> None:
    """Load the weights with the best validation metric of a run into a model of the same shape.

    Args:
        model: Receives the weights, on whatever device it is.
        run_dir: The directory the run was written to.

    Raises:
        FileNotFoundError: Where the run has no best weights (yet).
        ValueError: Where the file is damaged or belongs to another model.
    """
    path = Path(run_dir) / BEST
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"There are no best weights at {path}; a run writes them at the end of its first epoch."
        ) from None
    load_weights(model, data, path)


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


def _read_json(path: Path) -> dict[str, Any]:
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


def _shown(flat: dict[str, Any], name: str) -> str:
    return repr(flat[name]) if name in flat else "absent"
