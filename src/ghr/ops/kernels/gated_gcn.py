"""Fused updates of a level with GatedGCN, and their gradient, which recomputes edge states, gates and norms.

With rows of nodes :math:`x` and of edges :math:`e` from :math:`j` to :math:`i`, one update is

    z = RMSNorm(x) + injection,   r_e = D z_i + E z_j + C e_e,   g_e = logistic(r_e),
    x_i += relu(RMSNorm_x(A z_i + sum_e g_e B z_j / (sum_e g_e + OPEN))),   e_e = relu(RMSNorm_e(r_e)) + initial_e

Nodes are cut into parts, as in `gine`. Edges lie as they arrive at the nodes; only those that come in and go out have
rows as `order` tells. A block of edges at a time is computed just before its nodes need it, so that neither new edge
states nor their gradients are ever written down. Rows are whole vectors wide, as in `rows`.
"""
# fmt: off

from typing import Any

import numpy as np

from ghr.jit import called, inlined, kernel
from ghr.ops.kernels.arrays import release, reserve
from ghr.ops.kernels.blocks import add_outer_tiles, product_tiles
from ghr.ops.kernels.rows import backward_norm, inverse_norm, state_before
from ghr.ops.kernels.team import Team, handed_out
from ghr.ops.kernels.tile import TALL
from ghr.ops.kernels.types import Array
from ghr.ops.kernels.vectors import exp, lanes_of, larger, load, spread, store, sum_of, where_equal, where_positive
from ghr.ops.kernels.weighted import ALL, EDGES, NODES, NORMALISE

FIRST = 4  # the stage after all updates: what reaches the edges that came in
OPEN = 1e-6  # added to the sum of a node's gates
# Rows of sums over nodes: three biases, two norms, the third bias at the first update, initial edges alike, the norm.
PASSING, OWN, RAW, OUT_NORM, EDGE_NORM, FIRST_RAW, INITIAL, NORM = range(8)
ROWS = 128  # nodes or edges of a block: so many that weights, and sums of their gradients, are read from afar seldom


@kernel
def forward(
    team: Team, first: int, stop: int, stage: int, parts: Array, begin: int, end: int, updates: int, alike: bool,
    state: Array, between: Array, last: Array, norm: Array, eps: float, width: int, injection: Array,
    edges: Array, initial: Array, start: Array, source: Array, order: Array, maps: Array, biases: Array,
    edge_map: Array, out_norm: Array, out_eps: float, edge_norm: Array, edge_eps: float, zeros: Array,
    asking: Array, sending: Array, passing: Array, totals: Array, raw: Array, edge_out: Array,
) -> None:
    """Let some parts run stages of the updates from `begin` to `end`.

    `maps` are B, A, D and E, transposed. Of `biases` the second row is for a first update whose edges are all `alike`:
    then it has what these add.
    """
    if handed_out(team, first, stop):
        return
    kept = raw.shape[0]
    for part in range(first, stop):
        low, high = parts[part], parts[part + 1]
        for update in range(begin, end):
            x = state_before(update, state, between)
            out = last if update == updates - 1 else between[update % between.shape[0]]
            at, known = update % kept, alike and update == 0
            if stage in (ALL, NORMALISE):
                _map(low, high, x, norm, eps, width, injection, maps, biases[1 if known else 0], passing[at],
                     totals[at], asking, sending)
            if stage in (ALL, NODES):
                _forward(low, high, update == 0, known, update == updates - 1, x, width, edges, initial, start, source,
                         order, edge_map, out_norm, out_eps, edge_norm, edge_eps, zeros, asking, sending, passing[at],
                         totals[at], raw[(update - 1) % kept], raw[at], edge_out, out)


