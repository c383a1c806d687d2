"""Fused updates of a level with GINE or GatedGINE, and their gradient, which recomputes instead of remembering.

With rows of the state :math:`x`, one update is

    z_i = RMSNorm(x_i) + injection_i + above_c(i),   m_i = scale z_i + sum_j relu(z_j + e_ji),   x_i += U(m_i)

where U is SwiGLU or a two-layer MLP, and c(i) the cluster of i; without clusters all add the first row above. Where
edges differ, the way back keeps a mask of where messages were positive; where they all share one feature that depends
on the sender alone.

Nodes are cut into parts. Where no edge leads from part to part, as between the graphs of a batch, a part runs all its
updates by itself, its numbers staying close to the core; else all parts finish a phase of an update before the next
begins. Matrices come as vectors, row behind row, so that everything is compiled for one kind of array.
"""
# fmt: off

from typing import Any

import numpy as np

from ghr.jit import called, fast_kernel, inlined, pasted
from ghr.ops.kernels.arrays import flat, release, reserve
from ghr.ops.kernels.blocks import ROWS, add_outer, product
from ghr.ops.kernels.logistic import logistic
from ghr.ops.kernels.masks import add_relu, add_relu_masked, add_rows, add_where
from ghr.ops.kernels.team import Team, handed_out
from ghr.ops.kernels.types import Array
from ghr.ops.kernels.vectors import lanes_of, load, spread, store, sum_of, where_bits, where_positive

NORMALISE, NODES, EDGES, FEATURES = 1, 2, 4, 8  # phases of an update; its way forward has the first two
ALL = 15


@fast_kernel
def forward(
    team: Team, first: int, stop: int,
    phases: int, begin: int, end: int, parts: Array, state: Array, between: Array, last: Array,
    weight: Array, eps: float, injection: Array, above: Array, clusters: Array, inverse: Array, z: Array, edges: Array,
    start: Array, source: Array, scale: Any, up: Array, up_bias: Array, down: Array, down_bias: Array, gated: bool,
) -> None:
    """Let some parts run phases of the updates from `begin` to `end`.

    The states after every update but the last go into `between`. Where that is empty, all updates are made in the place
    of the last, which may be that of the first: other nodes are read as z alone.
    """
    if handed_out(team, first, stop):
        return
    for part in range(first, stop):
        for update in range(begin, end):
            x, out = _before(update, state, between, last), _after(update, between, last)
            if phases & NORMALISE:
                _normalise(parts[part], parts[part + 1], x, weight, eps, injection, above, clusters, inverse, z)
            if phases & NODES:
                _forward(parts[part], parts[part + 1], x, z, edges, start, source, scale, up, up_bias, down, down_bias,
                         gated, out)


@fast_kernel
def backward(
    team: Team, first: int, stop: int,
    phases: int, begin: int, end: int, parts: Array, updates: int, state: Array, between: Array,
    weight: Array, eps: float, injection: Array, above: Array, clusters: Array, inverse: Array, z: Array, edges: Array,
    start: Array, source: Array,
    out_start: Array, out_target: Array, out_edge: Array, scale: Any,
    up: Array, up_bias: Array, up_back: Array, down_back: Array, zeros: Array, gated: bool, shared: bool,
    masks: Array, grad_m: Array, grad: Array, grad_injection: Array, grad_edges: Array, sums: Array,
) -> None:
    """Let some parts carry the gradient back over the updates before `end` to `begin`.

    Every part has `sums` of the gradients of an edge that all share, the norm, the scale, the first map, its bias, the
    second map and its bias, one behind the other. `masks` and `grad_m` hold what the gradients of edges that differ
    need of so many updates at a time.
    """
    if handed_out(team, first, stop):
        return
    group, width, wide, half = grad_m.shape[0], weight.size, up_bias.size, down_back.size // weight.size
    to_up = 2 * width + 1
    to_down = to_up + (width + 1) * wide
    for part in range(first, stop):
        own = sums[part]
        shared_edge, grad_norm, grad_scale = own[:width], own[width:2 * width], own[2 * width:to_up]
        grad_up, grad_up_bias = own[to_up:to_up + width * wide], own[to_up + width * wide:to_down]
        grad_down, grad_down_bias = own[to_down:to_down + half * width], own[to_down + half * width:]
        for update in range(end - 1, begin - 1, -1):
            x, slot = _before(update, state, between, state), update % group
            if phases & NORMALISE:
                _normalise(parts[part], parts[part + 1], x, weight, eps, injection, above, clusters, inverse, z)
            if phases & NODES:
                _backward_nodes(parts[part], parts[part + 1], weight.size, shared, z, edges, start, source, scale, up,
                                up_bias, up_back, down_back, zeros, gated, grad, masks[slot], grad_m[slot],
                                grad_up, grad_up_bias, grad_down, grad_down_bias, grad_scale)
            if phases & EDGES:
                _backward_edges(parts[part], parts[part + 1], shared, x, weight, inverse, z, edges, out_start,
                                out_target, out_edge, scale, masks[slot], grad_m[slot], grad, grad_injection,
                                shared_edge, grad_norm, update == updates - 1)
            if phases & FEATURES and not shared and slot == 0:
                _edge_gradients(parts[part], parts[part + 1], weight.size, start, masks, grad_m,
                                min(group, updates - update), grad_edges, update + group >= updates)


