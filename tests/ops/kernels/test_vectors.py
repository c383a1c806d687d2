import numba
import numpy as np
import pytest

from ghr.ops.kernels.vectors import (
    exp,
    lanes_of,
    larger,
    largest_of,
    load,
    padded,
    smaller,
    spread,
    store,
    sum_of,
    where_equal,
    where_positive,
    wide_lanes_of,
)


@numba.njit(error_model="numpy")
def combine(a, b, out):
    """All operations, one row of the result each."""
    x, y, width = load(a, 0), load(b, 0), out.shape[1]
    store(out, 0, x + y)
    store(out, width, x - y)
    store(out, 2 * width, x * y)
    store(out, 3 * width, x / y)
    store(out, 4 * width, larger(x, y))
    store(out, 5 * width, smaller(x, y))
    store(out, 6 * width, where_positive(x, x, y))
    store(out, 7 * width, where_equal(x, y, x, y + y))
    store(out, 8 * width, exp(x))
    store(out, 9 * width, spread(sum_of(x)))
    store(out, 10 * width, spread(largest_of(x)))


@pytest.mark.parametrize(("dtype", "lanes", "error"), [(np.float32, 8, 1e-6), (np.float64, 4, 1e-15)])
def test_every_operation_is_that_of_numpy(dtype, lanes, error):
    a = np.array([-3.0, 0.5, 2.0, -80.0, 80.0, 0.0, 1.0, -1.5], dtype)[:lanes]
    b = np.array([1.0, 0.5, -2.0, 4.0, 3.0, 2.0, 1.0, -0.5], dtype)[:lanes]
    out = np.empty((11, lanes), dtype)
    combine(a, b, out)
    expected = [
        a + b, a - b, a * b, a / b, np.maximum(a, b), np.minimum(a, b), np.where(a > 0, a, b),
        np.where(a == b, a, 2 * b), np.exp(a), np.full(lanes, a.sum()),
        np.full(lanes, a.max()),
    ]  # fmt: skip
    np.testing.assert_allclose(out, np.stack(expected), rtol=error)


@pytest.mark.parametrize(("dtype", "lanes"), [(np.float32, 8), (np.float64, 4)])
def test_lanes_are_those_of_the_type(dtype, lanes):
    @numba.njit
    def count(x):
        return lanes_of(x)

    @numba.njit
    def count_widest(x):
        return wide_lanes_of(x)

    assert count(np.empty(3, dtype)) == lanes
    assert count_widest(np.empty(3, dtype)) in (lanes, 2 * lanes)


def test_exponentials_stay_finite_and_in_order():
    a, b, out = np.full(8, 1000, np.float32), np.ones(8, np.float32), np.empty((11, 8), np.float32)
    a[:4] = -1000
    combine(a, b, out)
    assert np.isfinite(out[8]).all()
    assert (out[8][:4] < 1e-37).all()
    assert (out[8][4:] > 1e37).all()


def test_rows_are_padded_to_whole_vectors():
    assert [padded(width) for width in (1, 8, 9, 16)] == [8, 8, 16, 16]
