"""Sums over fixed offsets on lattices, as one operation."""

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ghr.ops.backend import kernels_for
from ghr.ops.kernels import stencil as kernels
from ghr.ops.kernels.tile import WIDE
from ghr.ops.kernels.types import Array
from ghr.ops.kernels.vectors import padded
from ghr.ops.neighbours import as_array
from ghr.ops.operation import operation
from ghr.ops.share import share

WORTH = 1 << 21  # products for which it is worth to call a thread, some tens of microseconds
GROUPS = 16  # most sums of the gradient of the matrices, each over some parts; on however many threads


def stencil(values: Tensor, matrices: Tensor, count: int, side: int) -> Tensor:
    r"""Add up what stands at the offsets of a square, each mapped by a matrix of its own.

    .. math::
        u_i = \sum_o W_o^\top v_{i + o}

    Args:
        values: Values :math:`v` of periodic square lattices, one after the other, nodes row by row.
        matrices: The matrices :math:`W`, one below the other, of the offsets of a square of odd width row by row.
        count: Number of lattices.
        side: Nodes along a side of each; at least half the width of the square.

    Shapes:
        - **values:** :math:`(N, m)`, :math:`N = \text{count} \cdot \text{side}^2`
        - **matrices:** :math:`(S m, m')`
        - **output:** :math:`(N, m')`
    """
    width = _width(values, matrices)
    if side < width // 2:  # kernels go around once without looking
        raise ValueError(f"The side is {side}, but a square of width {width} needs one of at least {width // 2}.")
    if kernels_for(values):
        out: Tensor = _stencil(values.contiguous(), matrices.contiguous(), side)
        return out
    kernel = matrices.view(width, width, values.size(1), -1).permute(3, 2, 0, 1)
    image = values.view(count, side, side, -1).permute(0, 3, 1, 2)
    moved = F.conv2d(F.pad(image, [width // 2] * 4, mode="circular"), kernel)
    return moved.permute(0, 2, 3, 1).reshape(values.size(0), -1)


@operation("ghr::stencil")
def _stencil(values: Tensor, matrices: Tensor, side: int) -> Tensor:
    out = values.new_empty(values.size(0), matrices.size(1))
    weight = _weight(matrices, _width(values, matrices))
    least = _least(values, matrices, side)
    share(kernels.convolve, _parts(values, side), as_array(values), side, weight, as_array(out), least=least)
    return out


@_stencil.register_fake
def _(values: Tensor, matrices: Tensor, side: int) -> Tensor:
    return values.new_empty(values.size(0), matrices.size(1))


@operation("ghr::stencil_backward")
def _stencil_backward(grad_out: Tensor, values: Tensor, matrices: Tensor, side: int) -> tuple[Tensor, Tensor]:
    """Return the gradients of values and matrices; that of the values reads the opposite offsets."""
    channels, width = values.size(1), _width(values, matrices)
    back = matrices.view(width * width, channels, -1).flip(0).transpose(1, 2).reshape(-1, channels)
    depth, parts, given = width * channels, _parts(values, side), grad_out.contiguous()
    whole, grad, grad_matrices = _pad(given), torch.empty_like(values), torch.empty_like(matrices)
    groups = min(GROUPS, -(-2 * parts // _least(values, matrices, side)), parts)
    sums = values.new_empty(groups, whole.size(1), width, padded(depth))
    share(
        kernels.differentiate,
        groups,
        parts,
        as_array(values),
        side,
        as_array(given),
        _weight(back, width),
        as_array(grad),
        as_array(whole),
        as_array(sums),
    )
    kernels.add_groups(as_array(sums), depth, as_array(grad_matrices))
    return grad, grad_matrices


@_stencil_backward.register_fake
def _(grad_out: Tensor, values: Tensor, matrices: Tensor, side: int) -> tuple[Tensor, Tensor]:
    return torch.empty_like(values), torch.empty_like(matrices)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    values, matrices, ctx.side = inputs
    ctx.save_for_backward(values, matrices)


def _differentiate(ctx: Any, grad_out: Tensor) -> tuple[Tensor | None, ...]:
    return (*_stencil_backward(grad_out, *ctx.saved_tensors, ctx.side), None)


_stencil.register_autograd(_differentiate, setup_context=_remember)


def _weight(matrices: Tensor, width: int) -> Array:
    """Return matrices as the kernels read them, those of a row of offsets below each other."""
    return as_array(_pad(matrices).contiguous()).reshape(width, matrices.size(0) // width, -1)


def _pad(rows: Tensor) -> Tensor:
    """Return rows with columns of zeros behind, so that tiles cover all."""
    missing = -rows.size(1) % kernels.FLAT
    return F.pad(rows, (0, missing)) if missing else rows


def _width(values: Tensor, matrices: Tensor) -> int:
    return math.isqrt(matrices.size(0) // values.size(1))


def _parts(values: Tensor, side: int) -> int:
    """Return how many parts the kernels make of lattices, small ones of which are taken together."""
    return -(-values.size(0) // (_pile(values, side) * side * side)) * -(-side // kernels.ROWS)


def _pile(values: Tensor, side: int) -> int:
    return max(1, WIDE // values.element_size() // side)


def _least(values: Tensor, matrices: Tensor, side: int) -> int:
    """Return how many parts are worth a range of their own."""
    return 1 + WORTH // (1 + _pile(values, side) * side * min(side, kernels.ROWS) * matrices.numel())