@pasted
def _before(update: int, state: Array, between: Array, last: Array) -> Array:
    if update == 0:
        return state
    return between[update - 1] if between.shape[0] > 0 else last


@pasted
def _after(update: int, between: Array, last: Array) -> Array:
    return between[update] if update < between.shape[0] else last


@inlined
def _rows_of(width: int) -> int:
    """Return how many rows a block has: where they are short more, since every block reads all weights again."""
    return 3 * ROWS if width <= 64 else ROWS


@pasted
def _row(x: Array, i: int, width: int) -> Array:
    """Return a row of a matrix that is a vector; of a place that is a sum nobody knows that it is not negative."""
    return x[i * width:(i + 1) * width]


@called
def _normalise(
    begin: int, end: int, x: Array, weight: Array, eps: float, injection: Array, above: Array, clusters: Array,
    inverse: Array, z: Array,
) -> None:
    """Fill z = RMSNorm(x) + injection + above, and by what the norm multiplies every node."""
    width, lanes = weight.size, lanes_of(x)
    whole, nothing = width // lanes * lanes, spread(x.dtype.type(0))
    for i in range(begin, end):
        here, squares, square = i * width, nothing, x.dtype.type(0)
        for j in range(0, whole, lanes):
            squares = squares + load(x, here + j) * load(x, here + j)
        for j in range(whole, width):
            square += x[here + j] * x[here + j]
        inverse[i] = 1 / np.sqrt((sum_of(squares) + square) / width + eps)  # in 64 bits: infinity must come through
    for i in range(begin, end):
        here, near, there = i * width, spread(inverse[i]), clusters[i] * width if clusters.size > 0 else 0
        for j in range(0, whole, lanes):
            added = load(injection, here + j) + load(above, there + j)
            store(z, here + j, load(x, here + j) * near * load(weight, j) + added)
        for j in range(whole, width):
            z[here + j] = x[here + j] * inverse[i] * weight[j] + (injection[here + j] + above[there + j])


@called
def _combine(
    first: int, count: int, width: int, z: Array, edges: Array, edge_row: int, start: Array, source: Array, scale: Any,
    m: Array,
) -> None:
    """Fill m for a block of nodes; rows of edges are `edge_row` apart."""
    own = z[first * width:(first + count) * width]
    for j in range(count * width):
        m[j] = scale * own[j]
    for i in range(count):
        add_relu(z, source, start[first + i], start[first + i + 1], edges, edge_row, m, i * width, width)


