"""Models on disk: a config in JSON and weights in safetensors, nothing that could run code."""

import json
from collections.abc import Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch
from torch import nn

from ghr.files import explained, write_bytes, write_text
from ghr.models.inputs import dtype_of
from ghr.weights import load_weights, weights_to_bytes

if TYPE_CHECKING:
    from ghr.models.base import GraphModel

BUNDLED = Path(__file__).parent.parent / "pretrained"
DTYPES = {
    str(dtype).removeprefix("torch."): dtype for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16)
}
CONFIG, WEIGHTS = "config.json", "model.safetensors"
UNIT = "unit"  # in a config: the unit of the predictions, set after the model was built
ARCHITECTURE, BEST = "architecture", "best.safetensors"  # of a run directory
OWN = "own"  # the key of what JSON cannot hold, beside the name of its class

Model = TypeVar("Model", bound="GraphModel")


class Saved(NamedTuple):
    """A model on disk.

    Attributes:
        directory: Its folder.
        model: Name of its class.
        dtype: Type of its numbers.
        config: Arguments that build it.
        weights: File of its weights.
    """

    directory: Path
    model: str
    dtype: torch.dtype
    config: dict[str, Any]
    weights: Path


def describe_model(model: nn.Module, config: dict[str, Any]) -> dict[str, Any]:
    """Return what JSON holds of a model: its class, the type of its numbers and its config."""
    return {"model": type(model).__name__, "dtype": str(dtype_of(model)).removeprefix("torch."), "config": config}


def describe_value(value: Any) -> Any:
    """Return an argument in the types of JSON; of an object that JSON cannot hold, such as a module, the name."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Integral | Real):  # of numpy
        return int(value) if isinstance(value, Integral) else float(value)
    if isinstance(value, tuple | list):
        return [describe_value(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): describe_value(item) for name, item in value.items()}
    # Not its repr: that of a function has an address, which differs from one process to the next.
    return {OWN: getattr(value, "__name__", type(value).__name__)}


def save_pretrained(model: nn.Module, config: dict[str, Any], directory: str | Path) -> None:
    """Write a model's config and weights into a folder, each file whole or not at all."""
    directory = Path(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explained("make the folder", directory, error) from error
    write_bytes(directory / WEIGHTS, weights_to_bytes(model))
    write_text(directory / CONFIG, json.dumps(describe_model(model, config), indent=2) + "\n")


def find_saved(name_or_path: str | Path) -> Saved:
    """Find a saved model: a folder, the directory of a run, or the name of a model that comes with the package."""
    directory = _find(name_or_path)
    file = directory / CONFIG
    try:
        saved = json.loads(file.read_text())
        weights = directory / (BEST if ARCHITECTURE in saved else WEIGHTS)
        saved = saved.get(ARCHITECTURE, saved)
        return Saved(directory, saved["model"], DTYPES[saved["dtype"]], dict(saved["config"]), weights)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{file} is not the config of a saved model of this version: {error!r}.") from error


def load_pretrained(cls: type[Model], name_or_path: str | Path, own: dict[str, Any]) -> Model:
    """Build a model of `cls` from a folder, with the parts in `own` in place of those that JSON cannot hold."""
    saved = find_saved(name_or_path)
    if saved.model != cls.__name__:
        raise ValueError(
            f"{saved.directory} holds a {saved.model}, not a {cls.__name__}; ghr.load({str(name_or_path)!r}) loads any."
        )
    config = {**cls.complete_config(saved.config), **own}
    for part, value in config.items():
        if isinstance(value, dict) and OWN in value:
            raise ValueError(
                f"{saved.directory} was saved with a {part} of its own, {value[OWN]}; pass it: "
                f"from_pretrained(..., {part}=...)."
            )
    unit = config.pop(UNIT, None)
    try:
        model = cls(**config)
        if unit is not None:
            model.set_unit(**unit)
    except TypeError as error:
        raise ValueError(f"{saved.directory / CONFIG} does not fit this version of {saved.model}: {error}.") from error
    if not saved.weights.is_file():
        raise FileNotFoundError(f"There is no weights file {saved.weights}.")
    load_weights(model.to(saved.dtype), saved.weights.read_bytes(), saved.weights)
    return model


def _find(name_or_path: str | Path) -> Path:
    for directory in (Path(name_or_path), BUNDLED / name_or_path):
        if (directory / CONFIG).is_file():
            return directory
    bundled = sorted(path.parent.name for path in BUNDLED.glob(f"*/{CONFIG}"))
    known = f"; models that come with the package: {', '.join(bundled)}" if bundled else ""
    raise FileNotFoundError(f"There is no saved model at {name_or_path} (no {CONFIG} there){known}.")
