"""Fused updates of a level with GCN or A-DGN, and their gradient, which recomputes instead of remembering.

With rows of the state :math:`x` and weights of edges :math:`w`, one update is

    z = RMSNorm(x) + injection,   s_i = sum_j w_ji z_j,   y_i = A z_i + B s_i + b,
    x_i += relu(y_i)   or   x_i += rate tanh(y_i)

A is empty where there is none. Every update has stages: `normalise` fills z, which all others read, then nodes are
updated; on the way back what edges bring follows. Parts that no edge joins run all stages of all updates by themselves.
"""
# fmt: off

from typing import Any

from ghr.jit import called, inlined, kernel
from ghr.ops.kernels.arrays import release, reserve
from ghr.ops.kernels.blocks import ROWS, add_outer, product
from ghr.ops.kernels.rows import backward_norm, normalise, state_before
from ghr.ops.kernels.team import Team, handed_out
from ghr.ops.kernels.types import Array
from ghr.ops.kernels.vectors import exp, lanes_of, larger, load, spread, store, sum_of, where_positive

ALL, NORMALISE, NODES, EDGES = range(4)  # stages


@kernel
def forward(
    team: Team, first: int, stop: int, stage: int, parts: Array, begin: int, end: int, updates: int,
    state: Array, between: Array, last: Array, norm: Array, eps: float, width: int, injection: Array, z: Array,
    weight: Array, start: Array, source: Array, own: Array, near: Array, bias: Array, rate: float,
) -> None:
    """Let some parts run stages of the updates from `begin` to `end`."""
    if handed_out(team, first, stop):
        return
    for part in range(first, stop):
        for update in range(begin, end):
            x = state_before(update, state, between)
            out = last if update == updates - 1 else between[update % between.shape[0]]
            if stage in (ALL, NORMALISE):
                normalise(parts[part], parts[part + 1], x, norm, eps, width, injection, z)
            if stage in (ALL, NODES):
                _forward(parts[part], parts[part + 1], x, z, weight, start, source, own, near, bias, rate, out)


@kernel
def backward(
    team: Team, first: int, stop: int, stage: int, parts: Array, begin: int, end: int, updates: int,
    state: Array, between: Array, norm: Array, eps: float, width: int, injection: Array, z: Array,
    weight: Array, start: Array, source: Array, out_start: Array, out_target: Array, out_edge: Array,
    own: Array, near: Array, own_back: Array, near_back: Array, bias: Array, zeros: Array, rate: float,
    grad_sum: Array, kept: Array, grad: Array, grad_injection: Array, grad_weight: Array, grad_norm: Array,
    grad_own: Array, grad_near: Array, grad_bias: Array,
) -> None:
    """Carry the gradient of some parts back over stages of updates; gradients of weights are sums per part."""
    if handed_out(team, first, stop):
        return
    for part in range(first, stop):
        low, high = parts[part], parts[part + 1]
        for update in range(end - 1, begin - 1, -1):
            x = state_before(update, state, between)
            if stage in (ALL, NORMALISE):
                normalise(low, high, x, norm, eps, width, injection, z)
            if stage in (ALL, NODES):
                _backward_nodes(low, high, z, weight, start, source, own, near, own_back, near_back, bias, zeros, rate,
                                grad_sum, kept, grad, grad_weight, grad_own[part], grad_near[part], grad_bias[part])
            if stage in (ALL, EDGES):
                _backward_edges(low, high, x, norm, eps, width, weight, out_start, out_target, out_edge, grad_sum, kept,
                                update == updates - 1, grad, grad_injection, grad_norm[part])


@inlined
def _combine(
    begin: int, count: int, z: Array, weight: Array, start: Array, source: Array, own: Array, near: Array, bias: Array,
    total: Array, mine: Array, y: Array,
) -> None:
    """y = A z + B s + b for a block of nodes; also fill s, and a copy of z if there is an A."""
    wide, lanes = z.shape[1], lanes_of(z)
    nothing = spread(z.dtype.type(0))
    for i in range(count):
        low, high = start[begin + i], start[begin + i + 1]
        for j in range(0, wide, lanes):
            value = nothing
            for e in range(low, high):
                value = value + spread(weight[e]) * load(z, source[e] * wide + j)
            store(total, i * wide + j, value)
    product(total, near, 0, wide, bias, 0, 0, y, count, wide, wide)
    if own.size > 0:
        for j in range(0, count * wide, lanes):
            store(mine, j, load(z, begin * wide + j))
        product(mine, own, 0, wide, y, 0, wide, y, count, wide, wide)


