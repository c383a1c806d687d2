"""Fused updates of a level with GAT, and their gradient, which recomputes instead of remembering.

With rows of the state :math:`x`, of edges :math:`e` from :math:`j` to :math:`i`, one update is

    z = RMSNorm(x) + injection,   s = S z + b_s,   t = T z + b_t,   q_e = s_j + t_i + edge_e,
    alpha_e = softmax over the edges of i of a . leaky(q_e),   x_i += relu(sum_e alpha_e s_j + b)

Stages and parts are those of `weighted`.
"""
# fmt: off

import numpy as np

from ghr.jit import called, inlined, kernel
from ghr.ops.kernels.arrays import release, reserve
from ghr.ops.kernels.blocks import ROWS, add_outer, product
from ghr.ops.kernels.exponential import exponential
from ghr.ops.kernels.rows import backward_norm, normalise, state_before
from ghr.ops.kernels.team import Team, handed_out
from ghr.ops.kernels.types import Array
from ghr.ops.kernels.vectors import lanes_of, larger, load, spread, store, sum_of, where_positive
from ghr.ops.kernels.weighted import ALL, EDGES, NODES, NORMALISE

SLOPE = 0.2  # of the leaky ReLU below zero


@kernel
def forward(
    team: Team, first: int, stop: int, stage: int, parts: Array, begin: int, end: int, updates: int,
    state: Array, between: Array, last: Array, norm: Array, eps: float, width: int, injection: Array, z: Array,
    edges: Array, start: Array, source: Array, maps: Array, biases: Array, attention: Array, bias: Array,
    sending: Array, asking: Array, scores: Array,
) -> None:
    """Let some parts run stages of the updates from `begin` to `end`; `maps` and `biases` are S and T, b_s and b_t."""
    if handed_out(team, first, stop):
        return
    for part in range(first, stop):
        low, high = parts[part], parts[part + 1]
        for update in range(begin, end):
            x = state_before(update, state, between)
            out = last if update == updates - 1 else between[update % between.shape[0]]
            if stage in (ALL, NORMALISE):
                normalise(low, high, x, norm, eps, width, injection, z)
                _map(low, high, z, maps, biases, sending, asking)
            if stage in (ALL, NODES):
                _forward(low, high, x, edges, start, source, attention, bias, sending, asking, scores, out)


