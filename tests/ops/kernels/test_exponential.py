import numba
import numpy as np
import pytest

from ghr.ops.kernels.exponential import exponential


@numba.njit
def exponential_of_all(x, out):
    for i in range(x.size):
        out[i] = exponential(x[i])


@pytest.mark.parametrize(("dtype", "bound"), [(np.float32, 3e-7), (np.float64, 1e-15)])
def test_relative_error(dtype, bound):
    x = np.linspace(-86, 87, 20_001).astype(dtype)
    out = np.empty_like(x)
    exponential_of_all(x, out)
    np.testing.assert_allclose(out, np.exp(x.astype(np.longdouble)), rtol=bound)


def test_in_single_precision_it_is_flat_beyond_what_fits():
    x = np.array([-1e30, -200, -87, 88, 200, 1e30], np.float32)
    out = np.empty_like(x)
    exponential_of_all(x, out)
    assert out[0] == out[1] == out[2] > 0
    assert out[3] == out[4] == out[5] < np.inf


def test_outside_kernels_it_is_nothing():
    with pytest.raises(NotImplementedError):
        exponential(1.0)
