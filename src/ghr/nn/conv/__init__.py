"""Message passing layers, one a file."""

import copy
from collections.abc import Callable
from typing import Any

from torch import nn

from ghr.checks import show
from ghr.nn.conv.adgn import ADGN
from ghr.nn.conv.base import Conv, CustomConv, Edges
from ghr.nn.conv.gat import GAT
from ghr.nn.conv.gated_gcn import GatedGCN
from ghr.nn.conv.gated_gine import GatedGINE
from ghr.nn.conv.gcn import GCN
from ghr.nn.conv.gine import GINE

CONVS: dict[str, type[Conv]] = {
    "gine": GINE,
    "gated_gine": GatedGINE,
    "gcn": GCN,
    "gated_gcn": GatedGCN,
    "gat": GAT,
    "adgn": ADGN,
}

ConvLike = str | nn.Module | Callable[[int], nn.Module]


def edge_encoder(conv: ConvLike, edge_dim: int, channels: int) -> tuple[nn.Module, int]:
    """Return the edge encoder that goes with a conv, and the width it gives."""
    if isinstance(conv, str):
        return _named(conv).edge_encoder(edge_dim, channels)
    module = conv if isinstance(conv, nn.Module) else _call(conv, channels)
    kind = type(module) if isinstance(module, Conv) else Conv
    return kind.edge_encoder(edge_dim, channels)


def make_conv(conv: ConvLike, channels: int, edge_dim: int | None) -> Conv:
    """Return a new message passing layer.

    Args:
        conv: A name in :data:`CONVS`; a module ``(x, edge_index, edge_attr) -> x``, which is copied and, where it
            has ``reset_parameters``, reset; or a callable ``channels -> module``.
        channels: Width of the node states.
        edge_dim: Width of the encoded edge features, ``None`` without any.
    """
    if isinstance(conv, str):
        return _named(conv)(channels, edge_dim)
    if isinstance(conv, nn.Module):
        module = copy.deepcopy(conv)
        reset: Any = getattr(module, "reset_parameters", None)
        if reset is not None:
            reset()
    else:
        module = _call(conv, channels)
    if not isinstance(module, Conv):
        return CustomConv(module, channels)
    if (module.channels, module.edge_dim) != (channels, edge_dim):
        raise ValueError(
            f"The model needs a layer built with ({channels}, edge_dim={edge_dim}), from its hidden_channels and its "
            f"encoded edge features; got {module}."
        )
    return module


def _named(conv: str) -> type[Conv]:
    if conv not in CONVS:
        raise ValueError(f"Unknown conv {show(conv)}; known are {', '.join(CONVS)}, or pass a module.")
    return CONVS[conv]


def _call(conv: Any, channels: int) -> nn.Module:
    """Return the module that a callable makes."""
    if not callable(conv):
        raise ValueError(f"conv must be a name, a module or a callable channels -> module; got {show(conv)}.")
    module = conv(channels)
    if not isinstance(module, nn.Module):
        raise ValueError(f"conv must return a module for {channels} channels; got {show(module)}.")
    return module


__all__ = ["ADGN", "CONVS", "GAT", "GCN", "GINE", "Conv", "ConvLike", "CustomConv", "Edges", "GatedGCN", "GatedGINE"]
