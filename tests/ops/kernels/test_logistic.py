import numba
import numpy as np
import pytest

from ghr.ops.kernels.logistic import logistic


@numba.njit
def logistic_of_all(x, out):
    for i in range(x.size):
        out[i] = logistic(x[i])


@pytest.mark.parametrize(("dtype", "bound"), [(np.float32, 2e-7), (np.float64, 1e-15)])
def test_relative_error(dtype, bound):
    x = np.linspace(-80, 80, 20_001).astype(dtype)
    out = np.empty_like(x)
    logistic_of_all(x, out)
    np.testing.assert_allclose(out, 1 / (1 + np.exp(-x.astype(np.longdouble))), rtol=bound)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_far_out_it_ends_at_zero_and_one(dtype):
    x = np.array([-np.inf, -1e30, 1e30, np.inf], dtype)
    out = np.empty_like(x)
    logistic_of_all(x, out)
    np.testing.assert_allclose(out, [0, 0, 1, 1], atol=1e-37)
