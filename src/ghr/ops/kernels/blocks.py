"""Dense products, sums of rows and the logistic function, on blocks of rows that stay in the first-level cache.

numba's cache on disk looks at a kernel's own file only: after a change here, in `tile` or in `logistic`, touch the
files that use it.
"""

from ghr.jit import called, inlined
from ghr.ops.kernels.logistic import logistic
from ghr.ops.kernels.tile import BYTES, tile_4x1, tile_4x2
from ghr.ops.kernels.types import Array

ROWS = 32  # rows of a block, a multiple of the four that a tile has


@called
def product(
    a: Array, w: Array, w_at: int, w_row: int, init: Array, init_at: int, init_row: int, c: Array,
    rows: int, inner: int, width: int,
) -> None:  # fmt: skip
    """c = init + a w on the first rows of a block; rows behind them, up to a multiple of four, are filled too.

    w starts at its flat place `w_at` and has rows `w_row` apart; likewise init, whose rows are 0 apart if it is a bias.
    """
    lanes = BYTES // a.itemsize
    pairs, whole = width // (2 * lanes) * (2 * lanes), width // lanes * lanes
    flat_w, flat_init = w.reshape(-1), init.reshape(-1)
    for i in range(0, rows, 4):
        at, here, start = i * inner, i * width, init_at + i * init_row
        for j in range(0, pairs, 2 * lanes):
            tile_4x2(a, at, inner, 1, w, w_at + j, w_row, init, start + j, init_row, c, here + j, width, inner)
        for j in range(pairs, whole, lanes):
            tile_4x1(a, at, inner, 1, w, w_at + j, w_row, init, start + j, init_row, c, here + j, width, inner)
        for r in range(i, i + 4):
            for j in range(whole, width):
                total = flat_init[init_at + r * init_row + j]
                for k in range(inner):
                    total += a[r, k] * flat_w[w_at + k * w_row + j]
                c[r, j] = total


@called
def add_outer(a: Array, g: Array, w: Array, w_at: int, w_row: int, rows: int, inner: int, width: int) -> None:
    """w += a^T g over the first rows of a block; w starts at its flat place `w_at` and has rows `w_row` apart."""
    lanes = BYTES // a.itemsize
    pairs, whole = width // (2 * lanes) * (2 * lanes), width // lanes * lanes
    fours = inner // 4 * 4
    flat_w = w.reshape(-1)
    for k in range(0, fours, 4):
        here = w_at + k * w_row
        for j in range(0, pairs, 2 * lanes):
            tile_4x2(a, k, 1, inner, g, j, width, w, here + j, w_row, w, here + j, w_row, rows)
        for j in range(pairs, whole, lanes):
            tile_4x1(a, k, 1, inner, g, j, width, w, here + j, w_row, w, here + j, w_row, rows)
    for k in range(inner):
        for j in range(whole if k < fours else 0, width):
            for i in range(rows):
                flat_w[w_at + k * w_row + j] += a[i, k] * g[i, j]


@inlined
def add_rows(x: Array, index: Array, first: int, last: int, out: Array, row: int, width: int) -> None:
    """out[row] += x[index[first]] + ... + x[index[last - 1]], four at a time so that the sum stays in registers."""
    whole = first + (last - first) // 4 * 4
    for e in range(first, whole, 4):
        a, b, c, d = index[e], index[e + 1], index[e + 2], index[e + 3]
        for j in range(width):
            out[row, j] += (x[a, j] + x[b, j]) + (x[c, j] + x[d, j])
    for e in range(whole, last):
        near = index[e]
        for j in range(width):
            out[row, j] += x[near, j]


@called
def sigmoid(x: Array, out: Array, size: int) -> None:
    """out = 1 / (1 + exp(-x)) on flat arrays."""
    for j in range(size):
        out[j] = logistic(x[j])
