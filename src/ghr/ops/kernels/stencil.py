"""Sums over fixed offsets on periodic square lattices, a matrix per offset, as products of matrices.

A vector holds one channel of as many nodes of a row as it has room for, of several lattices where they are small: the
channels are few, and no width of theirs then leaves room unused. What such nodes read of one row of their surroundings
is laid out once, an offset after the other, and what they read in all is as many of these rows, one after the other.

The gradient of the matrices is a sum over nodes, so its vectors hold channels. Nodes are numbered row by row: what a
node reads of one row lies side by side, and what the next node reads begins one node later, a product whose rows
overlap, for which nothing is gathered but a copy of the lattice with its surroundings.

Lattices are cut into parts of a few rows; a part of small lattices has all of those that share a vector.
"""
# fmt: off

import numpy as np

from ghr.jit import called, compiled, inlined, kernel
from ghr.ops.kernels.arrays import release, reserve
from ghr.ops.kernels.team import INSIDE, Team, handed_out
from ghr.ops.kernels.tile import BYTES, WIDE, make_tile
from ghr.ops.kernels.types import Array
from ghr.ops.kernels.vectors import lanes_of, load, store, wide_lanes_of

ROWS = 16  # of a lattice that are one part
FLAT, TALL = 4, 12  # columns that are a tile: a divisor of usual widths, and as many as there are registers for
flat_wide, flat_one, flat_narrow = make_tile(FLAT, 2, WIDE), make_tile(FLAT, 1, WIDE), make_tile(FLAT, 1, BYTES)
tall_one = make_tile(TALL, 1, WIDE)


