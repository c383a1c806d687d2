"""Vectors of numbers inside kernels, one machine register each, so that short rows are as fast as long ones.

A loop over the few channels of a row is too short for a compiler to vectorise well. In kernels, ``load(array, at)`` is
a vector of the numbers from a flat place on; vectors add, subtract, multiply and divide, and ``store(array, at, v)``
writes one. Rows must be as long as a whole number of vectors: see :func:`padded`.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.extending import lower_builtin
from numba.core.typing import templates
from numba.extending import intrinsic, models, register_model

from ghr.ops.kernels.tile import BYTES, WIDE

typed: Any = templates  # numba has types for some of its functions only
primitive: Any = models.PrimitiveModel
lowered: Any = lower_builtin
PADDED = 8  # rows are padded to a multiple of so many numbers: one vector of 32-bit numbers, two of 64-bit ones


def operation(function: Callable[..., Any]) -> Any:
    """Make an operation of a function that generates its instructions."""
    return intrinsic(function)


def padded(width: int) -> int:
    """Return the width of rows that can be read as vectors."""
    return -(-width // PADDED) * PADDED


class Vector(types.Type):
    """The type of vectors of numbers of one type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype, self.lanes = dtype, BYTES * 8 // dtype.bitwidth
        super().__init__(name=f"Vector({dtype})")


@register_model(Vector)
class _VectorModel(primitive):  # type: ignore[misc]
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        number = ir.FloatType() if fe_type.dtype == types.float32 else ir.DoubleType()
        super().__init__(dmm, fe_type, ir.VectorType(number, fe_type.lanes))


def _define(symbol: Any, instruction: str) -> None:
    class Template(typed.AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], Vector) and args[0] == args[1]:
                return typed.signature(args[0], *args)
            return None

    typed.infer_global(symbol)(Template)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args, flags=("contract",))

    lowered(symbol, Vector, Vector)(generate)


for _symbol, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _define(_symbol, _instruction)


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    vector = context.get_value_type(Vector(kind.dtype))
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


def _spread(builder: Any, vector: Any, number: Any) -> Any:
    undefined, first = ir.Constant(vector, ir.Undefined), ir.Constant(ir.IntType(32), 0)
    mask = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(builder.insert_element(undefined, number, first), undefined, mask)


@operation
def lanes_of(typing: Any, array: Any) -> Any:
    """Return how many numbers of an array make a vector; known when a kernel is compiled, so that loops unroll."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.get_constant(types.intp, Vector(array.dtype).lanes)

    return types.intp(array), generate


@operation
def wide_lanes_of(typing: Any, array: Any) -> Any:
    """Return the same for the widest vectors that this CPU has, which tiles are made of."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.get_constant(types.intp, Vector(array.dtype).lanes * (WIDE // BYTES))

    return types.intp(array), generate


@operation
def load(typing: Any, array: Any, at: Any) -> Any:
    """Return the vector that starts at a flat place of an array."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_place(context, builder, sig.args[0], *args), align=array.dtype.bitwidth // 8)

    return Vector(array.dtype)(array, types.intp), generate


@operation
def store(typing: Any, array: Any, at: Any, value: Any) -> Any:
    """Write a vector to a flat place of an array."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = _place(context, builder, sig.args[0], args[0], args[1])
        builder.store(args[2], place, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate


@operation
def fetch(typing: Any, array: Any, at: Any) -> Any:
    """Begin to bring a flat place of an array close to the core, without waiting for it."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        byte, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, whole, whole, whole])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        place = builder.bitcast(builder.gep(data, [args[1]]), byte)
        builder.call(function, [place, *(ir.Constant(whole, number) for number in (0, 3, 1))])  # to read, close, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@operation
def spread(typing: Any, number: Any) -> Any:
    """Return a vector of one number again and again."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _spread(builder, context.get_value_type(sig.return_type), args[0])

    return Vector(number)(number), generate


def _fold(builder: Any, vector: Any, lanes: int, join: Callable[[Any, Any], Any]) -> Any:
    """Return one number of all numbers of a vector, joined in pairs."""
    whole = ir.IntType(32)
    while lanes > 1:
        lanes //= 2
        halves = (
            builder.shuffle_vector(
                vector, vector, ir.Constant(ir.VectorType(whole, lanes), list(range(at, at + lanes)))
            )
            for at in (0, lanes)
        )
        vector = join(*halves)
    return builder.extract_element(vector, ir.Constant(whole, 0))


@operation
def sum_of(typing: Any, value: Any) -> Any:
    """Return the sum of the numbers of a vector, added up in pairs."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _fold(builder, args[0], value.lanes, builder.fadd)

    return value.dtype(value), generate


@operation
def largest_of(typing: Any, value: Any) -> Any:
    """Return the largest number of a vector; of pairs with one that is not a number, the second."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _fold(builder, args[0], value.lanes, lambda a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))

    return value.dtype(value), generate


@operation
def larger(typing: Any, a: Any, b: Any) -> Any:
    """Return the larger numbers of two vectors; that of `b` where one is not a number."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return a(a, b), generate


@operation
def smaller(typing: Any, a: Any, b: Any) -> Any:
    """Return the smaller numbers of two vectors; that of `b` where one is not a number."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", *args), *args)

    return a(a, b), generate


