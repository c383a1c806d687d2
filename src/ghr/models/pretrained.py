"""Models on disk: a config in JSON and weights in safetensors, nothing that could run code."""

import json
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from ghr.files import explained, write_bytes, write_text
from ghr.weights import load_weights, weights_to_bytes

BUNDLED = Path(__file__).parent.parent / "pretrained"
DTYPES = {
    str(dtype).removeprefix("torch."): dtype for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16)
}
CONFIG, WEIGHTS = "config.json", "model.safetensors"

Model = TypeVar("Model", bound=nn.Module)


def save_pretrained(model: nn.Module, config: dict[str, Any], directory: str | Path) -> None:
    """Write a model's config and weights into a folder, each file whole or not at all."""
    directory = Path(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explained("make the folder", directory, error) from error
    saved = {"model": type(model).__name__, "dtype": _dtype(model), "config": config}
    write_bytes(directory / WEIGHTS, weights_to_bytes(model))
    write_text(directory / CONFIG, json.dumps(saved, indent=2) + "\n")


def load_pretrained(cls: type[Model], name_or_path: str | Path, own: dict[str, Any]) -> Model:
    """Build a model of `cls` from a folder, with the parts in `own` in place of those that JSON cannot hold."""
    directory = _find(name_or_path)
    try:
        saved = json.loads((directory / CONFIG).read_text())
        name, dtype, config = saved["model"], DTYPES[saved["dtype"]], dict(saved["config"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{directory / CONFIG} is not the config of a saved model: {error}.") from error
    if name != cls.__name__:
        raise ValueError(f"{directory} holds a {name}, not a {cls.__name__}; load it with {name}.from_pretrained.")
    config.update(own)
    for part in ("conv", "readout"):
        if config.get(part, "") is None:
            raise ValueError(
                f"{directory} was saved with a {part} of its own; pass it: from_pretrained(..., {part}=...)."
            )
    try:
        model = cls(**config)
    except TypeError as error:
        raise ValueError(f"{directory / CONFIG} does not fit this version of {name}: {error}.") from error
    path = directory / WEIGHTS
    if not path.is_file():
        raise FileNotFoundError(f"There is no weights file {path}.")
    load_weights(model.to(dtype), path.read_bytes(), path)
    return model


def _dtype(model: nn.Module) -> str:
    dtype = next(model.parameters()).dtype
    return next(name for name, known in DTYPES.items() if known == dtype)


def _find(name_or_path: str | Path) -> Path:
    for directory in (Path(name_or_path), BUNDLED / name_or_path):
        if (directory / CONFIG).is_file():
            return directory
    bundled = sorted(path.parent.name for path in BUNDLED.glob(f"*/{CONFIG}"))
    known = f"; models that come with the package: {', '.join(bundled)}" if bundled else ""
    raise FileNotFoundError(f"There is no saved model at {name_or_path} (no {CONFIG} there){known}.")
