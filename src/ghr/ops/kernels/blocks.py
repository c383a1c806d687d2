"""Dense products and the logistic function, on blocks of rows that stay in the first-level cache."""

from ghr.jit import called, inlined
from ghr.ops.kernels.arrays import flat
from ghr.ops.kernels.logistic import logistic
from ghr.ops.kernels.tile import TALL, tile_narrow, tile_one, tile_wide
from ghr.ops.kernels.types import Array
from ghr.ops.kernels.vectors import lanes_of, wide_lanes_of

ROWS = 32  # rows of a block, a multiple of those that a tile has


@inlined
def product_tiles(
    a: Array, w: Array, w_at: int, w_row: int, init: Array, init_at: int, init_row: int, c: Array,
    rows: int, inner: int, width: int,
) -> None:  # fmt: skip
    """Do as `product` for the columns that make up whole vectors."""
    lanes, more = lanes_of(a), wide_lanes_of(a)
    pairs, ones, whole = width // (2 * more) * (2 * more), width // more * more, width // lanes * lanes
    for i in range(0, rows, TALL):
        at, here, start = i * inner, i * width, init_at + i * init_row
        for j in range(0, pairs, 2 * more):
            tile_wide(a, at, inner, 1, w, w_at + j, w_row, init, start + j, init_row, c, here + j, width, inner)
        for j in range(pairs, ones, more):
            tile_one(a, at, inner, 1, w, w_at + j, w_row, init, start + j, init_row, c, here + j, width, inner)
        for j in range(ones, whole, lanes):
            tile_narrow(a, at, inner, 1, w, w_at + j, w_row, init, start + j, init_row, c, here + j, width, inner)


@called
def product(
    a: Array, w: Array, w_at: int, w_row: int, init: Array, init_at: int, init_row: int, c: Array,
    rows: int, inner: int, width: int,
) -> None:  # fmt: skip
    """c = init + a w on the first rows of a block; rows behind them, up to a multiple of a tile's, are filled too.

    w starts at its flat place `w_at` and has rows `w_row` apart; likewise init, whose rows are 0 apart if it is a bias.
    Blocks may come as vectors, rows behind each other.
    """
    product_tiles(a, w, w_at, w_row, init, init_at, init_row, c, rows, inner, width)
    whole = width // lanes_of(a) * lanes_of(a)
    if whole < width:
        flat_a, flat_w, flat_init, flat_c = flat(a), flat(w), flat(init), flat(c)
        for r in range(-(-rows // TALL) * TALL):
            for j in range(whole, width):
                total = flat_init[init_at + r * init_row + j]
                for k in range(inner):
                    total += flat_a[r * inner + k] * flat_w[w_at + k * w_row + j]
                flat_c[r * width + j] = total


@inlined
def add_outer_tiles(a: Array, g: Array, w: Array, w_at: int, w_row: int, rows: int, inner: int, width: int) -> None:
    """Do as `add_outer` for the rows and columns of w that make up whole tiles."""
    lanes, more = lanes_of(a), wide_lanes_of(a)
    pairs, ones, whole = width // (2 * more) * (2 * more), width // more * more, width // lanes * lanes
    for k in range(0, inner // TALL * TALL, TALL):
        here = w_at + k * w_row
        for j in range(0, pairs, 2 * more):
            tile_wide(a, k, 1, inner, g, j, width, w, here + j, w_row, w, here + j, w_row, rows)
        for j in range(pairs, ones, more):
            tile_one(a, k, 1, inner, g, j, width, w, here + j, w_row, w, here + j, w_row, rows)
        for j in range(ones, whole, lanes):
            tile_narrow(a, k, 1, inner, g, j, width, w, here + j, w_row, w, here + j, w_row, rows)


@called
def add_outer(a: Array, g: Array, w: Array, w_at: int, w_row: int, rows: int, inner: int, width: int) -> None:
    """w += a^T g over the first rows of a block; w starts at its flat place `w_at` and has rows `w_row` apart."""
    add_outer_tiles(a, g, w, w_at, w_row, rows, inner, width)
    tall, whole = inner // TALL * TALL, width // lanes_of(a) * lanes_of(a)
    flat_a, flat_g, flat_w = flat(a), flat(g), flat(w)
    for k in range(inner):
        begin = whole if k < tall else 0
        if begin < width:
            for i in range(rows):
                factor = flat_a[i * inner + k]
                for j in range(begin, width):
                    flat_w[w_at + k * w_row + j] += factor * flat_g[i * width + j]


@called
def sigmoid(x: Array, out: Array, size: int) -> None:
    """out = 1 / (1 + exp(-x)) on flat arrays."""
    for j in range(size):
        out[j] = logistic(x[j])
