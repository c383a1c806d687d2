"""Arrays inside kernels, which count no references: memory for blocks of rows, and arrays read as vectors.

Numba counts who holds an array, and writes to that counter whenever an array is sliced or handed on. That takes longer
than a short row, and threads wait for each other's counters. So kernels are compiled without it (:mod:`ghr.jit`). What
Python hands them lives as long as they run; what they reserve themselves they give back at the end.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

build: Any = cgutils
fill_in: Any = populate_array
in_a_row: Any = types.StarArgTuple  # the type of arguments that a star collects
LINE = 64  # bytes of a line of the cache: what memory hands over at once, and where what is reserved begins


def operation(function: Callable[..., Any]) -> Any:
    """Make an operation of a function that generates its instructions."""
    return intrinsic(function)


@operation
def reserve(typing: Any, size: Any, like: Any) -> Any:
    """Return a vector of so many arbitrary numbers of the type of an array; :func:`release` must follow."""
    kind = types.Array(like.dtype, 1, "C")

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        number, whole, byte = context.get_data_type(kind.dtype), args[0].type, ir.IntType(8).as_pointer()
        itemsize = whole(context.get_abi_sizeof(number))
        allocate = build.get_or_insert_function(builder.module, ir.FunctionType(byte, [whole]), "NRT_Allocate")
        memory = builder.call(allocate, [builder.add(builder.mul(args[0], itemsize), whole(2 * LINE))])
        with build.if_unlikely(builder, build.is_null(builder, memory)):
            context.call_conv.return_user_exc(builder, MemoryError, ("There is no memory left for a kernel's blocks.",))
        place = builder.and_(builder.add(builder.ptrtoint(memory, whole), whole(2 * LINE - 1)), whole(-LINE))
        builder.store(memory, _before(builder, place))
        return _make(context, builder, kind, builder.inttoptr(place, number.as_pointer()), args[0], itemsize)

    return kind(types.intp, like), generate


@operation
def release(typing: Any, *arrays: Any) -> Any:
    """Give back what was reserved."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte, whole = ir.IntType(8).as_pointer(), context.get_value_type(types.intp)
        free = build.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), [byte]), "NRT_Free")
        for kind, array in zip(sig.args[0], build.unpack_tuple(builder, args[0]), strict=True):
            place = builder.ptrtoint(context.make_array(kind)(context, builder, array).data, whole)
            builder.call(free, [builder.load(_before(builder, place))])
        return context.get_dummy_value()

    return types.void(in_a_row(arrays)), generate


@operation
def flat(typing: Any, array: Any) -> Any:
    """Return an array as a vector, row behind row."""
    kind = types.Array(array.dtype, 1, "C")

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        source = context.make_array(sig.args[0])(context, builder, args[0])
        return _make(context, builder, kind, source.data, source.nitems, source.itemsize)

    return kind(array), generate


def _before(builder: Any, place: Any) -> Any:
    """Return where the address that the system knows reserved memory by stands: just before it."""
    byte = ir.IntType(8).as_pointer()
    return builder.inttoptr(builder.sub(place, place.type(8)), byte.as_pointer())


def _make(context: Any, builder: Any, kind: Any, data: Any, size: Any, itemsize: Any) -> Any:
    """Return a vector in some memory."""
    array = context.make_array(kind)(context, builder)
    fill_in(array, data=data, shape=[size], strides=[itemsize], itemsize=itemsize, meminfo=None, parent=None)
    return array._getvalue()
