"""Weights of a model as a safetensors file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor, nn


@runtime_checkable
class Explains(Protocol):
    """A model that knows why weights of older versions do not fit it."""

    def explain_weights(self, weights: Mapping[str, Tensor]) -> str | None:
        """Return what was another in the version that saved such weights, and what to do; ``None`` if it is unknown."""
        ...


def weights_to_bytes(model: nn.Module) -> bytes:
    """The parameters and buffers of a model in the safetensors format."""
    # Clones, because safetensors refuses tensors that share memory, as modules used at two places do.
    return safetensors.torch.save({name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()})


def load_weights(model: nn.Module, data: bytes, source: Path) -> None:
    """Put the weights in ``data``, read from the file ``source``, into a model that has exactly these.

    Raises:
        ValueError: Where the data are cut short or belong to another model. The model is then unchanged.
    """
    try:
        weights = safetensors.torch.load(data)
    except SafetensorError as error:
        raise ValueError(f"The weights in {source} are damaged or cut short and cannot be read: {error}.") from error
    differences = _differences(weights, model.state_dict())
    if differences:
        older = model.explain_weights(weights) if isinstance(model, Explains) else None
        if older is not None:
            raise ValueError(f"The weights in {source} do not fit {type(model).__name__}: {older}")
        raise ValueError(f"The weights in {source} do not fit {type(model).__name__}: {'; '.join(differences)}.")
    model.load_state_dict(weights)


def _differences(weights: dict[str, Tensor], expected: dict[str, Tensor], *, most: int = 5) -> list[str]:
    missing = [f"{name} is missing" for name in expected.keys() - weights.keys()]
    unknown = [f"{name} is unknown to the model" for name in weights.keys() - expected.keys()]
    shapes = [
        f"{name} is {tuple(weights[name].shape)} in the file but {tuple(expected[name].shape)} in the model"
        for name in expected.keys() & weights.keys()
        if weights[name].shape != expected[name].shape
    ]
    everything = [*sorted(missing), *sorted(unknown), *sorted(shapes)]
    return everything if len(everything) <= most else [*everything[:most], f"and {len(everything) - most} more"]
