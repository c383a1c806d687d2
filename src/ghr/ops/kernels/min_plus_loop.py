"""Fused updates of a level with min-plus message passing, and their gradient, which recomputes every update.

With rows of the state :math:`x` and of edges :math:`e` from :math:`j` to :math:`i`, one update is

    a_i = min(first_i, min_e (x_j + cost_e)),   u_i = a_i + O relu(I (a_i - mean a_i)) - injection_i,
    x_i = min(relu(u_i), cap_i)

Messages round alike wherever they are computed, so that the gradient finds those that attain a minimum.
"""
# fmt: off

from ghr.jit import called, inlined, kernel
from ghr.ops.kernels.arrays import release, reserve
from ghr.ops.kernels.blocks import ROWS, add_outer, product
from ghr.ops.kernels.rows import state_before
from ghr.ops.kernels.team import Team, handed_out
from ghr.ops.kernels.types import Array
from ghr.ops.kernels.vectors import lanes_of, larger, load, spread, store, sum_of, where_equal, where_positive


@kernel
def forward(
    team: Team, first: int, stop: int,
    parts: Array, begin: int, end: int, updates: int, state: Array, between: Array, last: Array,
    cost: Array, start: Array, source: Array, before: Array, cap: Array, injection: Array, width: int,
    mix_in: Array, mix_out: Array, zeros: Array,
) -> None:
    """Let some parts run the updates from `begin` to `end`."""
    if handed_out(team, first, stop):
        return
    for part in range(first, stop):
        for update in range(begin, end):
            x = state_before(update, state, between)
            out = last if update == updates - 1 else between[update % between.shape[0]]
            _forward(parts[part], parts[part + 1], x, cost, start, source, before, cap, injection, width, mix_in,
                     mix_out, zeros, out)


@kernel
def backward(
    team: Team, first: int, stop: int, alone: bool, parts: Array, begin: int, end: int, state: Array, between: Array,
    cost: Array, start: Array, source: Array, out_start: Array, out_target: Array, out_edge: Array,
    before: Array, cap: Array, injection: Array, width: int, mix_in: Array, mix_out: Array, in_back: Array,
    out_back: Array, zeros: Array, arrived: Array, shares: Array, grad: Array, grad_before: Array,
    grad_injection: Array, grad_cost: Array, grad_in: Array, grad_out: Array,
) -> None:
    """Carry the gradient of some parts back over updates; unless parts are alone, :func:`collect` must follow."""
    if handed_out(team, first, stop):
        return
    for part in range(first, stop):
        for update in range(end - 1, begin - 1, -1):
            x = state_before(update, state, between)
            _backward(parts[part], parts[part + 1], part, x, cost, start, source, before, cap, injection, width, mix_in,
                      mix_out, in_back, out_back, zeros, arrived, shares, grad, grad_before, grad_injection, grad_cost,
                      grad_in[part], grad_out[part])
            if alone:
                _collect(parts[part], parts[part + 1], x, cost, out_start, out_target, out_edge, arrived, shares, grad)


@kernel
def collect(
    team: Team, first: int, stop: int,
    parts: Array, update: int, state: Array, between: Array, cost: Array, out_start: Array,
    out_target: Array, out_edge: Array, arrived: Array, shares: Array, grad: Array,
) -> None:
    """Sum for every node of some parts what its messages get."""
    if handed_out(team, first, stop):
        return
    x = state_before(update, state, between)
    for part in range(first, stop):
        _collect(parts[part], parts[part + 1], x, cost, out_start, out_target, out_edge, arrived, shares, grad)


@inlined
def _arrive(
    first: int, count: int, x: Array, cost: Array, start: Array, source: Array, before: Array, width: int,
    arrived: Array, centred: Array,
) -> None:
    """Fill what arrives at a block of nodes, and the same around its mean."""
    wide, lanes, row = x.shape[1], lanes_of(x), 0 if cost.shape[0] == 1 else x.shape[1]
    nothing = spread(x.dtype.type(0))
    for i in range(count):
        node, total = first + i, nothing
        for j in range(0, wide, lanes):
            least = load(before, node * wide + j)
            for e in range(start[node], start[node + 1]):
                message = load(x, source[e] * wide + j) + load(cost, e * row + j)
                message = where_equal(least, least, message, least)  # what is not a number must come through
                least = where_positive(message - least, least, message)
            store(arrived, i * wide + j, least)
            total = total + least
        mean = spread(sum_of(total) / x.dtype.type(width))
        for j in range(0, wide, lanes):
            store(centred, i * wide + j, load(arrived, i * wide + j) - mean)