@operation
def where_positive(typing: Any, sign: Any, a: Any, b: Any) -> Any:
    """Return the numbers of `a` where those of `sign` are above zero, and else those of `b`."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        zero = ir.Constant(args[0].type, [0.0] * sign.lanes)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), args[1], args[2])

    return a(sign, a, b), generate


@operation
def where_equal(typing: Any, left: Any, right: Any, a: Any, b: Any) -> Any:
    """Return the numbers of `a` where `left` and `right` are the same, and else those of `b`."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("==", args[0], args[1]), args[2], args[3])

    return a(left, right, a, b), generate


@operation
def relu(typing: Any, value: Any) -> Any:
    """Return the numbers of a vector that are above zero, zero for others, and what is not a number as it is."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        zero = ir.Constant(args[0].type, [0.0] * value.lanes)
        return builder.select(builder.fcmp_ordered(">", zero, args[0]), zero, args[0])  # one instruction of many CPUs

    return value(value), generate


@operation
def bits_of_positive(typing: Any, value: Any) -> Any:
    """Return a byte that has a bit for every number of a vector, set where it is above zero."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        positive = builder.fcmp_ordered(">", args[0], ir.Constant(args[0].type, [0.0] * value.lanes))
        bits = builder.bitcast(positive, ir.IntType(value.lanes))
        return bits if value.lanes == 8 else builder.zext(bits, ir.IntType(8))

    return types.uint8(value), generate


@operation
def where_bits(typing: Any, bits: Any, value: Any) -> Any:
    """Return the numbers of a vector whose bit is set in a byte, and zero for others."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kept = args[0] if value.lanes == 8 else builder.trunc(args[0], ir.IntType(value.lanes))
        kept = builder.bitcast(kept, ir.VectorType(ir.IntType(1), value.lanes))
        return builder.select(kept, args[1], ir.Constant(args[1].type, [0.0] * value.lanes))

    return value(types.uint8, value), generate


@operation
def exp(typing: Any, value: Any) -> Any:
    """Return the exponential: of 32-bit numbers by Cephes' polynomial (2e-7 relative), flat below -87 and above 88."""

    def polynomial(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vector = context.get_value_type(value)
        whole = ir.VectorType(ir.IntType(32), vector.count)

        def constant(number: float) -> Any:
            return ir.Constant(vector, [number] * vector.count)

        def times(a: Any, b: float) -> Any:
            return builder.fmul(a, constant(b), flags=("contract",))

        def plus(a: Any, b: Any) -> Any:
            return builder.fadd(a, b, flags=("contract",))

        x = args[0]
        x = builder.select(builder.fcmp_unordered("<", x, constant(-87.0)), constant(-87.0), x)
        x = builder.select(builder.fcmp_ordered(">", x, constant(88.0)), constant(88.0), x)
        above_zero = plus(times(x, 1.44269504), constant(128.5))  # so that cutting off decimals rounds down
        power = builder.sub(builder.fptosi(above_zero, whole), ir.Constant(whole, [128] * vector.count))
        n = builder.sitofp(power, vector)
        f = plus(plus(x, times(n, -0.693359375)), times(n, 2.12194440e-4))
        total = constant(1.9875691500e-4)
        for part in (1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1):
            total = plus(builder.fmul(total, f, flags=("contract",)), constant(part))
        square = builder.fmul(f, f, flags=("contract",))
        total = plus(plus(builder.fmul(total, square, flags=("contract",)), f), constant(1.0))
        bits = builder.add(power, ir.Constant(whole, [127] * vector.count))
        bits = builder.shl(bits, ir.Constant(whole, [23] * vector.count))
        return builder.fmul(total, builder.bitcast(bits, vector))

    def exact(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        function = builder.module.declare_intrinsic("llvm.exp", [ir.DoubleType()])
        result = args[0]
        for k in range(value.lanes):
            lane = ir.Constant(ir.IntType(32), k)
            power = builder.call(function, [builder.extract_element(args[0], lane)])
            result = builder.insert_element(result, power, lane)
        return result

    return value(value), polynomial if value.dtype == types.float32 else exact
