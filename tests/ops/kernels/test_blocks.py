import numba
import numpy as np
import pytest

from ghr.ops.kernels import blocks
from ghr.ops.kernels.blocks import ROWS

BOUND = {np.float32: 1e-5, np.float64: 1e-13}


@numba.njit
def product(a, w, w_at, w_row, init, init_at, init_row, c, rows, inner, width):
    blocks.product(a, w, w_at, w_row, init, init_at, init_row, c, rows, inner, width)


@numba.njit
def add_outer(a, g, w, w_at, w_row, rows, inner, width):
    blocks.add_outer(a, g, w, w_at, w_row, rows, inner, width)


@numba.njit
def sigmoid(x, out, size):
    blocks.sigmoid(x, out, size)


def random(*shape, dtype):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("rows", "inner", "width"), [(32, 32, 96), (32, 48, 32), (7, 5, 9), (1, 1, 1), (30, 12, 24)])
def test_product(rows, inner, width, dtype):
    a, w, bias = random(ROWS, inner, dtype=dtype), random(inner, width, dtype=dtype), random(width, dtype=dtype)
    c = np.zeros((ROWS, width), dtype)
    product(a, w, 0, width, bias, 0, 0, c, rows, inner, width)
    np.testing.assert_allclose(c[:rows], a[:rows] @ w + bias, atol=BOUND[dtype] * inner)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_product_with_a_part_of_the_columns_and_onto_what_is_there(dtype):
    a, w, bias = random(ROWS, 8, dtype=dtype), random(8, 44, dtype=dtype), random(44, dtype=dtype)
    c = np.zeros((ROWS, 22), dtype)
    product(a, w, 22, 44, bias, 22, 0, c, 10, 8, 22)
    product(a, w, 0, 44, c, 0, 22, c, 10, 8, 22)
    np.testing.assert_allclose(c[:10], a[:10] @ (w[:, 22:] + w[:, :22]) + bias[22:], atol=10 * BOUND[dtype])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("rows", "inner", "width"), [(32, 32, 48), (31, 6, 21), (3, 1, 2)])
def test_outer_products_add_up(rows, inner, width, dtype):
    a, g, w = (random(*shape, dtype=dtype) for shape in ((ROWS, inner), (ROWS, width), (inner, 2 * width)))
    expected = w.copy()
    expected[:, width:] += a[:rows].T @ g[:rows]
    add_outer(a, g, w, width, 2 * width, rows, inner, width)
    np.testing.assert_allclose(w, expected, atol=BOUND[dtype] * rows)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sigmoid_everywhere(dtype):
    x = np.concatenate([np.linspace(-30, 30, 1001), [-500, 500]]).astype(dtype)
    out = np.empty_like(x)
    sigmoid(x, out, x.size)
    expected = 1 / (1 + np.exp(-x.astype(np.float64).clip(-87, 88)))
    np.testing.assert_allclose(out, expected, rtol=1e-6 if dtype is np.float32 else 1e-14, atol=1e-37)
