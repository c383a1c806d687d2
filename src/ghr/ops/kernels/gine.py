"""Fused updates of a level with GINE or GatedGINE, and their gradient, which recomputes instead of remembering.

With rows of the state :math:`x`, one update is

    z = RMSNorm(x) + injection,   m_i = scale z_i + sum_j relu(z_j + e_ji),   x_i += U(m_i)

where U is SwiGLU or a two-layer MLP. Where all edges share one feature, relu(z_j + e) depends on j alone: it is
computed once per node into r, and the sum is a sparse product; else r is empty, and the way back keeps a mask of
where messages were positive.

Nodes are cut into parts. Where no edge leads from part to part, as between the graphs of a batch, a part runs all its
updates by itself, its numbers staying close to the core; else all parts finish an update before the next begins.
"""
# fmt: off

from typing import Any

import numpy as np
from numba import prange

from ghr.jit import called, inlined, parallel
from ghr.ops.kernels.blocks import ROWS, add_outer, add_rows, product, sigmoid
from ghr.ops.kernels.masks import add_relu, add_where
from ghr.ops.kernels.types import Array


@parallel
def forward(
    alone: bool, parts: Array, updates: int, state: Array, between: Array, last: Array,
    weight: Array, eps: float, injection: Array, z: Array, r: Array, edges: Array, start: Array, source: Array,
    scale: Any, up: Array, up_bias: Array, down: Array, down_bias: Array, gated: bool,
) -> None:
    """Fill the states after every update but the last into `between`, and the last one.

    Where `between` is empty, all updates are made in the place of the last: other nodes are read as z and r alone.
    """
    if alone:
        for part in prange(parts.size - 1):
            begin, end = parts[part], parts[part + 1]
            for update in range(updates):
                x, out = _before(update, state, between, last), _after(update, between, last)
                _normalise(begin, end, x, weight, eps, injection, edges, z, r)
                _forward(begin, end, x, z, r, edges, start, source, scale, up, up_bias, down, down_bias, gated, out)
        return
    for update in range(updates):
        x, out = _before(update, state, between, last), _after(update, between, last)
        for part in prange(parts.size - 1):
            _normalise(parts[part], parts[part + 1], x, weight, eps, injection, edges, z, r)
        for part in prange(parts.size - 1):
            _forward(parts[part], parts[part + 1], x, z, r, edges, start, source, scale,
                     up, up_bias, down, down_bias, gated, out)


@parallel
def backward(
    alone: bool, parts: Array, updates: int, state: Array, between: Array,
    weight: Array, eps: float, injection: Array, z: Array, r: Array, edges: Array, start: Array, source: Array,
    out_start: Array, out_target: Array, out_edge: Array, scale: Any,
    up: Array, up_bias: Array, up_back: Array, down_back: Array, zeros: Array, gated: bool,
    masks: Array, grad_m: Array, grad: Array, grad_injection: Array, grad_edges: Array, grad_norm: Array,
    grad_scale: Array, grad_up: Array, grad_up_bias: Array, grad_down: Array, grad_down_bias: Array,
) -> None:
    """Carry the gradient of the last state back to the first; gradients of weights are sums per part.

    `masks` and `grad_m` hold what the gradients of the edges need of so many updates at a time.
    """
    group = grad_m.shape[0]
    if alone:
        for part in prange(parts.size - 1):
            begin, end = parts[part], parts[part + 1]
            for update in range(updates - 1, -1, -1):
                x, slot = _before(update, state, between, state), update % group
                _normalise(begin, end, x, weight, eps, injection, edges, z, r)
                _backward_nodes(begin, end, x, z, r, edges, start, source, scale, up, up_bias, up_back, down_back,
                                zeros, gated, grad, masks[slot], grad_m[slot], grad_up[part], grad_up_bias[part],
                                grad_down[part], grad_down_bias[part], grad_scale[part])
                _backward_edges(begin, end, part, x, weight, eps, z, r, edges, out_start, out_target, out_edge,
                                scale, masks[slot], grad_m[slot], grad, grad_injection, grad_edges, grad_norm[part],
                                update == updates - 1)
                if r.shape[0] == 0 and slot == 0:
                    _edge_gradients(begin, end, start, masks, grad_m, min(group, updates - update), grad_edges,
                                    update + group >= updates)
        return
    for update in range(updates - 1, -1, -1):
        x, slot = _before(update, state, between, state), update % group
        for part in prange(parts.size - 1):
            _normalise(parts[part], parts[part + 1], x, weight, eps, injection, edges, z, r)
        for part in prange(parts.size - 1):
            _backward_nodes(parts[part], parts[part + 1], x, z, r, edges, start, source, scale, up, up_bias, up_back,
                            down_back, zeros, gated, grad, masks[slot], grad_m[slot], grad_up[part],
                            grad_up_bias[part], grad_down[part], grad_down_bias[part], grad_scale[part])
        for part in prange(parts.size - 1):
            _backward_edges(parts[part], parts[part + 1], part, x, weight, eps, z, r, edges, out_start, out_target,
                            out_edge, scale, masks[slot], grad_m[slot], grad, grad_injection, grad_edges,
                            grad_norm[part], update == updates - 1)
        if r.shape[0] == 0 and slot == 0:
            for part in prange(parts.size - 1):
                _edge_gradients(parts[part], parts[part + 1], start, masks, grad_m, min(group, updates - update),
                                grad_edges, update + group >= updates)


