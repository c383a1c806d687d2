"""Any saved model, by its folder or its name."""

from os import PathLike
from pathlib import Path
from typing import Any

from ghr.checks import show
from ghr.models import MODELS
from ghr.models.base import GraphModel
from ghr.models.pretrained import find_saved


def load(name_or_path: str | Path, **own: Any) -> GraphModel:
    """Load a model, whatever its class, in evaluation mode.

    Args:
        name_or_path: A folder that ``save_pretrained`` wrote, the directory of a run, or the name of a model that
            comes with the package.
        **own: Parts of one's own, such as ``conv`` or ``readout``, for a model that was built with them.

    Example:
        >>> load("rgg-sssp-min-plus").loops
        ('steps', 't_high', 't_low')
    """
    if not isinstance(name_or_path, str | PathLike):
        raise ValueError(f"A model is loaded by its name or the path of its folder; got {show(name_or_path)}.")
    try:
        kind = find_saved(name_or_path).model
    except FileNotFoundError:
        raise
    except OSError as error:  # such as of a name that is too long for the system
        raise FileNotFoundError(f"There is no saved model at {show(name_or_path)}: {error.strerror}.") from error
    model = find_class(kind).from_pretrained(name_or_path, **own)
    return model.eval()


def find_class(name: str) -> type[GraphModel]:
    """Return the class of a model by its name, if some entry of ``MODELS`` builds it."""
    for entry in MODELS.values():
        if entry.build.__name__ == name:
            return entry.build
    raise ValueError(
        f"No model of ghr.MODELS is a {name}; add yours before loading it: ghr.MODELS['my-model'] = ghr.Entry({name})."
    )
