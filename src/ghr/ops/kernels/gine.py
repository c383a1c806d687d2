"""One fused update of a level with GINE or GatedGINE, and its gradient, which recomputes instead of remembering.

With rows of the state :math:`x`, one update is

    z = RMSNorm(x) + injection,   m_i = scale z_i + sum_j relu(z_j + e_ji),   x_i += U(m_i)

where U is SwiGLU or a two-layer MLP. Where all edges share one feature, relu(z_j + e) depends on j alone: it is
computed once per node into r, and the sum is a sparse product; else r is empty.
"""
# fmt: off

from typing import Any

import numpy as np
from numba import prange

from ghr.jit import called, inlined, parallel
from ghr.ops.kernels.blocks import ROWS, add_outer, add_rows, product, sigmoid
from ghr.ops.kernels.types import Array


@parallel
def normalise(x: Array, weight: Array, eps: float, injection: Array, edge: Array, z: Array, r: Array) -> None:
    """Fill z = RMSNorm(x) + injection and, where all edges share one feature, r = relu(z + edge)."""
    width, zero = x.shape[1], x.dtype.type(0)
    shared = r.shape[0] > 0
    for i in prange(x.shape[0]):
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
    m: Array,
) -> None:
    shared, zero = r.shape[0] > 0, z.dtype.type(0)
    for i in range(count):
        node = first + i
        for j in range(width):
            m[i, j] = scale * z[node, j]
        if shared:
            add_rows(r, source, start[node], start[node + 1], m, i, width)
        else:
            for e in range(start[node], start[node + 1]):
                near = source[e]
                for j in range(width):
                    m[i, j] += max(z[near, j] + edges[e, j], zero)


@parallel
def forward(
    x: Array, z: Array, r: Array, edges: Array, start: Array, source: Array, scale: Any,
    up: Array, up_bias: Array, down: Array, down_bias: Array, gated: bool, out: Array, chunks: int,
) -> None:
    """Fill out = x + U(m), chunk by chunk."""
    for chunk in prange(chunks):
        begin, end = x.shape[0] * chunk // chunks, x.shape[0] * (chunk + 1) // chunks
        _forward(begin, end, x, z, r, edges, start, source, scale, up, up_bias, down, down_bias, gated, out)


@parallel
def backward_nodes(
    x: Array, z: Array, r: Array, edges: Array, start: Array, source: Array, scale: Any,
    up: Array, up_bias: Array, up_back: Array, down_back: Array, zeros: Array, gated: bool, grad: Array, grad_m: Array,
    grad_up: Array, grad_up_bias: Array, grad_down: Array, grad_down_bias: Array, grad_scale: Array, chunks: int,
) -> None:
    """Fill the gradient of m and add to those of U's weights, of which every chunk has its own part."""
    for chunk in prange(chunks):
        begin, end = x.shape[0] * chunk // chunks, x.shape[0] * (chunk + 1) // chunks
        _backward_nodes(begin, end, x, z, r, edges, start, source, scale, up, up_bias, up_back, down_back, zeros,
                        gated, grad, grad_m, grad_up[chunk], grad_up_bias[chunk], grad_down[chunk],
                        grad_down_bias[chunk], grad_scale[chunk])


@parallel
def backward_edges(
    x: Array, weight: Array, eps: float, z: Array, edges: Array, shared: bool,
    out_start: Array, out_target: Array, out_edge: Array, scale: Any, grad_m: Array,
    grad: Array, grad_injection: Array, grad_edges: Array, grad_weight: Array, chunks: int,
) -> None:
    """Carry the gradient of m over the edges and through the norm, and add to what came before."""
    for chunk in prange(chunks):
        begin, end = x.shape[0] * chunk // chunks, x.shape[0] * (chunk + 1) // chunks
        _backward_edges(begin, end, chunk, x, weight, eps, z, edges, shared, out_start, out_target, out_edge, scale,
                        grad_m, grad, grad_injection, grad_edges, grad_weight[chunk])


@called
def _forward(
    begin: int, end: int, x: Array, z: Array, r: Array, edges: Array, start: Array, source: Array, scale: Any,
    up: Array, up_bias: Array, down: Array, down_bias: Array, gated: bool, out: Array,
) -> None:
    width, half, wide, zero = x.shape[1], down.shape[0], up.shape[1], x.dtype.type(0)
    m, o = np.empty((ROWS, width), x.dtype), np.empty((ROWS, width), x.dtype)
    u, g = np.empty((ROWS, half), x.dtype), np.empty((ROWS, half), x.dtype)
    sig = np.empty(ROWS * half, x.dtype)
    flat_u, flat_g = u.reshape(-1), g.reshape(-1)
    for first in range(begin, end, ROWS):
        count = min(ROWS, end - first)
        _aggregate(first, count, width, z, r, edges, start, source, scale, m)
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
    up: Array, up_bias: Array, up_back: Array, down_back: Array, zeros: Array, gated: bool, grad: Array, grad_m: Array,
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
        _aggregate(first, count, width, z, r, edges, start, source, scale, m)
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
    begin: int, end: int, chunk: int, x: Array, weight: Array, eps: float, z: Array, edges: Array,
    shared: bool, out_start: Array, out_target: Array, out_edge: Array, scale: Any, grad_m: Array,
    grad: Array, grad_injection: Array, grad_edges: Array, grad_weight: Array,
) -> None:
    width, zero = x.shape[1], x.dtype.type(0)
    total, back = np.empty(width, x.dtype), np.empty((1, width), x.dtype)
    for i in range(begin, end):
        for j in range(width):
            total[j] = scale * grad_m[i, j]
            back[0, j] = zero
        if shared:
            add_rows(grad_m, out_target, out_start[i], out_start[i + 1], back, 0, width)
            for j in range(width):
                value = back[0, j] if z[i, j] + edges[0, j] > zero else zero
                total[j] += value
                grad_edges[chunk, j] += value
        else:
            for e in range(out_start[i], out_start[i + 1]):
                far, edge = out_target[e], out_edge[e]
                for j in range(width):
                    value = grad_m[far, j] if z[i, j] + edges[edge, j] > zero else zero
                    total[j] += value
                    grad_edges[edge, j] += value
        square, dot = zero, zero
        for j in range(width):
            grad_injection[i, j] += total[j]
            square += x[i, j] * x[i, j]
            dot += total[j] * weight[j] * x[i, j]
        inverse = weight.dtype.type(1 / np.sqrt(square / width + eps))
        pull = inverse * inverse * inverse * dot / weight.dtype.type(width)
        for j in range(width):
            grad_weight[j] += total[j] * x[i, j] * inverse
            grad[i, j] += inverse * weight[j] * total[j] - pull * x[i, j]
