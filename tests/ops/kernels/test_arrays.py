import ast
from pathlib import Path

import numba
import numpy as np
import pytest

from ghr.jit import UNCOUNTED, kernel
from ghr.ops.kernels import arrays
from ghr.ops.kernels.arrays import LINE, release, reserve


@kernel
def add_three(x, out, places):
    first, second = reserve(x.size, x), reserve(2 * x.size, x)
    places[0], places[1] = first.ctypes.data, second.ctypes.data
    for i in range(x.size):
        first[i], second[i], second[x.size + i] = x[i], x[i], x[i]
    for i in range(x.size):
        out[i] = first[i] + second[i] + second[x.size + i]
    release(first, second)


@numba.njit
def flat(array):
    vector = arrays.flat(array)
    vector[1] = 7
    return vector.size


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("size", [0, 1, 15, 1000])
def test_reserved_memory_begins_on_a_line_and_overlaps_nothing(size, dtype):
    x, out, places = np.arange(size).astype(dtype), np.zeros(size, dtype), np.zeros(2, np.int64)
    add_three(x, out, places)
    np.testing.assert_array_equal(out, 3 * x)
    assert (places % LINE == 0).all()
    assert abs(places[1] - places[0]) >= x.nbytes


@kernel
def waste(size, like):
    block = reserve(size, like)
    release(block)


def test_memory_that_is_not_there_is_an_error():
    waste(10, np.zeros(1))
    with pytest.raises(MemoryError, match="no memory left for a kernel's blocks"):
        waste(1 << 58, np.zeros(1))


def test_vectors_share_the_memory_of_arrays():
    array = np.zeros((2, 3))
    assert flat(array) == 6
    assert array[0, 1] == 7


def test_kernels_count_no_references():
    x = np.zeros(3, np.float32)
    compiled = numba.njit(**UNCOUNTED)(add_three.py_func)  # of code from a cache nothing is known
    compiled(x, x.copy(), np.zeros(2, np.int64))
    (code,) = compiled.inspect_llvm().values()
    assert "NRT_Allocate" in code
    assert "NRT_incref" not in code


def functions_that_reserve():
    for file in sorted(Path(arrays.__file__).parent.glob("*.py")):
        for function in ast.parse(file.read_text()).body:
            if (
                isinstance(function, ast.FunctionDef)
                and "reserve(" in ast.unparse(function)
                and file.name != "arrays.py"
            ):
                yield pytest.param(function, id=f"{file.stem}.{function.name}")


@pytest.mark.parametrize("function", [*functions_that_reserve()])
def test_what_a_function_reserves_it_releases_at_its_end(function):
    reserved, begun = [], None
    for place, statement in enumerate(function.body):
        if "reserve(" in ast.unparse(statement):
            begun = place if begun is None else begun
            assert isinstance(statement, ast.Assign), "reserve in a plain assignment, outside of loops"
            (targets,) = statement.targets
            pairs = zip(
                getattr(targets, "elts", [targets]), getattr(statement.value, "elts", [statement.value]), strict=True
            )
            reserved += [name.id for name, value in pairs if "reserve(" in ast.unparse(value)]
    assert ast.unparse(function.body[-1]) == f"release({', '.join(reserved)})"
    behind = [node for statement in function.body[begun:] for node in ast.walk(statement)]
    assert not any(isinstance(node, ast.Return | ast.Raise) for node in behind)