@kernel
def convolve(team: Team, first: int, stop: int, values: Array, side: int, weight: Array, out: Array) -> None:
    """Fill what all nodes of some parts read; the weight is of shape (width, width * channels, padded columns)."""
    if handed_out(team, first, stop):
        return
    channels, columns, more = values.shape[1], out.shape[1], wide_lanes_of(values)
    width, depth, wide = weight.shape
    pile, blocks, tall, deep = max(1, more // side), -(-side // ROWS), wide // TALL * TALL, width * depth
    apart = more if pile == 1 else 2 * more  # vectors are written to where only a few more nodes are to stand
    image = reserve((min(side, ROWS) + width) * depth * apart, values)
    beside = reserve(channels * (more + width), values)
    nothing, line = reserve(more, values), reserve(wide * more, values)
    beside[:], nothing[:] = 0, 0
    for part in range(first, stop):
        lattice, top = part // blocks * pile, part % blocks * ROWS
        bottom, end = min(side, top + ROWS), min(lattice + pile, values.shape[0] // (side * side))
        for left in range(0, side, more):
            right = min(side, left + more)
            for member in range(lattice, end):
                begin = (member - lattice) * side
                _spread(values, member, side, top, bottom, left, right, width, beside, image, begin, apart)
            for y in range(bottom - top):
                begin = y * depth * apart
                for j in range(0, tall, TALL):
                    tall_one(weight, j, 1, wide, image, begin, apart, nothing, 0, 0, line, j * more, more, deep)
                for j in range(tall, wide, FLAT):
                    flat_one(weight, j, 1, wide, image, begin, apart, nothing, 0, 0, line, j * more, more, deep)
                for member in range(lattice, end):
                    node, at = (member * side + top + y) * side, (member - lattice) * side - left
                    for x in range(left, right):
                        for j in range(columns):
                            out[node + x, j] = line[j * more + at + x]
    release(image, beside, nothing, line)


@called
def _spread(
    values: Array, lattice: int, side: int, top: int, bottom: int, left: int, right: int, width: int, beside: Array,
    image: Array, at: int, apart: int,
) -> None:
    """Lay out what nodes of some rows of a lattice read, side by side, a channel of an offset after the other."""
    channels, span, reach, lanes = values.shape[1], beside.size // values.shape[1], width // 2, lanes_of(values)
    for y in range(top - reach, bottom + reach):
        node = (lattice * side + _wrap(y, side)) * side
        for x in range(left - reach, right + reach):
            near, to = node + _wrap(x, side), x - left + reach
            for j in range(channels):
                beside[j * span + to] = values[near, j]
        for x in range(width):
            for j in range(channels):
                for lane in range(0, right - left, lanes):
                    store(image, at + lane, load(beside, j * span + x + lane))
                at += apart


@kernel
def differentiate(
    team: Team, first: int, stop: int,
    parts: int, values: Array, side: int, given: Array, back: Array, grad: Array, whole: Array,
    sums: Array,
) -> None:
    """Fill the gradient of the values of some groups of parts, and the sums of that of the weight over each."""
    if handed_out(team, first, stop):
        return
    groups = sums.shape[0]
    for group in range(first, stop):
        begin, end = group * parts // groups, (group + 1) * parts // groups
        convolve(INSIDE, begin, end, given, side, back, grad)
        _correlate(begin, end, values, side, whole, sums[group])


@compiled
def add_groups(sums: Array, depth: int, grad: Array) -> None:
    """Add up the sums of all groups into the gradient of the weight (width * depth, columns)."""
    groups, _, width, deep = sums.shape
    total = np.empty(deep, sums.dtype)
    for column in range(grad.shape[1]):
        for row in range(width):
            total[:] = 0
            for group in range(groups):
                for k in range(deep):
                    total[k] += sums[group, column, row, k]
            for k in range(depth):
                grad[row * depth + k, column] = total[k]


@called
def _correlate(first: int, stop: int, values: Array, side: int, grad: Array, sums: Array) -> None:
    """Add up the gradient of the weight over some parts, transposed, into sums (columns, width, padded depth)."""
    channels, width = values.shape[1], sums.shape[1]
    pile, across, blocks = max(1, wide_lanes_of(values) // side), side + 2 * (width // 2), -(-side // ROWS)
    image = reserve((min(side, ROWS) + width) * across * channels + wide_lanes_of(values), values)
    image[:], sums[:] = 0, 0
    for part in range(first, stop):
        lattice, top = part // blocks * pile, part % blocks * ROWS
        for member in range(lattice, min(lattice + pile, values.shape[0] // (side * side))):
            _surround(values, member, side, top, min(side, top + ROWS), width // 2, image)
            for y in range(min(side - top, ROWS)):
                given = (member * side + top + y) * side * grad.shape[1]
                for row in range(width):
                    _add_row(grad, given, image, (y + row) * across * channels, channels, side, row, sums)
    release(image)


@called
def _add_row(
    grad: Array, given: int, image: Array, begin: int, channels: int, side: int, row: int, sums: Array,
) -> None:
    """Add what a row of a lattice gives to one row of the matrices: a few columns of the gradient are a tile."""
    columns, width, deep = sums.shape
    more = wide_lanes_of(image)
    pairs, ones = deep // (2 * more) * (2 * more), deep // more * more
    for column in range(0, columns, FLAT):
        at = (column * width + row) * deep
        for k in range(0, pairs, 2 * more):
            flat_wide(grad, given + column, 1, columns, image, begin + k, channels,
                      sums, at + k, width * deep, sums, at + k, width * deep, side)
        for k in range(pairs, ones, more):
            flat_one(grad, given + column, 1, columns, image, begin + k, channels,
                     sums, at + k, width * deep, sums, at + k, width * deep, side)
        for k in range(ones, deep, lanes_of(image)):
            flat_narrow(grad, given + column, 1, columns, image, begin + k, channels,
                        sums, at + k, width * deep, sums, at + k, width * deep, side)


@called
def _surround(values: Array, lattice: int, side: int, top: int, bottom: int, reach: int, image: Array) -> None:
    """Copy some rows of a lattice with all that is at most `reach` rows and columns away."""
    channels = values.shape[1]
    at = 0
    for y in range(top - reach, bottom + reach):
        node = (lattice * side + _wrap(y, side)) * side
        for x in range(-reach, side + reach):
            near = node + _wrap(x, side)
            for j in range(channels):
                image[at + j] = values[near, j]
            at += channels


@inlined
def _wrap(at: int, side: int) -> int:
    """Return a row or column that is at most one lattice too far as the one there is: a division takes long."""
    return at + side * (at < 0) - side * (at >= side)
