"""Sorting edges and members by node, and pooling over the sorted lists; of the latter, a range of rows at a time.

Pooling rounds exactly as written: its gradient finds the members that attain a maximum by computing them again.
"""

import numpy as np

from ghr.jit import compiled, exact, fast_kernel, kernel
from ghr.ops.kernels.arrays import LINE, flat, release, reserve
from ghr.ops.kernels.masks import add_rows
from ghr.ops.kernels.team import Team, handed_out
from ghr.ops.kernels.types import Array
from ghr.ops.kernels.vectors import fetch, lanes_of, larger, load, spread, store, sum_of, where_equal, where_positive

MAX, SUM, MEAN = 0, 1, 2
AHEAD = 16  # members whose rows are on their way while others are computed: they lie scattered, and memory is slow


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


@exact
def _fetch_ahead(x: Array, member: Array, low: int, high: int) -> None:
    """Begin to bring the rows of members that come a while after some."""
    width, step = x.shape[1], LINE // x.itemsize
    for e in range(low + AHEAD, min(high + AHEAD, member.size)):
        for j in range(0, width, step):
            fetch(x, member[e] * width + j)


@exact
def _measure(x: Array, members: Array, eps: float, inverse: Array) -> None:
    """Fill what the norm multiplies some rows by, 1 / sqrt(mean_j x_ij^2 + eps)."""
    width, lanes, zero = x.shape[1], lanes_of(x), x.dtype.type(0)
    whole = width // lanes * lanes
    for i in members:
        squares, square = spread(zero), zero
        for j in range(0, whole, lanes):
            squares = squares + load(x, i * width + j) * load(x, i * width + j)
        for j in range(whole, width):
            square += x[i, j] * x[i, j]
        inverse[i] = 1 / np.sqrt((sum_of(squares) + square) / width + eps)


@kernel
def pool_normalised(
    team: Team, first: int, stop: int, x: Array, weight: Array, eps: float, start: Array, member: Array, reduce: int,
    inverse: Array, out: Array,
) -> None:  # fmt: skip
    """out_c = reduce over the members of x * inverse * weight; `inverse` is filled."""
    if handed_out(team, first, stop):
        return
    width, lanes, zero = x.shape[1], lanes_of(x), x.dtype.type(0)
    whole = width // lanes * lanes
    for c in range(first, stop):
        low, high = start[c], start[c + 1]
        _fetch_ahead(x, member, low, high)
        _measure(x, member[low:high], eps, inverse)
        takers = x.dtype.type(max(high - low, 1) if reduce == MEAN else 1)
        begin = low + 1 if reduce == MAX and low < high else low
        for j in range(0, whole, lanes):
            total, factor = spread(zero), load(weight, j)
            if begin > low:
                total = load(x, member[low] * width + j) * spread(inverse[member[low]]) * factor
            for e in range(begin, high):
                value = load(x, member[e] * width + j) * spread(inverse[member[e]]) * factor
                total = larger(value, total) if reduce == MAX else total + value
            store(out, c * width + j, total / spread(takers))
        for j in range(whole, width):
            out[c, j] = x[member[low], j] * inverse[member[low]] * weight[j] if begin > low else zero
            for e in range(begin, high):
                number = x[member[e], j] * inverse[member[e]] * weight[j]
                if reduce == MAX:
                    out[c, j] = number if number > out[c, j] else out[c, j]
                else:
                    out[c, j] += number
            out[c, j] /= takers


