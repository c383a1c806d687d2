"""Sums over the edges of a node that stay in registers, and masks of where a ReLU was positive, for the way back.

All arrays are vectors, rows of `width` numbers behind each other. A mask has one byte for every vector of a row, and
one for every number that fills no vector.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ghr.jit import called, inlined
from ghr.ops.kernels.tile import BYTES
from ghr.ops.kernels.types import Array

build: Any = cgutils
MANY = 4  # vectors of a row that are summed up together


def mask_width(width: int, itemsize: int) -> int:
    """Return how many bytes the mask of a row takes."""
    lanes = BYTES // itemsize
    return width // lanes + width % lanes


@called
def add_rows(x: Array, index: Array, first: int, last: int, out: Array, out_at: int, width: int) -> None:
    """out += x[index[e]] over the edges from `first` to `last`; `out_at` is the place of its row."""
    lanes = BYTES // x.itemsize
    many, whole = width // (MANY * lanes) * (MANY * lanes), width // lanes * lanes
    for j in range(0, many, MANY * lanes):
        _add_rows_many(x, j, width, index, first, last, out, out_at + j)
    for j in range(many, whole, lanes):
        _add_rows_one(x, j, width, index, first, last, out, out_at + j)
    if whole < width:
        for e in range(first, last):
            for j in range(whole, width):
                out[out_at + j] += x[index[e] * width + j]


@called
def add_relu(
    z: Array, index: Array, first: int, last: int, edges: Array, edge_row: int, m: Array, m_at: int, width: int
) -> None:
    """m += relu(z[index[e]] + edges[e]); rows of edges are `edge_row` apart, 0 if all share one."""
    lanes, zero = BYTES // z.itemsize, z.dtype.type(0)
    many, whole = width // (MANY * lanes) * (MANY * lanes), width // lanes * lanes
    for j in range(0, many, MANY * lanes):
        _add_relu_many(z, j, width, index, first, last, edges, edge_row, m, m_at + j)
    for j in range(many, whole, lanes):
        _add_relu_one(z, j, width, index, first, last, edges, edge_row, m, m_at + j)
    if whole < width:
        for e in range(first, last):
            for j in range(whole, width):
                m[m_at + j] += max(z[index[e] * width + j] + edges[e * edge_row + j], zero)


@called
def add_relu_masked(
    z: Array, index: Array, first: int, last: int, edges: Array, m: Array, m_at: int, width: int, mask: Array
) -> None:
    """Do the same with edges that differ, and tell in the mask of every edge where the ReLU was positive."""
    lanes, zero = BYTES // z.itemsize, z.dtype.type(0)
    vectors, many, whole = width // lanes, width // (MANY * lanes) * (MANY * lanes), width // lanes * lanes
    row = vectors + width - whole
    for j in range(0, many, MANY * lanes):
        _add_relu_masked_many(z, j, width, index, first, last, edges, width, m, m_at + j, mask, row, j // lanes)
    for j in range(many, whole, lanes):
        _add_relu_masked_one(z, j, width, index, first, last, edges, width, m, m_at + j, mask, row, j // lanes)
    if whole < width:
        for e in range(first, last):
            for j in range(whole, width):
                value = z[index[e] * width + j] + edges[e * width + j]
                mask[e * row + vectors + j - whole] = value > zero
                m[m_at + j] += max(value, zero)


@called
def add_where(
    mask: Array, edge: Array, x: Array, index: Array, first: int, last: int, out: Array, out_at: int, width: int
) -> None:
    """out += x[index[e]] where the mask of edge[e] is set."""
    lanes = BYTES // x.itemsize
    vectors, many, whole = width // lanes, width // (MANY * lanes) * (MANY * lanes), width // lanes * lanes
    row = vectors + width - whole
    for j in range(0, many, MANY * lanes):
        _add_where_many(x, j, width, index, first, last, mask, row, j // lanes, edge, out, out_at + j)
    for j in range(many, whole, lanes):
        _add_where_one(x, j, width, index, first, last, mask, row, j // lanes, edge, out, out_at + j)
    if whole < width:
        for e in range(first, last):
            for j in range(whole, width):
                if mask[edge[e] * row + vectors + j - whole]:
                    out[out_at + j] += x[index[e] * width + j]


@inlined
def add_where_row(mask: Array, mask_at: int, x: Array, x_at: int, out: Array, out_at: int, width: int) -> None:
    """Add one row to another where a mask is set; all three by their places."""
    lanes = BYTES // x.itemsize
    vectors, whole = width // lanes, width // lanes * lanes
    for v in range(vectors):
        _add_where_vector(mask[mask_at + v], x, x_at + v * lanes, out, out_at + v * lanes)
    for j in range(whole, width):
        if mask[mask_at + vectors + j - whole]:
            out[out_at + j] += x[x_at + j]


class _Vectors:
    """Vectors inside the arrays of a call."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any, count: int = 1) -> None:
        self.context, self.builder, self.signature, self.args, self.count = context, builder, signature, args, count
        number = next(array.dtype for array in signature.args if getattr(array, "dtype", None) in types.real_domain)
        self.number = context.get_value_type(number)
        self.lanes = BYTES // context.get_abi_sizeof(self.number)
        self.type = ir.VectorType(self.number, self.lanes)
        self.zero = ir.Constant(self.type, [ir.Constant(self.number, 0.0)] * self.lanes)

    def place(self, array: int, at: Any) -> Any:
        kind = self.signature.args[array]
        data = self.context.make_array(kind)(self.context, self.builder, self.args[array]).data
        return self.builder.gep(data, [at])

    def pointers(self, array: int, at: Any) -> list[Any]:
        first = self.builder.bitcast(self.place(array, at), self.type.as_pointer())
        return [self.builder.gep(first, [ir.Constant(ir.IntType(64), k)]) for k in range(self.count)]

    def load(self, array: int, at: Any) -> list[Any]:
        return [self.builder.load(pointer, align=4) for pointer in self.pointers(array, at)]

    def row(self, index: int, e: Any, width: int, column: int) -> Any:
        """The place of a column in the row that an index tells."""
        row = self.builder.load(self.place(index, e))
        return self.add_up(self.args[column], row, self.args[width])

    def add_up(self, at: Any, row: Any, width: Any) -> Any:
        return self.builder.add(at, self.builder.mul(row, width))

    def relu(self, value: Any) -> Any:
        # Not ">": a number that is not one must come through, as it does in PyTorch.
        return self.builder.select(self.builder.fcmp_ordered("<=", value, self.zero), self.zero, value)

    def chosen(self, bits: Any) -> Any:
        bits = bits if self.lanes == 8 else self.builder.trunc(bits, ir.IntType(self.lanes))
        return self.builder.bitcast(bits, ir.VectorType(ir.IntType(1), self.lanes))

    def bits(self, positive: Any) -> Any:
        bits = self.builder.bitcast(positive, ir.IntType(self.lanes))
        return bits if self.lanes == 8 else self.builder.zext(bits, ir.IntType(8))

    def sum_over(self, first: int, last: int, out: int, message: Callable[[Any], Sequence[Any]]) -> None:
        """Add messages of a range of edges to the array `out`, whose place follows it among the arguments."""
        builder, places = self.builder, self.pointers(out, self.args[out + 1])
        sums = [build.alloca_once_value(builder, builder.load(place, align=4)) for place in places]
        with build.for_range(builder, builder.sub(self.args[last], self.args[first])) as loop:
            for total, value in zip(sums, message(builder.add(self.args[first], loop.index)), strict=True):
                builder.store(builder.fadd(builder.load(total), value), total)
        for total, place in zip(sums, places, strict=True):
            builder.store(builder.load(total), place, align=4)


