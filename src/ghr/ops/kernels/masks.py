"""Which of the numbers behind a ReLU were positive, one bit each, kept for the way back."""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from ghr.jit import inlined
from ghr.ops.kernels.tile import BYTES
from ghr.ops.kernels.types import Array


def mask_width(width: int, itemsize: int) -> int:
    """Return how many bytes the mask of a row takes: one per vector, and one per number that fills no vector."""
    lanes = BYTES // itemsize
    return width // lanes + width % lanes


@inlined
def add_relu(z: Array, near: int, edges: Array, e: int, m: Array, i: int, width: int, mask: Array) -> None:
    """m[i] += relu(z[near] + edges[e]), and mask[e] tells where that was positive."""
    lanes = BYTES // z.itemsize
    vectors, whole, zero = width // lanes, width // lanes * lanes, z.dtype.type(0)
    for v in range(vectors):
        j = v * lanes
        mask[e, v] = _add_relu_vector(z, near * width + j, edges, e * width + j, m, i * width + j)
    for j in range(whole, width):
        value = z[near, j] + edges[e, j]
        mask[e, vectors + j - whole] = value > zero
        m[i, j] += max(value, zero)


@inlined
def add_where(mask: Array, e: int, x: Array, far: int, out: Array, row: int, width: int) -> None:
    """out[row] += x[far] wherever mask[e] is set."""
    lanes = BYTES // x.itemsize
    vectors, whole = width // lanes, width // lanes * lanes
    for v in range(vectors):
        _add_where_vector(mask[e, v], x, far * width + v * lanes, out, row * width + v * lanes)
    for j in range(whole, width):
        if mask[e, vectors + j - whole]:
            out[row, j] += x[far, j]


class _Vectors:
    """Vectors inside the arrays of a call, each array followed by the flat place that is meant."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any, array: int) -> None:
        self.context, self.builder, self.signature, self.args = context, builder, signature, args
        number = context.get_value_type(signature.args[array].dtype)
        self.lanes = BYTES // context.get_abi_sizeof(number)
        self.type = ir.VectorType(number, self.lanes)
        self.zero = ir.Constant(self.type, [ir.Constant(number, 0.0)] * self.lanes)

    def pointer(self, index: int) -> Any:
        array = self.context.make_array(self.signature.args[index])(self.context, self.builder, self.args[index])
        place = self.builder.gep(array.data, [self.args[index + 1]])
        return self.builder.bitcast(place, self.type.as_pointer())

    def load(self, index: int) -> Any:
        return self.builder.load(self.pointer(index), align=4)

    def add(self, index: int, value: Any) -> None:
        total = self.builder.fadd(self.load(index), value)
        self.builder.store(total, self.pointer(index), align=4)


@intrinsic
def _relu(typing: Any, z: Any, z_at: Any, edges: Any, edges_at: Any, m: Any, m_at: Any) -> Any:
    at = types.intp

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vectors = _Vectors(context, builder, signature, args, 0)
        value = builder.fadd(vectors.load(0), vectors.load(2))
        positive = builder.fcmp_ordered(">", value, vectors.zero)
        # Not ">": a number that is not one must come through, as it does in PyTorch.
        kept = builder.select(builder.fcmp_ordered("<=", value, vectors.zero), vectors.zero, value)
        vectors.add(4, kept)
        bits = builder.bitcast(positive, ir.IntType(vectors.lanes))
        return bits if vectors.lanes == 8 else builder.zext(bits, ir.IntType(8))

    return types.uint8(z, at, edges, at, m, at), generate


@intrinsic
def _where(typing: Any, bits: Any, x: Any, x_at: Any, out: Any, out_at: Any) -> Any:
    at = types.intp

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vectors = _Vectors(context, builder, signature, args, 1)
        bits = args[0] if vectors.lanes == 8 else builder.trunc(args[0], ir.IntType(vectors.lanes))
        chosen = builder.bitcast(bits, ir.VectorType(ir.IntType(1), vectors.lanes))
        vectors.add(3, builder.select(chosen, vectors.load(1), vectors.zero))
        return context.get_dummy_value()

    return types.void(types.uint8, x, at, out, at), generate


_add_relu_vector: Any = _relu  # callers leave out the first argument, which type checkers cannot know
_add_where_vector: Any = _where