@inlined
def _tanh(y: Any, two: Any, one: Any) -> Any:
    return one - two / (exp(two * y) + one)


@called
def _forward(
    begin: int, end: int, x: Array, z: Array, weight: Array, start: Array, source: Array, own: Array, near: Array,
    bias: Array, rate: float, out: Array,
) -> None:
    wide, lanes = x.shape[1], lanes_of(x)
    total, mine = reserve(ROWS * wide, x), reserve(ROWS * wide, x)
    y = reserve(ROWS * wide, x)
    nothing, one, two = spread(x.dtype.type(0)), spread(x.dtype.type(1)), spread(x.dtype.type(2))
    speed = spread(x.dtype.type(rate))
    for first in range(begin, end, ROWS):
        count = min(ROWS, end - first)
        _combine(first, count, z, weight, start, source, own, near, bias, total, mine, y)
        for j in range(0, count * wide, lanes):
            at, value = first * wide + j, load(y, j)
            if rate == 0:
                store(out, at, load(x, at) + larger(value, nothing))
            else:
                store(out, at, load(x, at) + speed * _tanh(value, two, one))
    release(total, mine, y)


@called
def _backward_nodes(
    begin: int, end: int, z: Array, weight: Array, start: Array, source: Array, own: Array, near: Array,
    own_back: Array, near_back: Array, bias: Array, zeros: Array, rate: float, grad_sum: Array, kept: Array,
    grad: Array, grad_weight: Array, grad_own: Array, grad_near: Array, grad_bias: Array,
) -> None:
    """Carry the gradients of nodes to their sums, and to their own z."""
    wide, lanes = z.shape[1], lanes_of(z)
    total, mine = reserve(ROWS * wide, z), reserve(ROWS * wide, z)
    y, back = reserve(ROWS * wide, z), reserve(ROWS * wide, z)
    nothing, one, two = spread(z.dtype.type(0)), spread(z.dtype.type(1)), spread(z.dtype.type(2))
    speed = spread(z.dtype.type(rate))
    for first in range(begin, end, ROWS):
        count = min(ROWS, end - first)
        _combine(first, count, z, weight, start, source, own, near, bias, total, mine, y)
        for i in range(count):
            for j in range(0, wide, lanes):
                at = i * wide + j
                given, value = load(grad, first * wide + at), load(y, at)
                if rate == 0:
                    given = where_positive(value, given, nothing)
                else:
                    bent = _tanh(value, two, one)
                    given = speed * given * (one - bent * bent)
                store(back, at, given)
                store(grad_bias, j, load(grad_bias, j) + given)
        add_outer(total, back, grad_near, 0, wide, count, wide, wide)
        product(back, near_back, 0, wide, zeros, 0, 0, y, count, wide, wide)
        for j in range(0, count * wide, lanes):
            store(grad_sum, first * wide + j, load(y, j))
        if own.size > 0:
            add_outer(mine, back, grad_own, 0, wide, count, wide, wide)
            product(back, own_back, 0, wide, zeros, 0, 0, total, count, wide, wide)
            for j in range(0, count * wide, lanes):
                store(kept, first * wide + j, load(total, j))
        if grad_weight.shape[0] > 0:
            for i in range(count):
                for e in range(start[first + i], start[first + i + 1]):
                    value = nothing
                    for j in range(0, wide, lanes):
                        value = value + load(y, i * wide + j) * load(z, source[e] * wide + j)
                    grad_weight[e] += sum_of(value)
    release(total, mine, y, back)


@called
def _backward_edges(
    begin: int, end: int, x: Array, norm: Array, eps: float, width: int, weight: Array, out_start: Array,
    out_target: Array, out_edge: Array, grad_sum: Array, kept: Array, fresh: bool, grad: Array, grad_injection: Array,
    grad_norm: Array,
) -> None:
    """Gather the gradients of z from the sums that nodes entered, and carry them through the norm."""
    wide, lanes = x.shape[1], lanes_of(x)
    total = reserve(wide, x)
    for i in range(begin, end):
        for j in range(0, wide, lanes):
            value = load(kept, i * wide + j) if kept.shape[0] > 0 else spread(x.dtype.type(0))
            for e in range(out_start[i], out_start[i + 1]):
                value = value + spread(weight[out_edge[e]]) * load(grad_sum, out_target[e] * wide + j)
            store(total, j, value)
        backward_norm(i, x, norm, eps, width, total, 0, fresh, grad, grad_injection, grad_norm)
    release(total)
