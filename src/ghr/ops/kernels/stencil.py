"""Sums over fixed offsets on periodic square lattices, a matrix per offset, as products of overlapping rows.

Nodes of a lattice are numbered row by row, so what a node reads of one row of its surroundings lies side by side, and
what the next node reads begins one node later: a product whose rows overlap, for which nothing is gathered but a copy
of the lattice with its surroundings. Lattices are cut into parts of a few rows.
"""
# fmt: off

import numpy as np

from ghr.jit import called, compiled
from ghr.ops.kernels.tile import BYTES, TALL, WIDE, make_tile, tile_narrow, tile_one, tile_wide
from ghr.ops.kernels.types import Array

ROWS = 16  # of a lattice that are one part
FLAT = 4  # columns of the gradient that are a tile of its sums, a divisor of usual widths
flat_wide, flat_one = make_tile(FLAT, 2, WIDE), make_tile(FLAT, 1, WIDE)


@compiled
def convolve(first: int, stop: int, values: Array, side: int, weight: Array, out: Array) -> None:
    """Fill what all nodes of some parts read; the weight is of shape (width, width * channels, padded columns)."""
    channels, columns = values.shape[1], out.shape[1]
    width, depth, wide = weight.shape
    across, lanes, more = side + 2 * (width // 2), BYTES // values.itemsize, WIDE // values.itemsize
    pairs, ones, blocks = wide // (2 * more) * (2 * more), wide // more * more, -(-side // ROWS)
    image = np.zeros((min(side, ROWS) + width) * across * channels + TALL * channels, values.dtype)
    line = np.empty(-(-side // TALL) * TALL * wide, values.dtype)
    for part in range(first, stop):
        lattice, top = part // blocks, part % blocks * ROWS
        bottom = min(side, top + ROWS)
        _surround(values, lattice, side, top, bottom, width // 2, image)
        for y in range(bottom - top):
            line[:] = 0
            for row in range(width):
                begin, at = (y + row) * across * channels, row * depth * wide
                for x in range(0, side, TALL):
                    near, to = begin + x * channels, x * wide
                    for j in range(0, pairs, 2 * more):
                        tile_wide(image, near, channels, 1, weight, at + j, wide,
                                  line, to + j, wide, line, to + j, wide, depth)
                    for j in range(pairs, ones, more):
                        tile_one(image, near, channels, 1, weight, at + j, wide,
                                 line, to + j, wide, line, to + j, wide, depth)
                    for j in range(ones, wide, lanes):
                        tile_narrow(image, near, channels, 1, weight, at + j, wide,
                                    line, to + j, wide, line, to + j, wide, depth)
            node = (lattice * side + top + y) * side
            for x in range(side):
                for j in range(columns):
                    out[node + x, j] = line[x * wide + j]


@compiled
def correlate(first: int, stop: int, parts: int, values: Array, side: int, grad: Array, sums: Array) -> None:
    """Add up the gradient of the weight over groups of parts, transposed, into sums (columns, width, padded depth)."""
    channels = values.shape[1]
    groups, _, width, _ = sums.shape
    across, blocks = side + 2 * (width // 2), -(-side // ROWS)
    image = np.zeros((min(side, ROWS) + width) * across * channels + WIDE // values.itemsize, values.dtype)
    for group in range(first, stop):
        for part in range(group * parts // groups, (group + 1) * parts // groups):
            lattice, top = part // blocks, part % blocks * ROWS
            _surround(values, lattice, side, top, min(side, top + ROWS), width // 2, image)
            for y in range(min(side - top, ROWS)):
                given = (lattice * side + top + y) * side * grad.shape[1]
                for row in range(width):
                    _add_row(grad, given, image, (y + row) * across * channels, channels, side, row, sums[group])


@called
def _add_row(
    grad: Array, given: int, image: Array, begin: int, channels: int, side: int, row: int, sums: Array,
) -> None:
    """Add what a row of a lattice gives to one row of the matrices: a few columns of the gradient are a tile."""
    columns, width, deep = sums.shape
    more = WIDE // image.itemsize
    pairs = deep // (2 * more) * (2 * more)
    for column in range(0, columns, FLAT):
        at = (column * width + row) * deep
        for k in range(0, pairs, 2 * more):
            flat_wide(grad, given + column, 1, columns, image, begin + k, channels,
                      sums, at + k, width * deep, sums, at + k, width * deep, side)
        for k in range(pairs, deep, more):
            flat_one(grad, given + column, 1, columns, image, begin + k, channels,
                     sums, at + k, width * deep, sums, at + k, width * deep, side)


@called
def _surround(values: Array, lattice: int, side: int, top: int, bottom: int, reach: int, image: Array) -> None:
    """Copy some rows of a lattice with all that is at most `reach` rows and columns away."""
    channels = values.shape[1]
    at = 0
    for y in range(top - reach, bottom + reach):
        node = (lattice * side + y % side) * side
        for x in range(-reach, side + reach):
            near = node + x % side
            for j in range(channels):
                image[at + j] = values[near, j]
            at += channels
