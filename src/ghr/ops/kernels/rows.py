"""What fused updates do with rows of states before and after their own: the norm, and the residual way back.

Rows are whole vectors wide, of which `width` numbers count and the others are zero.
"""
# fmt: off

from typing import Any

import numpy as np

from ghr.jit import called, inlined, pasted
from ghr.ops.kernels.types import Array
from ghr.ops.kernels.vectors import lanes_of, load, spread, store, sum_of


@pasted
def state_before(update: int, state: Array, between: Array) -> Array:
    """Return the states that an update reads."""
    return state if update == 0 else between[(update - 1) % between.shape[0]]


@inlined
def inverse_norm(x: Array, at: int, wide: int, width: int, eps: float) -> Any:
    """Return 1 / sqrt(mean of squares + eps) of the row at a flat place."""
    total = spread(x.dtype.type(0))
    for j in range(0, wide, lanes_of(x)):
        total = total + load(x, at + j) * load(x, at + j)
    return x.dtype.type(1 / np.sqrt(sum_of(total) / width + eps))  # in 64 bits: infinity must come through


@called
def normalise(
    begin: int, end: int, x: Array, weight: Array, eps: float, width: int, injection: Array, z: Array,
) -> None:
    """z = RMSNorm(x) + injection for some nodes."""
    wide, lanes = x.shape[1], lanes_of(x)
    for i in range(begin, end):
        inverse = spread(inverse_norm(x, i * wide, wide, width, eps))
        for j in range(0, wide, lanes):
            at = i * wide + j
            store(z, at, load(x, at) * inverse * load(weight, j) + load(injection, at))


@inlined
def backward_norm(
    i: int, x: Array, weight: Array, eps: float, width: int, total: Array, at: int, fresh: bool,
    grad: Array, grad_injection: Array, grad_weight: Array,
) -> None:
    """Carry the gradient of row i of z, at a flat place of `total`, to the state, the injection and the norm."""
    wide, lanes = x.shape[1], lanes_of(x)
    inverse = inverse_norm(x, i * wide, wide, width, eps)
    dot = spread(x.dtype.type(0))
    for j in range(0, wide, lanes):
        dot = dot + load(total, at + j) * load(weight, j) * load(x, i * wide + j)
    pull = spread(inverse * inverse * inverse * sum_of(dot) / x.dtype.type(width))
    scale = spread(inverse)
    for j in range(0, wide, lanes):
        here, value = i * wide + j, load(total, at + j)
        own = load(x, here)
        store(grad_injection, here, value if fresh else load(grad_injection, here) + value)
        store(grad_weight, j, load(grad_weight, j) + value * own * scale)
        store(grad, here, load(grad, here) + scale * load(weight, j) * value - pull * own)
