"""Attention among the nodes of every graph of a batch, and its gradient, which recomputes the weights.

A graph and a head are one piece of work. Its keys and values are copied side by side, padded with zeros to whole
vectors; its queries come in blocks of rows, whose scores stay in the cache. So memory grows with the nodes, not with
the pairs of nodes. Of every row the logarithm of the sum of its exponentials is kept for the way back.
"""
# fmt: off

from typing import Any

import numpy as np

from ghr.jit import called, fast_kernel, inlined
from ghr.ops.kernels.arrays import flat, release, reserve
from ghr.ops.kernels.blocks import ROWS, add_outer, product
from ghr.ops.kernels.exponential import exponential
from ghr.ops.kernels.team import Team, handed_out
from ghr.ops.kernels.types import Array
from ghr.ops.kernels.vectors import lanes_of, larger, largest_of, load, spread, store


@fast_kernel
def forward(
    team: Team, first: int, stop: int, qkv: Array, start: Array, heads: int, out: Array, norm: Array,
) -> None:
    """Fill `out` with what every node reads, and `norm` with the log of the sum of its exponentials, head by head.

    Rows of `qkv` have queries, keys and values side by side; graph g has the nodes start[g] .. start[g + 1]. Some
    pieces of work are done, which are all heads of the first graph, then of the next.
    """
    if handed_out(team, first, stop):
        return
    for item in range(first, stop):
        _forward(qkv, start[item // heads], start[item // heads + 1], item % heads, heads, out, norm)


@fast_kernel
def backward(
    team: Team, first: int, stop: int, qkv: Array, start: Array, heads: int, out: Array, norm: Array, grad_out: Array,
    grad: Array,
) -> None:
    """Fill the gradient of queries, keys and values."""
    if handed_out(team, first, stop):
        return
    for item in range(first, stop):
        _backward(qkv, start[item // heads], start[item // heads + 1], item % heads, heads, out, norm, grad_out, grad)


@called
def _forward(qkv: Array, first: int, end: int, head: int, heads: int, out: Array, norm: Array) -> None:
    channels, count, dtype = out.shape[1], end - first, qkv.dtype.type
    width = channels // heads
    wide, long, at = _fill_vectors(width, qkv), _fill_vectors(count, qkv), head * width
    key, value, zero = reserve(wide * long, qkv), reserve(long * wide, qkv), reserve(max(long, wide), qkv)
    query, block = reserve(ROWS * wide, qkv), reserve(ROWS * wide, qkv)
    weight, total = reserve(ROWS * long, qkv), reserve(ROWS, qkv)
    key[:], value[:], query[:], zero[:] = 0, 0, 0, 0  # what fills up vectors stays so
    _copy_turned(qkv, first, count, channels + at, width, key, long)
    _copy(qkv, first, count, 2 * channels + at, width, dtype(1), value, wide)
    for i in range(first, end, ROWS):
        rows = min(ROWS, end - i)
        _copy(qkv, i, rows, at, width, dtype(1 / np.sqrt(width)), query, wide)
        product(query, key, 0, long, zero, 0, 0, weight, rows, wide, long)
        _exponentials(weight, rows, count, long, total, norm, i, head)
        product(weight, value, 0, wide, zero, 0, 0, block, rows, long, wide)
        for row in range(rows):
            for channel in range(width):
                out[i + row, at + channel] = block[row * wide + channel] / total[row]
    release(key, value, zero, query, block, weight, total)


@called
def _backward(
    qkv: Array, first: int, end: int, head: int, heads: int, out: Array, norm: Array, grad_out: Array, grad: Array,
) -> None:
    channels, count, dtype = out.shape[1], end - first, qkv.dtype.type
    width = channels // heads
    wide, long, at = _fill_vectors(width, qkv), _fill_vectors(count, qkv), head * width
    one, scale = dtype(1), dtype(1 / np.sqrt(width))
    key, value, row_key = reserve(wide * long, qkv), reserve(wide * long, qkv), reserve(long * wide, qkv)
    grad_key, grad_value, zero = reserve(long * wide, qkv), reserve(long * wide, qkv), reserve(max(long, wide), qkv)
    query, given, block = reserve(ROWS * wide, qkv), reserve(ROWS * wide, qkv), reserve(ROWS * wide, qkv)
    weight, change = reserve(ROWS * long, qkv), reserve(ROWS * long, qkv)
    key[:], value[:], row_key[:], grad_key[:], grad_value[:], zero[:] = 0, 0, 0, 0, 0, 0
    query[:], given[:] = 0, 0
    _copy_turned(qkv, first, count, channels + at, width, key, long)
    _copy_turned(qkv, first, count, 2 * channels + at, width, value, long)
    _copy(qkv, first, count, channels + at, width, scale, row_key, wide)
    for i in range(first, end, ROWS):
        rows = min(ROWS, end - i)
        _copy(qkv, i, rows, at, width, scale, query, wide)
        _copy(grad_out, i, rows, at, width, one, given, wide)
        product(query, key, 0, long, zero, 0, 0, weight, rows, wide, long)
        product(given, value, 0, long, zero, 0, 0, change, rows, wide, long)
        _differentiate(weight, change, rows, count, long, norm, given, wide, out, i, at, head, width)
        add_outer(weight, given, grad_value, 0, wide, rows, long, wide)
        add_outer(change, query, grad_key, 0, wide, rows, long, wide)
        product(change, row_key, 0, wide, zero, 0, 0, block, rows, long, wide)
        for row in range(rows):
            for channel in range(width):
                grad[i + row, at + channel] = block[row * wide + channel]
    for i in range(count):
        for channel in range(width):
            grad[first + i, channels + at + channel] = grad_key[i * wide + channel]
            grad[first + i, 2 * channels + at + channel] = grad_value[i * wide + channel]
    release(key, value, row_key, grad_key, grad_value, zero, query, given, block, weight, change)


@inlined
def _fill_vectors(count: int, like: Array) -> int:
    """Return the count, rounded up to whole vectors of such numbers."""
    lanes: int = lanes_of(like)
    return (count + lanes - 1) // lanes * lanes


@called
def _copy(x: Array, first: int, count: int, at: int, width: int, scale: Any, out: Array, wide: int) -> None:
    """Copy some columns into rows that are `wide`."""
    rows, lanes, factor = flat(x), lanes_of(x), spread(scale)
    whole = width // lanes * lanes
    for i in range(count):
        here, there = (first + i) * x.shape[1] + at, i * wide
        for j in range(0, whole, lanes):
            store(out, there + j, factor * load(rows, here + j))
        for j in range(whole, width):
            out[there + j] = scale * rows[here + j]


@called
def _copy_turned(x: Array, first: int, count: int, at: int, width: int, out: Array, long: int) -> None:
    """Copy some columns as rows that are `long`."""
    for channel in range(width):
        for i in range(count):
            out[channel * long + i] = x[first + i, at + channel]


@called
def _exponentials(
    score: Array, rows: int, count: int, long: int, total: Array, norm: Array, first: int, head: int,
) -> None:
    """Put the exponentials in the place of the scores, without their sum as divisor; that goes to `total`."""
    lanes, zero = lanes_of(score), score.dtype.type(0)
    for row in range(rows):
        own = score[row * long:(row + 1) * long]
        own[count:] = -np.inf
        best, summed = load(own, 0), zero
        for j in range(lanes, long, lanes):
            best = larger(load(own, j), best)
        top = largest_of(best)
        for j in range(count):
            own[j] = exponential(own[j] - top)
            summed += own[j]
        own[count:] = zero
        total[row] = summed
        norm[first + row, head] = top + np.log(summed)


@called
def _differentiate(
    score: Array, change: Array, rows: int, count: int, long: int, norm: Array, given: Array, wide: int, out: Array,
    first: int, at: int, head: int, width: int,
) -> None:
    """Put the weights in the place of the scores, and the gradient of the scores in that of the gradient of weights."""
    zero = score.dtype.type(0)
    for row in range(rows):
        own, other = score[row * long:(row + 1) * long], change[row * long:(row + 1) * long]
        mean, top = zero, norm[first + row, head]
        for channel in range(width):
            mean += given[row * wide + channel] * out[first + row, at + channel]
        for j in range(count):
            own[j] = exponential(own[j] - top)
            other[j] = own[j] * (other[j] - mean)
        for j in range(count, long):
            own[j], other[j] = zero, zero