@kernel
def backward(
    team: Team, first: int, stop: int,
    stage: int, groups: int, parts: Array, begin: int, end: int, updates: int, alike: bool,
    state: Array, between: Array, norm: Array, eps: float, width: int, injection: Array,
    edges: Array, initial: Array, start: Array, source: Array, order: Array, out_start: Array, out_target: Array,
    out_edge: Array, maps: Array, edge_map: Array, out_norm: Array, out_eps: float, edge_norm: Array, edge_eps: float,
    zeros: Array, passing: Array, totals: Array, raw: Array, gates: Array, pull: Array, grad_raw: Array,
    grad_products: Array, grad_edge_out: Array, grad: Array, grad_injection: Array, grad_edges: Array,
    grad_initial: Array, grad_weights: Array,
) -> None:
    """Carry the gradient of some groups of parts back over stages of updates; those of weights are sums per group.

    `maps` and `edge_map` come as PyTorch keeps them, and so do their gradients, one behind the other and before the
    sums over nodes. The gradients of products lie side by side, node by node.
    """
    if handed_out(team, first, stop):
        return
    count, wide = parts.size - 1, norm.size
    for group in range(first, stop):
        grad_maps = grad_weights[group, :4 * wide * wide]
        grad_edge_map = grad_weights[group, 4 * wide * wide:5 * wide * wide]
        sums = grad_weights[group, 5 * wide * wide:]
        for part in range(count * group // groups, count * (group + 1) // groups):
            low, high = parts[part], parts[part + 1]
            for update in range(end - 1, begin - 1, -1):
                if stage in (ALL, NODES):
                    _backward_nodes(low, high, update == 0, update == updates - 1, width, initial, start, source, order,
                                    edge_map, out_norm, out_eps, edge_norm, edge_eps, zeros, passing[update],
                                    totals[update], raw[update], gates, pull, grad_raw, grad_products, grad_edge_out,
                                    grad, grad_initial, grad_edge_map, sums)
                if stage in (ALL, EDGES):
                    _backward_sources(low, high, update == updates - 1, state_before(update, state, between), norm, eps,
                                      width, injection, out_start, out_target, out_edge, maps, zeros, gates, pull,
                                      grad_raw, grad_products, grad, grad_injection, sums[NORM * wide:], grad_maps)
            if stage in (ALL, FIRST) and begin == 0 and not alike:
                _backward_first(start[low], start[high], wide, edges, order, edge_map, zeros, grad_raw, grad_edges,
                                grad_edge_map)


@called
def _product(
    block: Array, count: int, wide: int, maps: Array, map_at: int, bias: Array, bias_at: int, found: Array,
) -> None:
    """Map the rows of a block; rows that are whole vectors wide need none of what `product` does beyond."""
    top: Any = np.int64(0)
    product_tiles(block, maps, map_at, wide, bias, bias_at, top, found, count, wide, wide)


@inlined
def _logistic(x: Any, one: Any, nothing: Any) -> Any:
    """Return 1 / (1 + exp(-x)); what is not a number comes through."""
    return where_equal(x, x, one / (one + exp(nothing - x)), x)


@inlined
def _add(x: Array, at: int, value: Any) -> None:
    store(x, at, load(x, at) + value)


@inlined
def _copy(x: Array, at: int, into: Array, into_at: int, size: int) -> None:
    for j in range(0, size, lanes_of(x)):
        store(into, into_at + j, load(x, at + j))


@called
def _normalise(
    first: int, count: int, x: Array, weight: Array, eps: float, width: int, injection: Array, block: Array,
) -> None:
    """Fill a block with z = RMSNorm(x) + injection."""
    wide, lanes = x.shape[1], lanes_of(x)
    for i in range(count):
        here = (first + i) * wide
        inverse = spread(inverse_norm(x, here, wide, width, eps))
        for j in range(0, wide, lanes):
            store(block, i * wide + j, load(x, here + j) * inverse * load(weight, j) + load(injection, here + j))


@called
def _map(
    low: int, high: int, x: Array, norm: Array, eps: float, width: int, injection: Array, maps: Array, bias: Array,
    passing: Array, total: Array, asking: Array, sending: Array,
) -> None:
    """Fill the four products of some nodes."""
    wide = x.shape[1]
    top: Any = np.int64(0)
    z, spare = reserve(ROWS * wide, x), reserve(ROWS * wide, x)
    for first in range(low, high, ROWS):
        count = min(ROWS, high - first)
        whole = count % TALL == 0  # else a product fills rows behind these, which are another part's
        _normalise(first, count, x, norm, eps, width, injection, z)
        for which in range(4):
            into = passing if which == 0 else total if which == 1 else asking if which == 2 else sending
            target = into[first * wide:] if whole else spare
            _product(z, count, wide, maps, which * wide * wide, bias, which * wide, target)
            if not whole:
                _copy(spare, top, into, first * wide, count * wide)
    release(z, spare)


@called
def _edge_states(
    first: int, count: int, width: int, raw: Array, weight: Array, eps: float, order: Array, initial: Array,
    inverses: Array, block: Array,
) -> None:
    """Fill a block with relu(RMSNorm(raw)) + initial of some edges."""
    wide, lanes, nothing = weight.size, lanes_of(raw), spread(raw.dtype.type(0))
    for e in range(count):
        here, again = (first + e) * wide, 0 if initial.shape[0] == 1 else order[first + e] * wide
        inverses[e] = inverse_norm(raw, here, wide, width, eps)
        inverse = spread(inverses[e])
        for j in range(0, wide, lanes):
            value = load(raw, here + j) * inverse * load(weight, j)
            store(block, e * wide + j, larger(nothing, value) + load(initial, again + j))


@called
def _forward(
    low: int, high: int, first: bool, known: bool, last: bool, x: Array, width: int, edges: Array, initial: Array,
    start: Array, source: Array, order: Array, edge_map: Array, out_norm: Array, out_eps: float, edge_norm: Array,
    edge_eps: float, zeros: Array, asking: Array, sending: Array, passing: Array, total: Array, before: Array,
    raw: Array, edge_out: Array, out: Array,
) -> None:
    wide, lanes, dtype = x.shape[1], lanes_of(x), x.dtype.type
    nothing, one, least = spread(dtype(0)), spread(dtype(1)), spread(dtype(OPEN))
    top: Any = np.int64(0)
    opened, passed = reserve(wide, x), reserve(wide, x)
    block, inverses = reserve(ROWS * wide, x), reserve(ROWS, x)
    found = reserve(ROWS * wide, x)
    found[:] = 0
    filled = block_at = start[low]
    for i in range(low, high):
        at = i * wide
        for j in range(0, wide, lanes):
            store(opened, j, nothing)
            store(passed, j, nothing)
        for e in range(start[i], start[i + 1]):
            if e == filled:
                block_at, filled = e, min(e + ROWS, start[high])
                if not known:
                    if first:
                        for k in range(e, filled):
                            _copy(edges, order[k] * wide, block, (k - e) * wide, wide)
                    else:
                        _edge_states(e, filled - e, width, before, edge_norm, edge_eps, order, initial, inverses, block)
                    _product(block, filled - e, wide, edge_map, top, zeros, top, found)
            near, row, here = source[e] * wide, e * wide, (e - block_at) * wide
            for j in range(0, wide, lanes):
                value = load(found, here + j) + load(asking, at + j) + load(sending, near + j)
                store(raw, row + j, value)
                gate = _logistic(value, one, nothing)
                _add(opened, j, gate)
                _add(passed, j, gate * load(passing, near + j))
            if last:
                inverse, again = spread(inverse_norm(raw, row, wide, width, edge_eps)), order[e] * wide
                start_at = top if initial.shape[0] == 1 else again
                for j in range(0, wide, lanes):
                    value = load(raw, row + j) * inverse * load(edge_norm, j)
                    store(edge_out, again + j, larger(nothing, value) + load(initial, start_at + j))
        square = nothing
        for j in range(0, wide, lanes):
            value = load(total, at + j) + load(passed, j) / (load(opened, j) + least)
            square = square + value * value
            store(total, at + j, value)
        inverse = spread(dtype(1 / np.sqrt(sum_of(square) / width + out_eps)))  # as in `inverse_norm`
        for j in range(0, wide, lanes):
            value = load(total, at + j) * inverse * load(out_norm, j)
            store(out, at + j, load(x, at + j) + larger(nothing, value))
    release(opened, passed, block, inverses, found)


@called
def _map_back(
    given: Array, count: int, inner: int, wide: int, maps: Array, zeros: Array, block: Array, grad_maps: Array,
    found: Array,
) -> None:
    """Carry the gradients of the products of a block to the maps and, into `found`, to what was mapped."""
    top: Any = np.int64(0)
    add_outer_tiles(given, block, grad_maps, top, wide, count, inner, wide)
    product_tiles(given, maps, top, wide, zeros, top, top, found, count, inner, wide)


@called
def _edge_gradients(
    first: int, count: int, last: bool, width: int, initial: Array, order: Array, edge_map: Array, weight: Array,
    eps: float, zeros: Array, raw: Array, grad_raw: Array, grad_edge_out: Array, grad_initial: Array,
    grad_edge_map: Array, sums: Array, inverses: Array, block: Array, found: Array,
) -> None:
    """Fill a block with what reaches `raw` of some edges through the states that these have after the update.

    Their gradient comes from outside, or from the update that follows, whose map gets its own on the way.
    """
    wide, lanes, dtype = weight.size, lanes_of(raw), raw.dtype.type
    nothing = spread(dtype(0))
    if last:
        for e in range(count):
            inverses[e] = inverse_norm(raw, (first + e) * wide, wide, width, eps)
            _copy(grad_edge_out, order[first + e] * wide, found, e * wide, wide)
    else:
        given = grad_raw[first * wide:]
        _edge_states(first, count, width, raw, weight, eps, order, initial, inverses, block)
        _map_back(given, count, wide, wide, edge_map, zeros, block, grad_edge_map, found)
    for e in range(count):
        here, row, again = e * wide, (first + e) * wide, order[first + e] * wide
        inverse, dot = inverses[e], nothing
        if initial.shape[0] == 1:
            for j in range(0, wide, lanes):
                _add(sums, INITIAL * wide + j, load(found, here + j))
        elif grad_initial.size > 0:
            for j in range(0, wide, lanes):
                _add(grad_initial, again + j, load(found, here + j))
        for j in range(0, wide, lanes):
            own = load(raw, row + j) * load(weight, j)
            value = where_positive(own, load(found, here + j), nothing)
            dot = dot + value * own
            store(found, here + j, value)
        scale = spread(inverse)
        bend = spread(inverse * inverse * inverse * sum_of(dot) / dtype(width))
        for j in range(0, wide, lanes):
            own, value = load(raw, row + j), load(found, here + j) * scale
            _add(sums, EDGE_NORM * wide + j, value * own)
            store(found, here + j, value * load(weight, j) - bend * own)


@called
def _backward_nodes(
    low: int, high: int, first: bool, last: bool, width: int, initial: Array, start: Array, source: Array,
    order: Array, edge_map: Array, out_norm: Array, out_eps: float, edge_norm: Array, edge_eps: float, zeros: Array,
    passing: Array, total: Array, raw: Array, gates: Array, pull: Array, grad_raw: Array, grad_products: Array,
    grad_edge_out: Array, grad: Array, grad_initial: Array, grad_edge_map: Array, sums: Array,
) -> None:
    """Go from the gradient of new nodes, and of new edges if they have one, to the products that end at the nodes."""
    wide, lanes, dtype = out_norm.size, lanes_of(grad), grad.dtype.type
    nothing, one, least = spread(dtype(0)), spread(dtype(1)), spread(dtype(OPEN))
    opened, mean = reserve(wide, grad), reserve(wide, grad)
    back, arrived = reserve(wide, grad), reserve(wide, grad)
    block, inverses = reserve(ROWS * wide, grad), reserve(ROWS, grad)
    found = reserve(ROWS * wide, grad)
    found[:] = 0
    reached, raw_at = not last or grad_edge_out.size > 0, (FIRST_RAW if first else RAW) * wide
    filled = block_at = start[low]
    for i in range(low, high):
        at, side_by_side = i * wide, 4 * i * wide
        square, dot = nothing, nothing
        for j in range(0, wide, lanes):
            own = load(total, at + j)
            weighted = own * load(out_norm, j)
            value = where_positive(weighted, load(grad, at + j), nothing)
            square, dot = square + own * own, dot + value * weighted
            store(back, j, value)
        inverse = dtype(1 / np.sqrt(sum_of(square) / width + out_eps))
        scale, bend = spread(inverse), spread(inverse * inverse * inverse * sum_of(dot) / dtype(width))
        for j in range(0, wide, lanes):
            own, value = load(total, at + j), load(back, j) * scale
            _add(sums, OUT_NORM * wide + j, value * own)
            value = value * load(out_norm, j) - bend * own
            _add(sums, OWN * wide + j, value)
            store(grad_products, side_by_side + wide + j, value)
            store(back, j, value)
            store(opened, j, nothing)
            store(mean, j, nothing)
            store(arrived, j, nothing)
        for e in range(start[i], start[i + 1]):
            near, row = source[e] * wide, e * wide
            for j in range(0, wide, lanes):
                gate = _logistic(load(raw, row + j), one, nothing)
                store(gates, row + j, gate)
                _add(opened, j, gate)
                _add(mean, j, gate * load(passing, near + j))
        for j in range(0, wide, lanes):
            part = one / (load(opened, j) + least)
            value = load(back, j) * part
            store(mean, j, load(mean, j) * part)
            store(back, j, value)
            store(pull, at + j, value)
            _add(sums, PASSING * wide + j, value * load(opened, j))
        for e in range(start[i], start[i + 1]):
            if reached and e == filled:
                block_at, filled = e, min(e + ROWS, start[high])
                _edge_gradients(e, filled - e, last, width, initial, order, edge_map, edge_norm, edge_eps, zeros, raw,
                                grad_raw, grad_edge_out, grad_initial, grad_edge_map, sums, inverses, block, found)
            near, row, here = source[e] * wide, e * wide, (e - block_at) * wide if reached else 0
            for j in range(0, wide, lanes):
                gate = load(gates, row + j)
                value = load(back, j) * (load(passing, near + j) - load(mean, j)) * gate * (one - gate)
                value = value + load(found, here + j)
                store(grad_raw, row + j, value)
                _add(arrived, j, value)
        for j in range(0, wide, lanes):
            store(grad_products, side_by_side + 2 * wide + j, load(arrived, j))
            _add(sums, raw_at + j, load(arrived, j))
    release(opened, mean, back, arrived, block, inverses, found)


@called
def _backward_sources(
    low: int, high: int, fresh: bool, x: Array, norm: Array, eps: float, width: int, injection: Array,
    out_start: Array, out_target: Array, out_edge: Array, maps: Array, zeros: Array, gates: Array, pull: Array,
    grad_raw: Array, grad_products: Array, grad: Array, grad_injection: Array, grad_norm: Array, grad_maps: Array,
) -> None:
    """Gather the gradients of what nodes send, and carry those of all products to the maps and through the norm."""
    wide, lanes = x.shape[1], lanes_of(x)
    nothing = spread(x.dtype.type(0))
    z, total = reserve(ROWS * wide, x), reserve(ROWS * wide, x)
    for first in range(low, high, ROWS):
        count = min(ROWS, high - first)
        for i in range(first, first + count):
            side_by_side = 4 * i * wide
            for j in range(0, wide, lanes):
                passed, over = nothing, nothing
                for e in range(out_start[i], out_start[i + 1]):
                    row = out_edge[e] * wide + j
                    passed = passed + load(gates, row) * load(pull, out_target[e] * wide + j)
                    over = over + load(grad_raw, row)
                store(grad_products, side_by_side + j, passed)
                store(grad_products, side_by_side + 3 * wide + j, over)
        given = grad_products[4 * first * wide:]
        _normalise(first, count, x, norm, eps, width, injection, z)
        _map_back(given, count, 4 * wide, wide, maps, zeros, z, grad_maps, total)
        for i in range(count):
            backward_norm(first + i, x, norm, eps, width, total, i * wide, fresh, grad, grad_injection, grad_norm)
    release(z, total)


@called
def _backward_first(
    begin: int, end: int, wide: int, edges: Array, order: Array, edge_map: Array, zeros: Array, grad_raw: Array,
    grad_edges: Array, grad_edge_map: Array,
) -> None:
    """Carry the gradients of `raw` at the first update to the map of the edges and to the edges that came in."""
    block, found = reserve(ROWS * wide, edges), reserve(ROWS * wide, edges)
    for first in range(begin, end, ROWS):
        count = min(ROWS, end - first)
        for e in range(count):
            _copy(edges, order[first + e] * wide, block, e * wide, wide)
        _map_back(grad_raw[first * wide:], count, wide, wide, edge_map, zeros, block, grad_edge_map, found)
        if grad_edges.size > 0:
            for e in range(count):
                _copy(found, e * wide, grad_edges, order[first + e] * wide, wide)
    release(block, found)
