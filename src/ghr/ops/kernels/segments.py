"""Sorting edges and members by node, and pooling over the sorted lists; of the latter, a range of rows at a time.

Pooling rounds exactly as written: its gradient finds the members that attain a maximum by computing them again.
"""

from typing import Any

import numpy as np

from ghr.jit import compiled, fast, inlined
from ghr.ops.kernels.types import Array

MAX, SUM, MEAN = 0, 1, 2


@compiled
def sort_by(key: Array, size: int) -> tuple[Array, Array]:
    """Return where each key's entries start, and the entries in the order of their keys (stable, linear time)."""
    start = np.zeros(size + 1, np.int64)
    for value in key:
        start[value + 1] += 1
    for value in range(size):
        start[value + 1] += start[value]
    cursor = start[:-1].copy()
    order = np.empty(key.size, np.int64)
    for entry in range(key.size):
        order[cursor[key[entry]]] = entry
        cursor[key[entry]] += 1
    return start, order


@compiled
def separate_parts(start: Array, source: Array, least: int) -> Array:
    """Return where to cut the nodes into parts of at least so many, but across no edge; the end is the last cut."""
    size = start.size - 1
    across = np.zeros(size + 1, np.int64)  # edges that begin to lead across the nodes at a place, less those that end
    for i in range(size):
        for e in range(start[i], start[i + 1]):
            across[min(i, source[e])] += 1
            across[max(i, source[e])] -= 1
    cuts = np.empty(size // least + 2, np.int64)
    cuts[0] = 0
    count, open_edges = 1, 0
    for i in range(size):
        open_edges += across[i]
        if open_edges == 0 and i + 1 - cuts[count - 1] >= least and size - i > least:
            cuts[count] = i + 1
            count += 1
    cuts[count] = size
    return cuts[: count + 1]


@fast
def inverse_norms(first: int, last: int, x: Array, eps: float, out: Array) -> None:
    """out_i = 1 / sqrt(mean_j x_ij^2 + eps)."""
    width = x.shape[1]
    for i in range(first, last):
        square = x.dtype.type(0)
        for j in range(width):
            square += x[i, j] * x[i, j]
        out[i] = 1 / np.sqrt(square / width + eps)


@compiled
def pool_normalised(
    first: int, last: int, x: Array, inverse: Array, weight: Array, start: Array, member: Array, reduce: int, out: Array
) -> None:
    """out_c = reduce over the members of x * inverse * weight."""
    width = x.shape[1]
    for c in range(first, last):
        for j in range(width):
            out[c, j] = x.dtype.type(0)
        for e in range(start[c], start[c + 1]):
            i = member[e]
            if reduce == MAX and e == start[c]:
                for j in range(width):
                    out[c, j] = x[i, j] * inverse[i] * weight[j]
            elif reduce == MAX:
                for j in range(width):
                    value = x[i, j] * inverse[i] * weight[j]
                    out[c, j] = value if value > out[c, j] else out[c, j]
            else:
                for j in range(width):
                    out[c, j] += x[i, j] * inverse[i] * weight[j]
        count = start[c + 1] - start[c]
        if reduce == MEAN and count > 0:
            for j in range(width):
                out[c, j] /= count


@compiled
def pool_normalised_backward(
    first: int, last: int, x: Array, inverse: Array, weight: Array, start: Array, member: Array, reduce: int,
    out: Array, grad_out: Array, grad: Array, grad_weight: Array,
) -> None:  # fmt: skip
    """Gradient of `pool_normalised`; members that attain a maximum together share its gradient in equal parts.

    The clusters are cut into as many chunks as there are sums for the weight; the range is one of chunks.
    """
    width, clusters, chunks = x.shape[1], out.shape[0], grad_weight.shape[0]
    zero, one = x.dtype.type(0), x.dtype.type(1)  # a plain 0 or 1 would lift the arithmetic to 64 bits
    for chunk in range(first, last):
        share, back = np.empty(width, x.dtype), np.empty(width, x.dtype)
        for c in range(clusters * chunk // chunks, clusters * (chunk + 1) // chunks):
            count = start[c + 1] - start[c]
            takers = x.dtype.type(max(count, 1) if reduce == MEAN else 1)
            for j in range(width):
                share[j] = zero if reduce == MAX else takers
            if reduce == MAX:
                for e in range(start[c], start[c + 1]):
                    i = member[e]
                    for j in range(width):
                        share[j] += one if x[i, j] * inverse[i] * weight[j] == out[c, j] else zero
            for j in range(width):
                share[j] = grad_out[c, j] / share[j] if share[j] > zero else zero
            for e in range(start[c], start[c + 1]):
                i = member[e]
                for j in range(width):
                    back[j] = share[j]
                if reduce == MAX:
                    for j in range(width):
                        back[j] = share[j] if x[i, j] * inverse[i] * weight[j] == out[c, j] else zero
                dot = _dot(back, weight, x, i, width)
                pull = inverse[i] * inverse[i] * inverse[i] * dot / x.dtype.type(width)
                for j in range(width):
                    grad_weight[chunk, j] += back[j] * x[i, j] * inverse[i]
                    grad[i, j] = inverse[i] * weight[j] * back[j] - pull * x[i, j]


@inlined
def _dot(back: Array, weight: Array, x: Array, i: int, width: int) -> Any:
    total = x.dtype.type(0)
    for j in range(width):
        total += back[j] * weight[j] * x[i, j]
    return total


@fast
def segment_sum(first: int, last: int, x: Array, start: Array, member: Array, out: Array) -> None:
    """out_c = the sum of the members' rows."""
    width = x.shape[1]
    for c in range(first, last):
        for j in range(width):
            out[c, j] = x.dtype.type(0)
        for e in range(start[c], start[c + 1]):
            for j in range(width):
                out[c, j] += x[member[e], j]


@fast
def add_unpooled(first: int, last: int, base: Array, x: Array, assignment: Array, out: Array) -> None:
    """out_i = base_i + x of the cluster of i."""
    for i in range(first, last):
        c = assignment[i]
        for j in range(base.shape[1]):
            out[i, j] = base[i, j] + x[c, j]