@kernel
def backward(
    team: Team, first: int, stop: int, stage: int, parts: Array, begin: int, end: int, updates: int,
    state: Array, between: Array, norm: Array, eps: float, width: int, injection: Array, z: Array,
    edges: Array, start: Array, source: Array, out_start: Array, out_edge: Array,
    maps: Array, biases: Array, maps_back: Array, attention: Array, bias: Array, zeros: Array,
    sending: Array, asking: Array, scores: Array, slopes: Array, sent: Array, grad_asking: Array,
    grad: Array, grad_injection: Array, grad_edges: Array, grad_norm: Array, grad_maps: Array, grad_biases: Array,
    grad_attention: Array, grad_bias: Array,
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
                _map(low, high, z, maps, biases, sending, asking)
            if stage in (ALL, NODES):
                _backward_nodes(low, high, edges, start, source, attention, bias, sending, asking, scores, slopes, sent,
                                grad_asking, grad, grad_edges, grad_attention[part], grad_bias[part])
            if stage in (ALL, EDGES):
                _backward_edges(low, high, x, norm, eps, width, z, out_start, out_edge, maps_back, zeros, sent,
                                grad_asking, update == updates - 1, grad, grad_injection, grad_norm[part],
                                grad_maps[part], grad_biases[part])


@called
def _map(begin: int, end: int, z: Array, maps: Array, biases: Array, sending: Array, asking: Array) -> None:
    """Fill s and t of some nodes."""
    wide, lanes = z.shape[1], lanes_of(z)
    block, out = reserve(ROWS * wide, z), reserve(ROWS * wide, z)
    for first in range(begin, end, ROWS):
        count = min(ROWS, end - first)
        for j in range(0, count * wide, lanes):
            store(block, j, load(z, first * wide + j))
        for which in range(2):
            product(block, maps, which * wide * wide, wide, biases, which * wide, 0, out, count, wide, wide)
            into = sending if which == 0 else asking
            for j in range(0, count * wide, lanes):
                store(into, first * wide + j, load(out, j))
    release(block, out)


@inlined
def _attend(
    i: int, edges: Array, start: Array, source: Array, attention: Array, sending: Array, asking: Array, scores: Array,
) -> None:
    """Fill the weights of the edges that arrive at a node; it has one at least, its own."""
    wide, lanes = sending.shape[1], lanes_of(sending)
    nothing, slope = spread(sending.dtype.type(0)), spread(sending.dtype.type(SLOPE))
    best, total = sending.dtype.type(-np.inf), sending.dtype.type(0)
    for e in range(start[i], start[i + 1]):
        score, near = nothing, source[e] * wide
        for j in range(0, wide, lanes):
            query = load(sending, near + j) + load(asking, i * wide + j)
            if edges.shape[0] > 0:
                query = query + load(edges, e * wide + j)
            score = score + load(attention, j) * larger(query, slope * query)
        scores[e] = sum_of(score)
        best = max(best, scores[e])
    for e in range(start[i], start[i + 1]):
        scores[e] = exponential(scores[e] - best)
        total += scores[e]
    for e in range(start[i], start[i + 1]):
        scores[e] /= total


@called
def _forward(
    begin: int, end: int, x: Array, edges: Array, start: Array, source: Array, attention: Array, bias: Array,
    sending: Array, asking: Array, scores: Array, out: Array,
) -> None:
    wide, lanes, nothing = x.shape[1], lanes_of(x), spread(x.dtype.type(0))
    for i in range(begin, end):
        _attend(i, edges, start, source, attention, sending, asking, scores)
        for j in range(0, wide, lanes):
            value = load(bias, j)
            for e in range(start[i], start[i + 1]):
                value = value + spread(scores[e]) * load(sending, source[e] * wide + j)
            store(out, i * wide + j, load(x, i * wide + j) + larger(value, nothing))


@called
def _backward_nodes(
    begin: int, end: int, edges: Array, start: Array, source: Array, attention: Array, bias: Array,
    sending: Array, asking: Array, scores: Array, slopes: Array, sent: Array, grad_asking: Array, grad: Array,
    grad_edges: Array, grad_attention: Array, grad_bias: Array,
) -> None:
    """Carry the gradients of nodes to their edges: what is sent back to the sources, and what stays as that of t."""
    wide, lanes, zero = sending.shape[1], lanes_of(sending), sending.dtype.type(0)
    nothing, slope = spread(zero), spread(sending.dtype.type(SLOPE))
    back = reserve(wide, sending)
    for i in range(begin, end):
        _attend(i, edges, start, source, attention, sending, asking, scores)
        for j in range(0, wide, lanes):
            value = load(bias, j)
            for e in range(start[i], start[i + 1]):
                value = value + spread(scores[e]) * load(sending, source[e] * wide + j)
            value = where_positive(value, load(grad, i * wide + j), nothing)
            store(back, j, value)
            store(grad_bias, j, load(grad_bias, j) + value)
            store(grad_asking, i * wide + j, nothing)
        mean = zero
        for e in range(start[i], start[i + 1]):
            dot = nothing
            for j in range(0, wide, lanes):
                dot = dot + load(back, j) * load(sending, source[e] * wide + j)
            slopes[e] = sum_of(dot)
            mean += scores[e] * slopes[e]
        for e in range(start[i], start[i + 1]):
            near, share, pull = source[e] * wide, spread(scores[e]), spread(scores[e] * (slopes[e] - mean))
            for j in range(0, wide, lanes):
                here, at = i * wide + j, e * wide + j
                query = load(sending, near + j) + load(asking, here)
                if edges.shape[0] > 0:
                    query = query + load(edges, at)
                bent, weight = slope * query, load(attention, j)
                store(grad_attention, j, load(grad_attention, j) + pull * larger(query, bent))
                value = pull * where_positive(query, weight, slope * weight)
                store(grad_asking, here, load(grad_asking, here) + value)
                store(sent, at, value + share * load(back, j))
                if grad_edges.shape[0] > 0:
                    store(grad_edges, at, load(grad_edges, at) + value)
    release(back)


@called
def _backward_edges(
    begin: int, end: int, x: Array, norm: Array, eps: float, width: int, z: Array, out_start: Array, out_edge: Array,
    maps_back: Array, zeros: Array, sent: Array, grad_asking: Array, fresh: bool, grad: Array, grad_injection: Array,
    grad_norm: Array, grad_maps: Array, grad_biases: Array,
) -> None:
    """Gather the gradients of s, and carry them and those of t through the maps and the norm."""
    wide, lanes, nothing = x.shape[1], lanes_of(x), spread(x.dtype.type(0))
    block, total = reserve(ROWS * wide, x), reserve(ROWS * wide, x)
    sent_back, asked_back = reserve(ROWS * wide, x), reserve(ROWS * wide, x)
    for first in range(begin, end, ROWS):
        count = min(ROWS, end - first)
        for i in range(count):
            node = first + i
            for j in range(0, wide, lanes):
                value, at = nothing, i * wide + j
                for e in range(out_start[node], out_start[node + 1]):
                    value = value + load(sent, out_edge[e] * wide + j)
                asked = load(grad_asking, node * wide + j)
                store(sent_back, at, value)
                store(asked_back, at, asked)
                store(block, at, load(z, node * wide + j))
                store(grad_biases[0], j, load(grad_biases[0], j) + value)
                store(grad_biases[1], j, load(grad_biases[1], j) + asked)
        add_outer(block, sent_back, grad_maps, 0, wide, count, wide, wide)
        add_outer(block, asked_back, grad_maps, wide * wide, wide, count, wide, wide)
        product(sent_back, maps_back, 0, wide, zeros, 0, 0, total, count, wide, wide)
        product(asked_back, maps_back, wide * wide, wide, total, 0, wide, total, count, wide, wide)
        for i in range(count):
            backward_norm(first + i, x, norm, eps, width, total, i * wide, fresh, grad, grad_injection, grad_norm)
    release(block, total, sent_back, asked_back)
