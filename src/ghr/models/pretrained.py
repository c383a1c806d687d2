"""Models on disk: a config in JSON and weights in safetensors, nothing that could run code."""

import json
from pathlib import Path
from typing import Any, TypeVar

from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import nn

from ghr.files import write_bytes, write_text

BUNDLED = Path(__file__).parent.parent / "pretrained"
CONFIG, WEIGHTS = "config.json", "model.safetensors"

Model = TypeVar("Model", bound=nn.Module)


def save_pretrained(model: nn.Module, config: dict[str, Any], directory: str | Path) -> None:
    """Write a model's config and weights into a folder, each file whole or not at all."""
    directory = Path(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(error.errno, f"Could not make the folder {directory}: {error.strerror}.") from error
    weights = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}
    write_bytes(directory / WEIGHTS, save(weights))
    write_text(directory / CONFIG, json.dumps({"model": type(model).__name__, "config": config}, indent=2) + "\n")


def load_pretrained(cls: type[Model], name_or_path: str | Path, own: dict[str, Any]) -> Model:
    """Build a model of `cls` from a folder, with the parts in `own` in place of those that JSON cannot hold."""
    directory = _find(name_or_path)
    try:
        saved = json.loads((directory / CONFIG).read_text())
        name, config = saved["model"], saved["config"]
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
    load_weights(model, directory / WEIGHTS)
    return model


def load_weights(model: nn.Module, path: Path) -> None:
    """Load safetensors weights into a model, or say in one sentence why they do not fit."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no weights file {path}.")
    try:
        weights = load_file(path)
    except SafetensorError as error:
        raise ValueError(f"{path} is truncated or not a safetensors file: {error}.") from error
    expected = model.state_dict()
    odd = sorted(weights.keys() ^ expected.keys())
    odd += sorted(k for k in weights.keys() & expected.keys() if weights[k].shape != expected[k].shape)
    if odd:
        raise ValueError(f"The weights in {path} belong to another model; first difference: {odd[0]}.")
    model.to(next(iter(weights.values())).dtype)
    model.load_state_dict(weights)


def _find(name_or_path: str | Path) -> Path:
    for directory in (Path(name_or_path), BUNDLED / name_or_path):
        if (directory / CONFIG).is_file():
            return directory
    bundled = sorted(path.parent.name for path in BUNDLED.glob(f"*/{CONFIG}"))
    known = f"; models that come with the package: {', '.join(bundled)}" if bundled else ""
    raise FileNotFoundError(f"There is no saved model at {name_or_path} (no {CONFIG} there){known}.")
