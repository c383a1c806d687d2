"""Sums over the edges of a node that stay in registers, and masks of where a ReLU was positive, for the way back.

All arrays are vectors, rows of `width` numbers behind each other. A mask has one byte for every vector of a row, and
one for every number that fills no vector. Sums over four vectors of a row go along together: the edges are then read
once for a usual width. They are inlined, since a call of a function with so many arrays takes longer than a short sum.
"""

from typing import Any

from ghr.jit import inlined
from ghr.ops.kernels.tile import BYTES
from ghr.ops.kernels.types import Array
from ghr.ops.kernels.vectors import bits_of_positive, lanes_of, load, relu, store, where_bits


def mask_width(width: int, itemsize: int) -> int:
    """Return how many bytes the mask of a row takes."""
    lanes = BYTES // itemsize
    return width // lanes + width % lanes


@inlined
def add_rows(x: Array, index: Array, first: int, last: int, out: Array, out_at: int, width: int) -> None:
    """out += x[index[e]] over the edges from `first` to `last`; `out_at` is the place of its row."""
    lanes = lanes_of(x)
    many, whole = width // (4 * lanes) * (4 * lanes), width // lanes * lanes
    for j in range(0, many, 4 * lanes):
        at = out_at + j
        a, b, c, d = load(out, at), load(out, at + lanes), load(out, at + 2 * lanes), load(out, at + 3 * lanes)
        for e in range(first, last):
            near = index[e] * width + j
            a = a + load(x, near)
            b = b + load(x, near + lanes)
            c = c + load(x, near + 2 * lanes)
            d = d + load(x, near + 3 * lanes)
        _store_four(out, at, lanes, a, b, c, d)
    for j in range(many, whole, lanes):
        a = load(out, out_at + j)
        for e in range(first, last):
            a = a + load(x, index[e] * width + j)
        store(out, out_at + j, a)
    if whole < width:
        for e in range(first, last):
            for j in range(whole, width):
                out[out_at + j] += x[index[e] * width + j]


@inlined
def add_relu(
    z: Array, index: Array, first: int, last: int, edges: Array, edge_row: int, m: Array, m_at: int, width: int
) -> None:
    """m += relu(z[index[e]] + edges[e]); rows of edges are `edge_row` apart, 0 if all share one."""
    lanes, zero = lanes_of(z), z.dtype.type(0)
    many, whole = width // (4 * lanes) * (4 * lanes), width // lanes * lanes
    for j in range(0, many, 4 * lanes):
        at = m_at + j
        a, b, c, d = load(m, at), load(m, at + lanes), load(m, at + 2 * lanes), load(m, at + 3 * lanes)
        for e in range(first, last):
            near, edge = index[e] * width + j, e * edge_row + j
            a = a + relu(_message(z, near, edges, edge))
            b = b + relu(_message(z, near + lanes, edges, edge + lanes))
            c = c + relu(_message(z, near + 2 * lanes, edges, edge + 2 * lanes))
            d = d + relu(_message(z, near + 3 * lanes, edges, edge + 3 * lanes))
        _store_four(m, at, lanes, a, b, c, d)
    for j in range(many, whole, lanes):
        a = load(m, m_at + j)
        for e in range(first, last):
            a = a + relu(_message(z, index[e] * width + j, edges, e * edge_row + j))
        store(m, m_at + j, a)
    if whole < width:
        for e in range(first, last):
            for j in range(whole, width):
                m[m_at + j] += max(z[index[e] * width + j] + edges[e * edge_row + j], zero)


@inlined
def add_relu_masked(
    z: Array, index: Array, first: int, last: int, edges: Array, m: Array, m_at: int, width: int, mask: Array
) -> None:
    """Do the same with edges that differ, and tell in the mask of every edge where the ReLU was positive."""
    lanes, zero = lanes_of(z), z.dtype.type(0)
    vectors, many, whole = width // lanes, width // (4 * lanes) * (4 * lanes), width // lanes * lanes
    row = vectors + width - whole
    for j in range(0, many, 4 * lanes):
        at = m_at + j
        a, b, c, d = load(m, at), load(m, at + lanes), load(m, at + 2 * lanes), load(m, at + 3 * lanes)
        for e in range(first, last):
            near, edge, bits = index[e] * width + j, e * width + j, e * row + j // lanes
            one, two = _message(z, near, edges, edge), _message(z, near + lanes, edges, edge + lanes)
            three = _message(z, near + 2 * lanes, edges, edge + 2 * lanes)
            four = _message(z, near + 3 * lanes, edges, edge + 3 * lanes)
            mask[bits], mask[bits + 1] = bits_of_positive(one), bits_of_positive(two)
            mask[bits + 2], mask[bits + 3] = bits_of_positive(three), bits_of_positive(four)
            a, b, c, d = a + relu(one), b + relu(two), c + relu(three), d + relu(four)
        _store_four(m, at, lanes, a, b, c, d)
    for j in range(many, whole, lanes):
        a = load(m, m_at + j)
        for e in range(first, last):
            one = _message(z, index[e] * width + j, edges, e * width + j)
            mask[e * row + j // lanes] = bits_of_positive(one)
            a = a + relu(one)
        store(m, m_at + j, a)
    if whole < width:
        for e in range(first, last):
            for j in range(whole, width):
                value = z[index[e] * width + j] + edges[e * width + j]
                mask[e * row + vectors + j - whole] = value > zero
                m[m_at + j] += max(value, zero)


@inlined
def add_where(
    mask: Array, edge: Array, x: Array, index: Array, first: int, last: int, out: Array, out_at: int, width: int
) -> None:
    """out += x[index[e]] where the mask of edge[e] is set."""
    lanes = lanes_of(x)
    vectors, many, whole = width // lanes, width // (4 * lanes) * (4 * lanes), width // lanes * lanes
    row = vectors + width - whole
    for j in range(0, many, 4 * lanes):
        at = out_at + j
        a, b, c, d = load(out, at), load(out, at + lanes), load(out, at + 2 * lanes), load(out, at + 3 * lanes)
        for e in range(first, last):
            far, bits = index[e] * width + j, edge[e] * row + j // lanes
            a = a + where_bits(mask[bits], load(x, far))
            b = b + where_bits(mask[bits + 1], load(x, far + lanes))
            c = c + where_bits(mask[bits + 2], load(x, far + 2 * lanes))
            d = d + where_bits(mask[bits + 3], load(x, far + 3 * lanes))
        _store_four(out, at, lanes, a, b, c, d)
    for j in range(many, whole, lanes):
        a = load(out, out_at + j)
        for e in range(first, last):
            a = a + where_bits(mask[edge[e] * row + j // lanes], load(x, index[e] * width + j))
        store(out, out_at + j, a)
    if whole < width:
        for e in range(first, last):
            for j in range(whole, width):
                if mask[edge[e] * row + vectors + j - whole]:
                    out[out_at + j] += x[index[e] * width + j]


@inlined
def _message(z: Array, z_at: int, edges: Array, edge_at: int) -> Any:
    return load(z, z_at) + load(edges, edge_at)


@inlined
def _store_four(out: Array, at: int, lanes: int, a: Any, b: Any, c: Any, d: Any) -> None:
    store(out, at, a)
    store(out, at + lanes, b)
    store(out, at + 2 * lanes, c)
    store(out, at + 3 * lanes, d)
