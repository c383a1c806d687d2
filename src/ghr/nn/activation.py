"""Activations by name."""

from torch import nn

from ghr.checks import check_choice

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "leaky_relu": nn.LeakyReLU,
    "elu": nn.ELU,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
    "tanh": nn.Tanh,
}


def make_activation(act: str) -> nn.Module:
    """Return an activation by its name in :data:`ACTIVATIONS`."""
    return ACTIVATIONS[check_choice("act", act, ACTIVATIONS)]()