@called
def _forward(
    begin: int, end: int, x: Array, cost: Array, start: Array, source: Array, before: Array, cap: Array,
    injection: Array, width: int, mix_in: Array, mix_out: Array, zeros: Array, out: Array,
) -> None:
    wide, lanes, nothing = x.shape[1], lanes_of(x), spread(x.dtype.type(0))
    arrived, centred = reserve(ROWS * wide, x), reserve(ROWS * wide, x)
    hidden, mixed = reserve(ROWS * wide, x), reserve(ROWS * wide, x)
    for first in range(begin, end, ROWS):
        count = min(ROWS, end - first)
        _arrive(first, count, x, cost, start, source, before, width, arrived, centred)
        product(centred, mix_in, 0, wide, zeros, 0, 0, hidden, count, wide, wide)
        for j in range(0, count * wide, lanes):
            store(hidden, j, larger(load(hidden, j), nothing))
        product(hidden, mix_out, 0, wide, zeros, 0, 0, mixed, count, wide, wide)
        for j in range(0, count * wide, lanes):
            at = first * wide + j
            value = load(arrived, j) + load(mixed, j) - load(injection, at)
            value, most = where_positive(nothing - value, nothing, value), load(cap, at)
            store(out, at, where_positive(value - most, most, value))
    release(arrived, centred, hidden, mixed)


@called
def _backward(
    begin: int, end: int, part: int, x: Array, cost: Array, start: Array, source: Array, before: Array, cap: Array,
    injection: Array, width: int, mix_in: Array, mix_out: Array, in_back: Array, out_back: Array, zeros: Array,
    arrived: Array, shares: Array, grad: Array, grad_before: Array, grad_injection: Array, grad_cost: Array,
    grad_in: Array, grad_out: Array,
) -> None:
    """Fill what everything that attains a minimum gets of its gradient, and hand it to `before` and the costs."""
    wide, lanes = x.shape[1], lanes_of(x)
    nothing, one, half = spread(x.dtype.type(0)), spread(x.dtype.type(1)), spread(x.dtype.type(0.5))
    block, centred = reserve(ROWS * wide, x), reserve(ROWS * wide, x)
    hidden, mixed = reserve(ROWS * wide, x), reserve(ROWS * wide, x)
    back = reserve(ROWS * wide, x)
    row, into = (0, part * wide) if cost.shape[0] == 1 else (wide, 0)
    for first in range(begin, end, ROWS):
        count = min(ROWS, end - first)
        _arrive(first, count, x, cost, start, source, before, width, block, centred)
        product(centred, mix_in, 0, wide, zeros, 0, 0, hidden, count, wide, wide)
        for j in range(0, count * wide, lanes):
            store(hidden, j, larger(load(hidden, j), nothing))
        product(hidden, mix_out, 0, wide, zeros, 0, 0, mixed, count, wide, wide)
        for j in range(0, count * wide, lanes):
            at = first * wide + j
            value, most = load(block, j) + load(mixed, j) - load(injection, at), load(cap, at)
            given = where_positive(value, load(grad, at), nothing)  # at the cap both share it, as in PyTorch
            given = where_positive(value - most, nothing, where_equal(value, most, half * given, given))
            store(back, j, given)
            store(grad_injection, at, load(grad_injection, at) - given)
        add_outer(hidden, back, grad_out, 0, wide, count, wide, wide)
        product(back, out_back, 0, wide, zeros, 0, 0, mixed, count, wide, wide)
        for j in range(0, count * wide, lanes):
            store(mixed, j, where_positive(load(hidden, j), load(mixed, j), nothing))
        add_outer(centred, mixed, grad_in, 0, wide, count, wide, wide)
        product(mixed, in_back, 0, wide, zeros, 0, 0, hidden, count, wide, wide)
        for i in range(count):
            node, total = first + i, nothing
            for j in range(0, wide, lanes):
                total = total + load(hidden, i * wide + j)
            mean = spread(sum_of(total) / x.dtype.type(width))
            for j in range(0, wide, lanes):
                at, here = i * wide + j, node * wide + j
                least, own = load(block, at), load(before, here)
                given = load(back, at) + load(hidden, at) - mean
                number = where_equal(own, least, one, nothing)
                for e in range(start[node], start[node + 1]):
                    message = load(x, source[e] * wide + j) + load(cost, e * row + j)
                    number = number + where_equal(message, least, one, nothing)
                part_of_it = where_positive(number, given / number, nothing)
                for e in range(start[node], start[node + 1]):
                    message, to = load(x, source[e] * wide + j) + load(cost, e * row + j), into + e * row + j
                    store(grad_cost, to, load(grad_cost, to) + where_equal(message, least, part_of_it, nothing))
                store(grad_before, here, load(grad_before, here) + where_equal(own, least, part_of_it, nothing))
                store(arrived, here, least)
                store(shares, here, part_of_it)
    release(block, centred, hidden, mixed, back)


@called
def _collect(
    begin: int, end: int, x: Array, cost: Array, out_start: Array, out_target: Array, out_edge: Array, arrived: Array,
    shares: Array, grad: Array,
) -> None:
    wide, lanes, row = x.shape[1], lanes_of(x), 0 if cost.shape[0] == 1 else x.shape[1]
    nothing = spread(x.dtype.type(0))
    for i in range(begin, end):
        for j in range(0, wide, lanes):
            total, own = nothing, load(x, i * wide + j)
            for e in range(out_start[i], out_start[i + 1]):
                at = out_target[e] * wide + j
                message = own + load(cost, out_edge[e] * row + j)
                total = total + where_equal(message, load(arrived, at), load(shares, at), nothing)
            store(grad, i * wide + j, total)
