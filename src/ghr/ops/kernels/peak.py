"""Products of blocks that stay near the core, one after the other: how fast a CPU multiplies at the best."""

from typing import Any

import numpy as np

from ghr.jit import fast_kernel
from ghr.ops.kernels.blocks import product
from ghr.ops.kernels.team import Team, handed_out
from ghr.ops.kernels.types import Array


@fast_kernel
def multiply(
    team: Team, first: int, stop: int, times: int, a: Array, w: Array, bias: Array, c: Array, inner: int, width: int
) -> None:
    """Fill some blocks with bias + a w, each so many times. Blocks come as vectors, rows behind each other."""
    if handed_out(team, first, stop):
        return
    top: Any = np.int64(0)
    for block in range(first, stop):
        for _ in range(times):
            product(a[block], w, top, width, bias, top, top, c[block], c.shape[1] // width, inner, width)
