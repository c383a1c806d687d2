"""Checks of what models are given."""

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.hierarchy.data import at_hand, check_graph


def check_input(data: Data, in_channels: int, model: nn.Module) -> None:
    """Raise a ValueError that says what is wrong with a batch: its graph, or the width or type of its features."""
    if data.edge_index is not None and at_hand(data.edge_index):
        check_graph(data)
    if data.x is None or data.x.dim() != 2 or data.x.size(1) != in_channels:
        shape = None if data.x is None else tuple(data.x.shape)
        raise ValueError(f"The model was built for x of shape (N, {in_channels}); got {shape}.")
    check_dtype("x", data.x, model)


def check_dtype(name: str, value: Tensor, model: nn.Module) -> None:
    """Raise a ValueError unless a tensor holds the floating point numbers that a model computes with."""
    if not value.is_floating_point():
        raise ValueError(f"{name} must hold floating point numbers; got {value.dtype}.")
    dtype = next(model.parameters()).dtype
    if value.dtype != dtype and not torch.is_autocast_enabled(value.device.type):
        raise ValueError(f"{name} holds {value.dtype}, but the model computes with {dtype}; convert one of them.")


def check_positive(name: str, value: object) -> None:
    """Raise a ValueError unless a number of channels, levels or steps is a whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1; got {value!r}.")
