"""A register-blocked matrix product, in the vector instructions of whatever CPU numba compiles for."""

from typing import Any

from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.extending import intrinsic

build: Any = cgutils
BYTES = 32  # of a vector: eight 32-bit or four 64-bit numbers
# A CPU with AVX-512 has vectors twice as wide, and twice as many registers for taller tiles.
WIDE, TALL = (64, 8) if binding.get_host_cpu_features().get("avx512f", False) else (BYTES, 4)


def make_tile(rows: int, vectors: int, size: int) -> Any:
    """Return c[r, j] = init[r, j] + sum_k a[r, k] b[k, j] for a tile of `rows` rows and `vectors` vectors of columns.

    A vector has `size` bytes.

    The tile stays in registers over the whole sum. Every array comes with the flat place of its first number and with
    the distances between rows (and, for a, between columns): a distance of 0 for init repeats one row, and swapping
    those of a multiplies by its transpose.
    """

    @intrinsic
    def tile(
        typing: Any, a: Any, a_at: Any, a_row: Any, a_step: Any, b: Any, b_at: Any, b_row: Any,
        init: Any, init_at: Any, init_row: Any, c: Any, c_at: Any, c_row: Any, depth: Any,
    ) -> Any:  # fmt: skip
        at = types.intp
        signature = types.void(a, at, at, at, b, at, at, init, at, at, c, at, at, at)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            number = context.get_value_type(signature.args[0].dtype)
            lanes = size // context.get_abi_sizeof(number)
            vector = ir.VectorType(number, lanes)

            def place(index: int, offset: Any) -> Any:
                array = context.make_array(signature.args[index])(context, builder, args[index])
                return builder.gep(array.data, [builder.add(args[index + 1], offset)])

            def vector_at(pointer: Any) -> Any:
                return builder.bitcast(pointer, vector.as_pointer())

            def whole_number(value: int) -> Any:
                return context.get_constant(types.intp, value)

            def load(index: int, row: Any, j: int) -> Any:
                return builder.load(vector_at(place(index, builder.add(row, whole_number(j * lanes)))), align=4)

            a_row, a_step, b_row, init_row, c_row, depth = (args[i] for i in (2, 3, 6, 9, 12, 13))
            sums = []
            for r in range(rows):
                row = builder.mul(init_row, whole_number(r))
                for j in range(vectors):
                    sums.append(build.alloca_once_value(builder, load(7, row, j)))
            with build.for_range(builder, depth) as loop:
                b_here = builder.mul(loop.index, b_row)
                columns = [load(4, b_here, j) for j in range(vectors)]
                a_here = builder.mul(loop.index, a_step)
                for r in range(rows):
                    scalar = builder.load(place(0, builder.add(a_here, builder.mul(a_row, whole_number(r)))))
                    first = builder.insert_element(
                        ir.Constant(vector, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0)
                    )
                    mask = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
                    spread = builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), mask)
                    for j in range(vectors):
                        place_of_sum = sums[r * vectors + j]
                        product = builder.fmul(spread, columns[j], flags=("contract",))
                        total = builder.fadd(product, builder.load(place_of_sum), flags=("contract",))
                        builder.store(total, place_of_sum)
            for r in range(rows):
                row = builder.mul(c_row, whole_number(r))
                for j in range(vectors):
                    target = place(10, builder.add(row, whole_number(j * lanes)))
                    builder.store(builder.load(sums[r * vectors + j]), vector_at(target), align=4)
            return context.get_dummy_value()

        return signature, generate

    return tile


tile_wide, tile_one, tile_narrow = make_tile(TALL, 2, WIDE), make_tile(TALL, 1, WIDE), make_tile(TALL, 1, BYTES)
