"""Attention among the nodes of every graph of a batch, and its gradient, which recomputes the weights.

A graph and a head are one piece of work. Its keys and values are copied side by side, padded with zeros to whole
vectors; its queries come in blocks of rows, whose scores stay in the cache. So memory grows with the nodes, not with
the pairs of nodes. Of every row the logarithm of the sum of its exponentials is kept for the way back.
"""
# fmt: off

from typing import Any

import numpy as np
from numba import prange

from ghr.jit import called, inlined, parallel
from ghr.ops.kernels.blocks import ROWS, add_outer, product
from ghr.ops.kernels.exponential import exponential
from ghr.ops.kernels.tile import BYTES
from ghr.ops.kernels.types import Array


@parallel
def forward(qkv: Array, start: Array, heads: int, out: Array, norm: Array) -> None:
    """Fill `out` with what every node reads, and `norm` with the log of the sum of its exponentials, head by head.

    Rows of `qkv` have queries, keys and values side by side; graph g has the nodes start[g] .. start[g + 1].
    """
    channels = out.shape[1]
    width, kind = channels // heads, qkv.dtype
    wide = _fill_vectors(width, qkv.itemsize)
    one, scale = kind.type(1), kind.type(1 / np.sqrt(width))
    for item in prange((start.size - 1) * heads):
        graph, at = item // heads, item % heads * width
        first, count = start[graph], start[graph + 1] - start[graph]
        long = _fill_vectors(count, qkv.itemsize)
        key, value = np.zeros((width, long), kind), np.zeros((long, wide), kind)
        query, weight, total = np.zeros((ROWS, width), kind), np.empty((ROWS, long), kind), np.empty(ROWS, kind)
        block, zero = np.empty((ROWS, wide), kind), np.zeros((1, max(long, wide)), kind)
        _copy_turned(qkv, first, count, channels + at, width, key)
        _copy(qkv, first, count, 2 * channels + at, width, one, value)
        for i in range(first, first + count, ROWS):
            rows = min(ROWS, first + count - i)
            _copy(qkv, i, rows, at, width, scale, query)
            product(query, key, 0, long, zero, 0, 0, weight, rows, width, long)
            _exponentials(weight, rows, count, total, norm, i, item % heads)
            product(weight, value, 0, wide, zero, 0, 0, block, rows, long, wide)
            for row in range(rows):
                for channel in range(width):
                    out[i + row, at + channel] = block[row, channel] / total[row]


@parallel
def backward(
    qkv: Array, start: Array, heads: int, out: Array, norm: Array, grad_out: Array, grad: Array,
) -> None:
    """Fill the gradient of queries, keys and values."""
    channels = out.shape[1]
    width, kind = channels // heads, qkv.dtype
    wide = _fill_vectors(width, qkv.itemsize)
    one, scale = kind.type(1), kind.type(1 / np.sqrt(width))
    for item in prange((start.size - 1) * heads):
        graph, at = item // heads, item % heads * width
        first, count = start[graph], start[graph + 1] - start[graph]
        long = _fill_vectors(count, qkv.itemsize)
        key, value, row_key = np.zeros((width, long), kind), np.zeros((width, long), kind), np.zeros((long, wide), kind)
        grad_key, grad_value = np.zeros((long, wide), kind), np.zeros((long, wide), kind)
        query, wide_query = np.zeros((ROWS, width), kind), np.zeros((ROWS, wide), kind)
        given, wide_given = np.zeros((ROWS, width), kind), np.zeros((ROWS, wide), kind)
        weight, change = np.empty((ROWS, long), kind), np.empty((ROWS, long), kind)
        block, zero = np.empty((ROWS, wide), kind), np.zeros((1, max(long, wide)), kind)
        _copy_turned(qkv, first, count, channels + at, width, key)
        _copy_turned(qkv, first, count, 2 * channels + at, width, value)
        _copy(qkv, first, count, channels + at, width, scale, row_key)
        for i in range(first, first + count, ROWS):
            rows = min(ROWS, first + count - i)
            _copy(qkv, i, rows, at, width, scale, query)
            _copy(qkv, i, rows, at, width, scale, wide_query)
            _copy(grad_out, i, rows, at, width, one, given)
            _copy(grad_out, i, rows, at, width, one, wide_given)
            product(query, key, 0, long, zero, 0, 0, weight, rows, width, long)
            product(given, value, 0, long, zero, 0, 0, change, rows, width, long)
            _differentiate(weight, change, rows, count, norm, given, out, i, at, item % heads, width)
            add_outer(weight, wide_given, grad_value, 0, wide, rows, long, wide)
            add_outer(change, wide_query, grad_key, 0, wide, rows, long, wide)
            product(change, row_key, 0, wide, zero, 0, 0, block, rows, long, wide)
            for row in range(rows):
                for channel in range(width):
                    grad[i + row, at + channel] = block[row, channel]
        for i in range(count):
            for channel in range(width):
                grad[first + i, channels + at + channel] = grad_key[i, channel]
                grad[first + i, 2 * channels + at + channel] = grad_value[i, channel]


@inlined
def _fill_vectors(count: int, size: int) -> int:
    """Return the count, rounded up to whole vectors of numbers of this size."""
    lanes = BYTES // size
    return (count + lanes - 1) // lanes * lanes


@called
def _copy(x: Array, first: int, count: int, at: int, width: int, scale: Any, out: Array) -> None:
    for i in range(count):
        for channel in range(width):
            out[i, channel] = scale * x[first + i, at + channel]


@called
def _copy_turned(x: Array, first: int, count: int, at: int, width: int, out: Array) -> None:
    for i in range(count):
        for channel in range(width):
            out[channel, i] = x[first + i, at + channel]


@called
def _exponentials(score: Array, rows: int, count: int, total: Array, norm: Array, first: int, head: int) -> None:
    """Put the exponentials in the place of the scores, without their sum as divisor; that goes to `total`."""
    zero = score.dtype.type(0)
    for row in range(rows):
        top, summed = score[row, 0], zero
        for j in range(count):
            top = max(top, score[row, j])
        for j in range(count):
            score[row, j] = exponential(score[row, j] - top)
            summed += score[row, j]
        for j in range(count, score.shape[1]):
            score[row, j] = zero
        total[row] = summed
        norm[first + row, head] = top + np.log(summed)


@called
def _differentiate(
    score: Array, change: Array, rows: int, count: int, norm: Array, given: Array, out: Array, first: int, at: int,
    head: int, width: int,
) -> None:
    """Put the weights in the place of the scores, and the gradient of the scores in that of the gradient of weights."""
    zero = score.dtype.type(0)
    for row in range(rows):
        mean, top = zero, norm[first + row, head]
        for channel in range(width):
            mean += given[row, channel] * out[first + row, at + channel]
        for j in range(count):
            score[row, j] = exponential(score[row, j] - top)
            change[row, j] = score[row, j] * (change[row, j] - mean)
        for j in range(count, score.shape[1]):
            score[row, j] = zero
            change[row, j] = zero
