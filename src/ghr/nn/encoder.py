"""From the features that data have to the width that a model computes with."""

from collections.abc import Sequence
from typing import TypeAlias

import torch
from torch import Tensor, nn

from ghr.checks import check_whole, show
from ghr.memory import check_memory

Width: TypeAlias = int | Sequence[int]  # real features: how many; integer codes: how many codes each column has
MOST_WIDTH = 2**31 - 1


class CodeEncoder(nn.Module):
    r"""Adds up one learned vector per column of integer codes, :math:`f_i = \sum_c E_c[x_{ic}]`.

    Args:
        sizes: How many codes each column has, from 0.
        channels: Width :math:`d` of the vectors.

    Shapes:
        - **input:** :math:`(N, C)` whole numbers
        - **output:** :math:`(N, d)`
    """

    offset: Tensor

    def __init__(self, sizes: Sequence[int], channels: int) -> None:
        super().__init__()
        self.sizes = tuple(check_whole("The number of codes of a column", size) for size in sizes)
        self.table = nn.Embedding(sum(self.sizes), channels)
        starts = torch.tensor([0, *self.sizes[:-1]]).cumsum(0)
        self.register_buffer("offset", starts, persistent=False)

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        self.table.reset_parameters()

    def forward(self, codes: Tensor) -> Tensor:
        """Encode rows of codes."""
        rows: Tensor = self.table(codes.long() + self.offset)
        return rows.sum(dim=1)

    def __repr__(self) -> str:
        return f"CodeEncoder({list(self.sizes)}, {self.table.embedding_dim})"


def check_width(name: str, width: Width) -> int | list[int]:
    """Return a width, as a list of sizes where it stands for codes; or raise a ValueError."""
    if not isinstance(width, Sequence) or isinstance(width, (str, bytes)):
        return check_whole(name, width, most=MOST_WIDTH, also=", or the sizes of columns of codes")
    if not width:
        raise ValueError(f"{name} must name the size of at least one column of codes; got {show(width)}.")
    return [check_whole(f"The number of codes of a column of {name}", size, most=MOST_WIDTH) for size in width]


def check_map(name: str, width: Width, channels: int) -> None:
    """Raise a ValueError if the weights that map features of this width to `channels` need more memory than there is.

    Args:
        name: What the width is called.
        width: As in :func:`make_encoder`.
        channels: What they are mapped to.
    """
    rows = width if isinstance(width, int) else sum(width)
    needed = rows * channels * torch.get_default_dtype().itemsize
    check_memory(f"A map of {name}={show(width)} to {channels:,} channels", needed, "take fewer channels")


def count_columns(width: Width) -> int:
    """Return how many columns features of this width have."""
    return width if isinstance(width, int) else len(width)


def make_encoder(width: Width, channels: int) -> nn.Module:
    """Return a linear map for real features, or one embedding per column for codes."""
    return nn.Linear(width, channels) if isinstance(width, int) else CodeEncoder(width, channels)


def check_dtype(name: str, value: Tensor, dtype: torch.dtype) -> None:
    """Raise a ValueError unless a tensor holds the floating point numbers that a model computes with."""
    if not value.is_floating_point():
        raise ValueError(f"{name} must hold floating point numbers; got {value.dtype}.")
    if value.dtype != dtype and not torch.is_autocast_enabled(value.device.type):
        raise ValueError(f"{name} holds {value.dtype}, but the model computes with {dtype}; convert one of them.")


def check_features(name: str, value: Tensor, width: Width, dtype: torch.dtype, *, look: bool) -> Tensor:
    """Return features as an encoder of this width takes them, or raise a ValueError.

    Args:
        name: What the features are called in the sentence.
        value: The features.
        width: As in :func:`make_encoder`.
        dtype: What the model computes with.
        look: Whether values may be looked at, to find codes that are out of range.
    """
    if value.dim() != 2 or value.size(1) != count_columns(width):
        raise ValueError(
            f"The model was built for {name} of shape (N, {count_columns(width)}); got {tuple(value.shape)}."
        )
    if isinstance(width, int):
        if value.dtype == torch.bool:
            return value.to(dtype)
        if not value.is_floating_point():
            raise ValueError(
                f"{name} holds whole numbers ({value.dtype}), but the model was built for real features; convert them "
                "to floating point numbers or, if they are codes, build the model with the number of codes per column."
            )
        check_dtype(name, value, dtype)
        return value
    if value.is_floating_point():
        if look and not bool((value == value.round()).all()):
            raise ValueError(f"{name} must hold codes, as the model was built for, but some of it are fractions.")
        value = value.long()
    if look and value.numel():
        low, high = value.amin(dim=0).tolist(), value.amax(dim=0).tolist()
        for column, (least, most, size) in enumerate(zip(low, high, width, strict=True)):
            if least < 0 or most >= size:
                raise ValueError(
                    f"Column {column} of {name} has the code {least if least < 0 else most}, but the model knows 0 to "
                    f"{size - 1}; build it from data in which all codes occur, or say their numbers."
                )
    return value
