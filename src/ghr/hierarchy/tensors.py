"""Checks of the tensors that describe a graph: each raises a ValueError that says what was wrong."""

import math
from typing import Any, TypeGuard

import numpy.typing as npt
import torch
from torch import Tensor

from ghr.checks import show
from ghr.hierarchy.kernels import lists

MOST_NODES = 2**31 - 1  # the kernels number nodes with 32 bits
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
WHOLES = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)


def at_hand(value: Tensor) -> bool:
    """Whether values may be looked at: on a GPU that would stall the device, in compiled code break the graph."""
    return value.device.type == "cpu" and not torch.compiler.is_compiling()


def is_dense(value: Any) -> TypeGuard[Tensor]:
    """Whether something is a tensor that holds all its entries side by side; not a sparse or a nested one."""
    return isinstance(value, Tensor) and value.layout == torch.strided and not (value.is_nested or value.is_quantized)


def check_tensor(name: str, value: Any) -> Tensor:
    """Return a dense tensor of at least one dimension that holds real numbers, or raise a ValueError."""
    if not isinstance(value, Tensor):
        raise ValueError(f"{name} must be a tensor; got {describe(value)}.")
    if not is_dense(value):
        raise ValueError(f"{name} must be a dense tensor; got {describe(value)}.")
    if value.dim() == 0 or value.dtype not in FLOATS + WHOLES:
        raise ValueError(f"{name} must be a tensor of real numbers in one row per item; got {describe(value)}.")
    return value


def check_values(name: str, value: Tensor) -> None:
    """Raise a ValueError if a tensor has a shape only and no values to look at."""
    if value.is_meta:
        raise ValueError(f"{name} is on the device meta and has no values; give a tensor that holds numbers.")


def check_numbers(name: str, value: Any, count: int, items: str) -> Tensor:
    """Return a tensor of shape ``(count,)`` that holds int64 numbers, or raise a ValueError.

    Args:
        name: What the tensor is called in the sentence.
        value: What was given.
        count: How many numbers there must be.
        items: What there is one number for, such as ``nodes``.
    """
    if not is_dense(value) or value.dtype != torch.long:
        raise ValueError(f"{name} must be an int64 tensor of shape ({count},); got {describe(value)}.")
    if value.shape != (count,):
        raise ValueError(f"{name} has the shape {tuple(value.shape)} for {count} {items}.")
    return value


def check_range(name: str, value: Tensor, most: int, least: int = 0) -> None:
    """Raise a ValueError unless all numbers of a tensor are in ``least .. most``."""
    check_values(name, value)
    if value.numel():
        low, high = find_ends(value)
        if low < least or high > most:
            raise ValueError(f"{name} has {low if low < least else high}, but must be in {least} to {most}.")


def check_edges(edge_index: Any, num_nodes: int, name: str = "edge_index", *, look: bool = True) -> Tensor:
    """Return edges, or raise a ValueError unless they are two rows of nodes that exist.

    Args:
        edge_index: What was given.
        num_nodes: Number of nodes.
        name: What the edges are called in the sentence.
        look: Whether their values may be looked at.
    """
    if not is_dense(edge_index) or edge_index.dtype != torch.long:
        raise ValueError(f"{name} must be an int64 tensor of shape (2, E); got {describe(edge_index)}.")
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise ValueError(f"{name} must be an int64 tensor of shape (2, E); got {describe(edge_index)}.")
    if look:
        check_values(name, edge_index)
    if look and edge_index.numel():
        low, high = lists.find_ends(to_array(edge_index))
        if low < 0 or high >= num_nodes:
            raise ValueError(f"{name} has node {low if low < 0 else high}, but nodes run from 0 to {num_nodes - 1}.")
    return edge_index


def check_rows(name: str, value: Any, count: int, items: str = "edges") -> Tensor:
    """Return features of shape ``(count, D)``, a plain vector as one column, or raise a ValueError."""
    value = check_tensor(name, value)
    if value.size(0) != count:
        raise ValueError(f"{name} has {value.size(0)} rows for {count} {items}.")
    if value.dim() > 2:
        raise ValueError(f"{name} must be a matrix, one row for each of {count} {items}; got {describe(value)}.")
    rows: Tensor = value.unsqueeze(1) if value.dim() == 1 else value
    return rows


def check_finite(name: str, value: Tensor | None) -> None:
    """Raise a ValueError if a tensor has entries that are infinite or not a number."""
    if value is None or not value.is_floating_point():
        return
    check_values(name, value)
    if not math.isfinite(_add_up(value)):  # one cheap pass; a sum of finite numbers may overflow, so then count
        bad = int((~torch.isfinite(value)).sum())
        if bad:
            raise ValueError(f"{name} has {bad} entries that are not finite numbers; clean or impute them first.")


def _add_up(value: Tensor) -> float:
    """Return the sum of all entries; for small tensors, calling PyTorch takes longer than adding."""
    if value.is_cpu and value.dtype in (torch.float32, torch.float64):
        return lists.add_up(value.numpy(force=True).reshape(-1))
    return value.sum().item()


def to_array(value: Tensor) -> npt.NDArray[Any]:
    """Return the numbers of a tensor in the order and place in which kernels read them."""
    if not value.is_cpu or not value.is_contiguous():
        value = value.cpu().contiguous()
    array: npt.NDArray[Any] = value.numpy()
    return array


def to_tensor(array: npt.NDArray[Any], beside: Tensor) -> Tensor:
    """Return the numbers of an array as a tensor on the device of another one."""
    value: Tensor = torch.from_numpy(array)
    return value if beside.is_cpu else value.to(beside.device)


def find_ends(value: Tensor) -> tuple[int, int]:
    """Return the smallest and the largest number of a tensor."""
    low, high = torch.aminmax(value)
    return int(low), int(high)


def describe(value: Any) -> str:
    """Say in a few words what a value is."""
    if isinstance(value, Tensor) and value.is_nested:
        return f"a nested tensor of {value.dtype}"
    if isinstance(value, Tensor):
        kind = "" if value.layout == torch.strided else f" with the layout {value.layout}"
        return f"{value.dtype} of shape {tuple(value.shape)}{kind}"
    return f"the {type(value).__name__} {show(value)}"