@inlined
def _before(update: int, state: Array, between: Array, last: Array) -> Array:
    if update == 0:
        return state
    return between[update - 1] if between.shape[0] > 0 else last


@inlined
def _after(update: int, between: Array, last: Array) -> Array:
    return between[update] if update < between.shape[0] else last


@called
def _normalise(
    begin: int, end: int, x: Array, weight: Array, eps: float, injection: Array, edge: Array, z: Array, r: Array,
) -> None:
    """Fill z = RMSNorm(x) + injection and, where all edges share one feature, r = relu(z + edge)."""
    width, zero = x.shape[1], x.dtype.type(0)
    shared = r.shape[0] > 0
    for i in range(begin, end):
        square = zero
        for j in range(width):
            square += x[i, j] * x[i, j]
        inverse = weight.dtype.type(1 / np.sqrt(square / width + eps))
        for j in range(width):
            z[i, j] = x[i, j] * inverse * weight[j] + injection[i, j]
        if shared:
            for j in range(width):
                r[i, j] = max(z[i, j] + edge[0, j], zero)


@inlined
def _aggregate(
    first: int, count: int, width: int, z: Array, r: Array, edges: Array, start: Array, source: Array, scale: Any,
    m: Array, mask: Array,
) -> None:
    """m_i = scale z_i + sum_j relu(z_j + e_ji) for some nodes; where edges differ, an empty mask asks for none."""
    shared, zero = r.shape[0] > 0, z.dtype.type(0)
    for i in range(count):
        node = first + i
        for j in range(width):
            m[i, j] = scale * z[node, j]
        if shared:
            add_rows(r, source, start[node], start[node + 1], m, i, width)
        elif mask.shape[0] > 0:
            for e in range(start[node], start[node + 1]):
                add_relu(z, source[e], edges, e, m, i, width, mask)
        else:
            for e in range(start[node], start[node + 1]):
                near = source[e]
                for j in range(width):
                    m[i, j] += max(z[near, j] + edges[e, j], zero)


@called
def _forward(
    begin: int, end: int, x: Array, z: Array, r: Array, edges: Array, start: Array, source: Array, scale: Any,
    up: Array, up_bias: Array, down: Array, down_bias: Array, gated: bool, out: Array,
) -> None:
    width, half, wide, zero = x.shape[1], down.shape[0], up.shape[1], x.dtype.type(0)
    m, o = np.empty((ROWS, width), x.dtype), np.empty((ROWS, width), x.dtype)
    u, g = np.empty((ROWS, half), x.dtype), np.empty((ROWS, half), x.dtype)
    sig, no_mask = np.empty(ROWS * half, x.dtype), np.empty((0, 0), np.uint8)
    flat_u, flat_g = u.reshape(-1), g.reshape(-1)
    for first in range(begin, end, ROWS):
        count = min(ROWS, end - first)
        _aggregate(first, count, width, z, r, edges, start, source, scale, m, no_mask)
        product(m, up, wide - half, wide, up_bias, wide - half, 0, u, count, width, half)
        if gated:
            product(m, up, 0, wide, up_bias, 0, 0, g, count, width, half)
            sigmoid(flat_g, sig, count * half)
            for j in range(count * half):
                flat_u[j] *= flat_g[j] * sig[j]
        else:
            for j in range(count * half):
                flat_u[j] = max(flat_u[j], zero)
        product(u, down, 0, width, down_bias, 0, 0, o, count, half, width)
        for i in range(count):
            for j in range(width):
                out[first + i, j] = x[first + i, j] + o[i, j]


