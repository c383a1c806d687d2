"""Resetting parameters."""

from typing import Any

from torch import nn


def reset_children(module: nn.Module) -> None:
    """Reset the parameters of all parts of a module; a part with ``reset_parameters`` does so for all inside it."""
    for child in module.children():
        reset: Any = getattr(child, "reset_parameters", None)
        if reset is None:
            reset_children(child)
        else:
            reset()