@called
def _forward(
    begin: int, end: int, x: Array, z: Array, edges: Array, start: Array, source: Array, scale: Any,
    up: Array, up_bias: Array, down: Array, down_bias: Array, gated: bool, out: Array,
) -> None:
    width, wide, zero = down_bias.size, up_bias.size, x.dtype.type(0)
    half, rows = down.size // width, _rows_of(width)
    top: Any = np.int64(0)
    edge_row = top if edges.size == width else width
    m, o = reserve(rows * width, x), reserve(rows * width, x)
    u, s = reserve(rows * wide, x), reserve(rows * half, x)
    for first in range(begin, end, rows):
        count, here = min(rows, end - first), first * width
        _combine(first, count, width, z, edges, edge_row, start, source, scale, m)
        product(m, up, top, wide, up_bias, top, top, u, count, width, wide)
        if gated:
            for i in range(count):
                gate, content, into = _row(u, 2 * i, half), _row(u, 2 * i + 1, half), _row(s, i, half)
                for j in range(half):
                    into[j] = content[j] * gate[j] * logistic(gate[j])
        else:
            for j in range(count * half):
                s[j] = max(u[j], zero)
        product(s, down, top, width, down_bias, top, top, o, count, half, width)
        before, after = x[here:here + count * width], out[here:here + count * width]
        for j in range(count * width):
            after[j] = before[j] + o[j]
    release(m, o, u, s)


@called
def _backward_nodes(
    begin: int, end: int, width: int, shared: bool, z: Array, edges: Array, start: Array, source: Array, scale: Any,
    up: Array, up_bias: Array, up_back: Array, down_back: Array, zeros: Array, gated: bool, grad: Array, mask: Array,
    grad_m: Array,
    grad_up: Array, grad_up_bias: Array, grad_down: Array, grad_down_bias: Array, grad_scale: Array,
) -> None:
    """Carry the gradient of the state back to m, which is computed again, and add up that of the weights."""
    wide, half, rows = up_bias.size, down_back.size // width, _rows_of(width)
    top: Any = np.int64(0)
    zero, one = z.dtype.type(0), z.dtype.type(1)  # a plain 0 or 1 would lift the arithmetic to 64 bits
    m, dm = reserve(rows * width, z), reserve(rows * width, z)
    u, back = reserve(rows * wide, z), reserve(rows * width, z)
    s, ds = reserve(rows * half, z), reserve(rows * half, z)
    for first in range(begin, end, rows):
        count, here = min(rows, end - first), first * width
        own, given = z[here:here + count * width], grad[here:here + count * width]
        if shared:
            _combine(first, count, width, z, edges, top, start, source, scale, m)
        else:
            for j in range(count * width):
                m[j] = scale * own[j]
            for i in range(count):
                add_relu_masked(z, source, start[first + i], start[first + i + 1], edges, m, i * width, width, mask)
        for j in range(count * width):
            back[j] = given[j]
        product(back, down_back, top, half, zeros, top, top, ds, count, width, half)
        product(m, up, top, wide, up_bias, top, top, u, count, width, wide)
        if gated:  # u becomes its own gradient
            for i in range(count):
                gate, content = _row(u, 2 * i, half), _row(u, 2 * i + 1, half)
                inner, outer = _row(s, i, half), _row(ds, i, half)
                for j in range(half):
                    open_, found = logistic(gate[j]), content[j]
                    swish = gate[j] * open_
                    inner[j] = swish * found
                    content[j] = outer[j] * swish
                    gate[j] = outer[j] * found * (open_ + swish * (one - open_))
        else:
            for j in range(count * half):
                s[j] = max(u[j], zero)
                u[j] = ds[j] if u[j] > zero else zero
            for i in range(count):
                inner, outer = _row(u, i, half), _row(back, i, width)
                for j in range(half):
                    grad_up_bias[j] += inner[j]
                for j in range(width):
                    grad_down_bias[j] += outer[j]
        add_outer(m, u, grad_up, top, wide, count, width, wide)
        add_outer(s, back, grad_down, top, width, count, half, width)
        product(u, up_back, top, width, zeros, top, top, dm, count, wide, width)
        into, dot = grad_m[here:here + count * width], zero
        for j in range(count * width):
            into[j] = dm[j]
            dot += dm[j] * own[j]
        grad_scale[0] += dot
    release(m, dm, u, back, s, ds)