@kernel
def pool_normalised_backward(
    team: Team, first: int, stop: int, x: Array, weight: Array, eps: float, start: Array, member: Array, reduce: int,
    inverse: Array, out: Array, grad_out: Array, grad: Array, grad_weight: Array,
) -> None:  # fmt: skip
    """Gradient of `pool_normalised`; members that attain a maximum together share its gradient in equal parts.

    The clusters are cut into as many chunks as there are sums for the weight, and these are the parts.
    """
    if handed_out(team, first, stop):
        return
    width, clusters, chunks, lanes = x.shape[1], out.shape[0], grad_weight.shape[0], lanes_of(x)
    whole, zero = width // lanes * lanes, x.dtype.type(0)  # a plain 0 would lift the arithmetic to 64 bits
    nothing = spread(zero)
    share, back = reserve(width, x), reserve(width, x)
    for chunk in range(first, stop):
        sums = grad_weight[chunk]
        for c in range(clusters * chunk // chunks, clusters * (chunk + 1) // chunks):
            low, high = start[c], start[c + 1]
            _fetch_ahead(x, member, low, high)
            _measure(x, member[low:high], eps, inverse)
            _share_gradient(c, x, inverse, weight, member[low:high], reduce, out, grad_out, share)
            for e in range(low, high):
                i = member[e]
                near, dots, dot = spread(inverse[i]), nothing, zero
                for j in range(0, whole, lanes):
                    own, given = load(x, i * width + j), load(share, j)
                    if reduce == MAX:
                        given = where_equal(own * near * load(weight, j), load(out, c * width + j), given, nothing)
                    dots = dots + given * load(weight, j) * own
                    store(back, j, given)
                for j in range(whole, width):
                    attains = reduce != MAX or x[i, j] * inverse[i] * weight[j] == out[c, j]
                    back[j] = share[j] if attains else zero
                    dot += back[j] * weight[j] * x[i, j]
                pull = inverse[i] * inverse[i] * inverse[i] * (sum_of(dots) + dot) / x.dtype.type(width)
                for j in range(0, whole, lanes):
                    own, given = load(x, i * width + j), load(back, j)
                    store(sums, j, load(sums, j) + given * own * near)
                    store(grad, i * width + j, near * load(weight, j) * given - spread(pull) * own)
                for j in range(whole, width):
                    sums[j] += back[j] * x[i, j] * inverse[i]
                    grad[i, j] = inverse[i] * weight[j] * back[j] - pull * x[i, j]
    release(share, back)


@exact
def _share_gradient(
    c: int, x: Array, inverse: Array, weight: Array, members: Array, reduce: int, out: Array, grad_out: Array,
    share: Array,
) -> None:  # fmt: skip
    """Fill what every member of a cluster gets of its gradient, where it gets any."""
    width, lanes, zero, one = x.shape[1], lanes_of(x), x.dtype.type(0), x.dtype.type(1)
    whole, nothing, single = width // lanes * lanes, spread(zero), spread(one)
    all_take = x.dtype.type(max(members.size, 1) if reduce == MEAN else 1)
    for j in range(0, whole, lanes):
        takers, top, factor = spread(all_take), load(out, c * width + j), load(weight, j)
        if reduce == MAX:
            takers = nothing
            for i in members:
                value = load(x, i * width + j) * spread(inverse[i]) * factor
                takers = takers + where_equal(value, top, single, nothing)
        given = load(grad_out, c * width + j)
        store(share, j, where_positive(takers, given / takers, nothing))
    for j in range(whole, width):
        count = all_take
        if reduce == MAX:
            count = zero
            for i in members:
                count += one if x[i, j] * inverse[i] * weight[j] == out[c, j] else zero
        share[j] = grad_out[c, j] / count if count > zero else zero


@fast_kernel
def segment_sum(team: Team, first: int, stop: int, x: Array, start: Array, member: Array, out: Array) -> None:
    """out_c = the sum of the members' rows."""
    if handed_out(team, first, stop):
        return
    width, rows, into = x.shape[1], flat(x), flat(out)
    for c in range(first, stop):
        _fetch_ahead(x, member, start[c], start[c + 1])
        into[c * width : (c + 1) * width] = 0
        add_rows(rows, member, start[c], start[c + 1], into, c * width, width)


@fast_kernel
def add_unpooled(team: Team, first: int, stop: int, base: Array, x: Array, assignment: Array, out: Array) -> None:
    """out_i = base_i + x of the cluster of i."""
    if handed_out(team, first, stop):
        return
    for i in range(first, stop):
        c = assignment[i]
        for j in range(base.shape[1]):
            out[i, j] = base[i, j] + x[c, j]