def _make_add_rows(count: int) -> Any:
    @intrinsic
    def add(typing: Any, x: Any, column: Any, width: Any, index: Any, first: Any, last: Any, out: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            vectors = _Vectors(context, builder, signature, args, count)
            vectors.sum_over(4, 5, 6, lambda e: vectors.load(0, vectors.row(3, e, 2, 1)))
            return context.get_dummy_value()

        n = types.intp
        return types.void(x, n, n, index, n, n, out, n), generate

    return add


def _make_add_relu(count: int) -> Any:
    @intrinsic
    def add(
        typing: Any, z: Any, column: Any, width: Any, index: Any, first: Any, last: Any, edges: Any, edge_row: Any,
        m: Any, at: Any,
    ) -> Any:  # fmt: skip
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            vectors = _Vectors(context, builder, signature, args, count)

            def message(e: Any) -> list[Any]:
                near = vectors.load(0, vectors.row(3, e, 2, 1))
                edge = vectors.load(6, vectors.add_up(args[1], e, args[7]))
                return [vectors.relu(builder.fadd(*pair)) for pair in zip(near, edge, strict=True)]

            vectors.sum_over(4, 5, 8, message)
            return context.get_dummy_value()

        n = types.intp
        return types.void(z, n, n, index, n, n, edges, n, m, n), generate

    return add


def _make_add_relu_masked(count: int) -> Any:
    @intrinsic
    def add(
        typing: Any, z: Any, column: Any, width: Any, index: Any, first: Any, last: Any, edges: Any, edge_row: Any,
        m: Any, at: Any, mask: Any, mask_row: Any, place: Any,
    ) -> Any:  # fmt: skip
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            vectors = _Vectors(context, builder, signature, args, count)

            def message(e: Any) -> list[Any]:
                near = vectors.load(0, vectors.row(3, e, 2, 1))
                edge = vectors.load(6, vectors.add_up(args[1], e, args[7]))
                values = [builder.fadd(*pair) for pair in zip(near, edge, strict=True)]
                here = vectors.place(10, vectors.add_up(args[12], e, args[11]))
                for k, value in enumerate(values):
                    positive = builder.fcmp_ordered(">", value, vectors.zero)
                    builder.store(vectors.bits(positive), builder.gep(here, [ir.Constant(ir.IntType(64), k)]))
                return [vectors.relu(value) for value in values]

            vectors.sum_over(4, 5, 8, message)
            return context.get_dummy_value()

        n = types.intp
        return types.void(z, n, n, index, n, n, edges, n, m, n, mask, n, n), generate

    return add


def _make_add_where(count: int) -> Any:
    @intrinsic
    def add(
        typing: Any, x: Any, column: Any, width: Any, index: Any, first: Any, last: Any, mask: Any, mask_row: Any,
        place: Any, edge: Any, out: Any, at: Any,
    ) -> Any:  # fmt: skip
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            vectors = _Vectors(context, builder, signature, args, count)

            def message(e: Any) -> list[Any]:
                far = vectors.load(0, vectors.row(3, e, 2, 1))
                here = vectors.place(6, vectors.row(9, e, 7, 8))
                bits = [builder.load(builder.gep(here, [ir.Constant(ir.IntType(64), k)])) for k in range(count)]
                return [
                    builder.select(vectors.chosen(byte), value, vectors.zero)
                    for byte, value in zip(bits, far, strict=True)
                ]

            vectors.sum_over(4, 5, 10, message)
            return context.get_dummy_value()

        n = types.intp
        return types.void(x, n, n, index, n, n, mask, n, n, edge, out, n), generate

    return add


@intrinsic
def _where(typing: Any, bits: Any, x: Any, x_at: Any, out: Any, out_at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vectors = _Vectors(context, builder, signature, args)
        (value,), (place,) = vectors.load(1, args[2]), vectors.pointers(3, args[4])
        kept = builder.select(vectors.chosen(args[0]), value, vectors.zero)
        builder.store(builder.fadd(builder.load(place, align=4), kept), place, align=4)
        return context.get_dummy_value()

    return types.void(types.uint8, x, types.intp, out, types.intp), generate


# Callers leave out the first argument, which type checkers cannot know.
_add_where_vector: Any = _where
_add_rows_many, _add_rows_one = _make_add_rows(MANY), _make_add_rows(1)
_add_relu_many, _add_relu_one = _make_add_relu(MANY), _make_add_relu(1)
_add_relu_masked_many, _add_relu_masked_one = _make_add_relu_masked(MANY), _make_add_relu_masked(1)
_add_where_many, _add_where_one = _make_add_where(MANY), _make_add_where(1)