@called
def _backward_nodes(
    begin: int, end: int, x: Array, z: Array, r: Array, edges: Array, start: Array, source: Array, scale: Any,
    up: Array, up_bias: Array, up_back: Array, down_back: Array, zeros: Array, gated: bool, grad: Array, mask: Array,
    grad_m: Array,
    grad_up: Array, grad_up_bias: Array, grad_down: Array, grad_down_bias: Array, grad_scale: Array,
) -> None:
    width, half, wide = x.shape[1], down_back.shape[1], up.shape[1]
    zero, one = x.dtype.type(0), x.dtype.type(1)  # a plain 0 or 1 would lift the arithmetic to 64 bits
    m, dm = np.empty((ROWS, width), x.dtype), np.empty((ROWS, width), x.dtype)
    u, g = np.empty((ROWS, half), x.dtype), np.empty((ROWS, half), x.dtype)
    s, ds = np.empty((ROWS, half), x.dtype), np.empty((ROWS, half), x.dtype)
    back = np.empty((ROWS, width), x.dtype)
    sig = np.empty(ROWS * half, x.dtype)
    flat_u, flat_g, flat_s, flat_ds = u.reshape(-1), g.reshape(-1), s.reshape(-1), ds.reshape(-1)
    for first in range(begin, end, ROWS):
        count = min(ROWS, end - first)
        _aggregate(first, count, width, z, r, edges, start, source, scale, m, mask)
        for i in range(count):
            for j in range(width):
                back[i, j] = grad[first + i, j]
        product(back, down_back, 0, half, zeros, 0, 0, ds, count, width, half)
        product(m, up, wide - half, wide, up_bias, wide - half, 0, u, count, width, half)
        if gated:  # g and u become their own gradients
            product(m, up, 0, wide, up_bias, 0, 0, g, count, width, half)
            sigmoid(flat_g, sig, count * half)
            for j in range(count * half):
                content, swish = flat_u[j], flat_g[j] * sig[j]
                flat_s[j] = swish * content
                flat_u[j] = flat_ds[j] * swish
                flat_g[j] = flat_ds[j] * content * (sig[j] + swish * (one - sig[j]))
            add_outer(m, g, grad_up, 0, wide, count, width, half)
        else:
            for j in range(count * half):
                flat_s[j] = max(flat_u[j], zero)
                flat_u[j] = flat_ds[j] if flat_u[j] > zero else zero
            for i in range(count):
                for j in range(half):
                    grad_up_bias[j] += u[i, j]
                for j in range(width):
                    grad_down_bias[j] += back[i, j]
        add_outer(m, u, grad_up, wide - half, wide, count, width, half)
        add_outer(s, back, grad_down, 0, width, count, half, width)
        product(u, up_back, (wide - half) * width, width, zeros, 0, 0, dm, count, half, width)
        if gated:
            product(g, up_back, 0, width, dm, 0, width, dm, count, half, width)
        for i in range(count):
            for j in range(width):
                grad_m[first + i, j] = dm[i, j]
                grad_scale[j] += dm[i, j] * z[first + i, j]


@called
def _backward_edges(
    begin: int, end: int, part: int, x: Array, weight: Array, eps: float, z: Array, r: Array, edges: Array,
    out_start: Array, out_target: Array, out_edge: Array, scale: Any, mask: Array, grad_m: Array,
    grad: Array, grad_injection: Array, grad_edges: Array, grad_weight: Array, fresh: bool,
) -> None:
    """Carry the gradient of m over the edges and through the norm, and add it to what came before."""
    width, zero = x.shape[1], x.dtype.type(0)
    total, back = np.empty((1, width), x.dtype), np.empty((1, width), x.dtype)
    for i in range(begin, end):
        for j in range(width):
            total[0, j] = scale * grad_m[i, j]
        if r.shape[0] > 0:
            for j in range(width):
                back[0, j] = zero
            add_rows(grad_m, out_target, out_start[i], out_start[i + 1], back, 0, width)
            for j in range(width):
                value = back[0, j] if z[i, j] + edges[0, j] > zero else zero
                total[0, j] += value
                grad_edges[part, j] += value
        else:
            for e in range(out_start[i], out_start[i + 1]):
                add_where(mask, out_edge[e], grad_m, out_target[e], total, 0, width)
        square, dot = zero, zero
        for j in range(width):
            grad_injection[i, j] = total[0, j] if fresh else grad_injection[i, j] + total[0, j]
            square += x[i, j] * x[i, j]
            dot += total[0, j] * weight[j] * x[i, j]
        inverse = weight.dtype.type(1 / np.sqrt(square / width + eps))
        pull = inverse * inverse * inverse * dot / weight.dtype.type(width)
        for j in range(width):
            grad_weight[j] += total[0, j] * x[i, j] * inverse
            grad[i, j] += inverse * weight[j] * total[0, j] - pull * x[i, j]


@called
def _edge_gradients(
    begin: int, end: int, start: Array, masks: Array, grad_m: Array, updates: int, grad_edges: Array, fresh: bool,
) -> None:
    """Add up, over some updates, the gradients of the edges that arrive at some nodes."""
    width, zero = grad_m.shape[2], grad_m.dtype.type(0)
    for i in range(begin, end):
        for e in range(start[i], start[i + 1]):
            if fresh:
                for j in range(width):
                    grad_edges[e, j] = zero
            for update in range(updates):
                add_where(masks[update], e, grad_m[update], i, grad_edges, e, width)