@called
def _backward_edges(
    begin: int, end: int, shared: bool, x: Array, weight: Array, inverse: Array, z: Array, edges: Array,
    out_start: Array, out_target: Array, out_edge: Array, scale: Any, mask: Array, grad_m: Array,
    grad: Array, grad_injection: Array, grad_edge: Array, grad_weight: Array, fresh: bool,
) -> None:
    """Carry the gradient of m over the edges and through the norm, and add it to what came before."""
    width, zero, lanes = weight.size, x.dtype.type(0), lanes_of(x)
    whole, nothing = width // lanes * lanes, spread(zero)
    total, pull = reserve(ROWS * width, x), reserve(ROWS, x)
    for first in range(begin, end, ROWS):
        count, here = min(ROWS, end - first), first * width
        mine = grad_m[here:here + count * width]
        if shared:
            for j in range(count * width):
                total[j] = zero
            for i in range(count):
                add_rows(grad_m, out_target, out_start[first + i], out_start[first + i + 1], total, i * width, width)
            _mask_rows(count, width, total, z[here:here + count * width], edges, grad_edge)
            for j in range(count * width):
                total[j] += scale * mine[j]
        else:
            for j in range(count * width):
                total[j] = scale * mine[j]
            for i in range(count):
                add_where(mask, out_edge, grad_m, out_target, out_start[first + i], out_start[first + i + 1],
                          total, i * width, width)
        given = grad_injection[here:here + count * width]
        if fresh:
            for j in range(count * width):
                given[j] = total[j]
        else:
            for j in range(count * width):
                given[j] += total[j]
        for i in range(count):
            at, dots, dot = here + i * width, nothing, zero
            for j in range(0, whole, lanes):
                dots = dots + load(total, i * width + j) * load(weight, j) * load(x, at + j)
            for j in range(whole, width):
                dot += total[i * width + j] * weight[j] * x[at + j]
            near = inverse[first + i]
            pull[i] = near * near * near * (sum_of(dots) + dot) / x.dtype.type(width)
        for j in range(0, whole, lanes):
            factor, sums = load(weight, j), load(grad_weight, j)
            for i in range(count):
                at, value, near = here + i * width + j, load(total, i * width + j), spread(inverse[first + i])
                sums = sums + value * load(x, at) * near
                store(grad, at, load(grad, at) + near * factor * value - spread(pull[i]) * load(x, at))
            store(grad_weight, j, sums)
        for j in range(whole, width):
            for i in range(count):
                at, number, slope = here + i * width + j, total[i * width + j], inverse[first + i]
                grad_weight[j] += number * x[at] * slope
                grad[at] += slope * weight[j] * number - pull[i] * x[at]
    release(total, pull)


@inlined
def _mask_rows(count: int, width: int, total: Array, z: Array, edge: Array, sums: Array) -> None:
    """Keep of the rows of `total` what the ReLU let through, and add it up."""
    lanes, zero = lanes_of(z), z.dtype.type(0)
    whole, nothing = width // lanes * lanes, spread(zero)
    for j in range(0, whole, lanes):
        shift, found = load(edge, j), load(sums, j)
        for i in range(count):
            at = i * width + j
            value = where_positive(load(z, at) + shift, load(total, at), nothing)
            store(total, at, value)
            found = found + value
        store(sums, j, found)
    for j in range(whole, width):
        for i in range(count):
            at = i * width + j
            total[at] = total[at] if z[at] + edge[j] > zero else zero
            sums[j] += total[at]


@called
def _edge_gradients(
    begin: int, end: int, width: int, start: Array, masks: Array, grad_m: Array, updates: int, grad_edges: Array,
    fresh: bool,
) -> None:
    """Add up, over some updates, the gradients of the edges that arrive at some nodes."""
    lanes = lanes_of(grad_edges)
    row, size, whole = masks.shape[1] * width // max(grad_edges.size, 1), grad_m.shape[1], width // lanes * lanes
    flags, nothing, zero = flat(masks), spread(grad_edges.dtype.type(0)), grad_edges.dtype.type(0)
    for i in range(begin, end):
        for e in range(start[i], start[i + 1]):
            for j in range(0, whole, lanes):
                total = nothing if fresh else load(grad_edges, e * width + j)
                for update in range(updates):
                    bits = flags[update * masks.shape[1] + e * row + j // lanes]
                    total = total + where_bits(bits, load(grad_m, update * size + i * width + j))
                store(grad_edges, e * width + j, total)
            for j in range(whole, width):
                number = zero if fresh else grad_edges[e * width + j]
                for update in range(updates):
                    if masks[update, e * row + whole // lanes + j - whole]:
                        number += grad_m[update, i * width + j]
                grad_edges[e * width + j] = number
