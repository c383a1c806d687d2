"""The state at the end of an epoch, from which a run goes on.

A checkpoint is a folder ``epoch-0012`` that appears by one rename, so that it is whole whenever it is there. The one
before is kept as well: a damaged newest checkpoint then costs one epoch and not the run.
"""

import io
import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

from ghr.files import explained, sync_folder, write_bytes

WEIGHTS = "model.safetensors"
STATE = "state.pt"
_NAME = re.compile(r"epoch-(\d+)")
_UNFINISHED = ".tmp"
_KEPT = 2


@dataclass(frozen=True)
class Checkpoint:
    """What a run needs to go on after ``epoch``.

    Args:
        epoch: The last epoch done; ``0`` before the first.
        weights: The model in the safetensors format.
        state: Everything else, in types that ``torch.load(weights_only=True)`` admits.
        source: The file the weights were read from.
    """

    epoch: int
    weights: bytes
    state: dict[str, Any]
    source: Path


def save_checkpoint(folder: Path, epoch: int, weights: bytes, state: dict[str, Any]) -> None:
    """Write the checkpoint of an epoch, then remove those no longer needed."""
    final = folder / f"epoch-{epoch:04d}"
    unfinished = final.with_name(final.name + _UNFINISHED)
    buffer = io.BytesIO()
    torch.save(state, buffer)
    try:
        unfinished.mkdir(parents=True)
        write_bytes(unfinished / WEIGHTS, weights)
        write_bytes(unfinished / STATE, buffer.getvalue())
        os.rename(unfinished, final)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        # The files inside explain themselves by names that are gone now.
        cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
        raise explained("write", final, cause) from error
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    sync_folder(folder)
    _remove_old(folder)


def newest_checkpoint(folder: Path) -> Checkpoint | None:
    """The checkpoint of the highest epoch, or ``None`` where there is none.

    Raises:
        ValueError: Where it is damaged, saying what to delete.
    """
    checkpoints = _checkpoints(folder)
    if not checkpoints:
        return None
    newest = checkpoints[-1]
    remedy = f"Delete the folder {folder.parent} to start again"
    if len(checkpoints) > 1:
        remedy = f"Delete the folder {newest} to go on from {checkpoints[-2].name}, or {folder.parent} to start again"
    file = newest / WEIGHTS
    try:
        weights = file.read_bytes()
        safetensors.torch.load(weights)
        file = newest / STATE
        state = torch.load(io.BytesIO(file.read_bytes()), map_location="cpu", weights_only=True)
    # What a damaged file raises depends on where it is damaged.
    except Exception as error:
        raise ValueError(f"The checkpoint {file} is damaged or cut short and cannot be read. {remedy}.") from error
    return Checkpoint(_epoch(newest), weights, state, newest / WEIGHTS)


def tidy(folder: Path) -> None:
    """Remove what a killed run left half written, half removed or not yet removed."""
    for path in folder.glob(f"epoch-*{_UNFINISHED}"):
        shutil.rmtree(path, ignore_errors=True)
    _remove_old(folder)


def _remove_old(folder: Path) -> None:
    for old in _checkpoints(folder)[:-_KEPT]:
        # Renamed first: a removal cut short must not leave something that looks like a checkpoint.
        doomed = old.with_name(old.name + _UNFINISHED)
        with suppress(OSError):
            os.rename(old, doomed)
            shutil.rmtree(doomed)


def _checkpoints(folder: Path) -> list[Path]:
    return sorted((path for path in folder.glob("epoch-*") if _NAME.fullmatch(path.name)), key=_epoch)


def _epoch(path: Path) -> int:
    return int(path.name.removeprefix("epoch-"))
