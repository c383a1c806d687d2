import numba
import numpy as np
import pytest

from ghr.ops.kernels.masks import add_relu, add_where, mask_width


@numba.njit
def relu_of_all(z, edges, m, mask):
    for e in range(edges.shape[0]):
        add_relu(z, e % z.shape[0], edges, e, m, e % m.shape[0], z.shape[1], mask)


@numba.njit
def add_all(mask, x, out):
    for e in range(mask.shape[0]):
        add_where(mask, e, x, e % x.shape[0], out, e % out.shape[0], x.shape[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 3, 4, 8, 11, 32])
def test_messages_and_their_masks(width, dtype):
    rng = np.random.default_rng(width)
    z, edges, m = (rng.standard_normal((rows, width)).astype(dtype) for rows in (3, 7, 2))
    edges[4] = -z[4 % 3]  # exactly zero is not positive
    edges[5, 0] = np.nan
    expected, back = m.copy(), np.zeros((4, width), dtype)
    x = rng.standard_normal((5, width)).astype(dtype)
    expected_back = back.copy()
    for e in range(7):
        message = z[e % 3] + edges[e]
        expected[e % 2] += np.where(message <= 0, 0, message)
        expected_back[e % 4] += np.where(message > 0, x[e % 5], 0)
    mask = np.empty((7, mask_width(width, z.itemsize)), np.uint8)
    relu_of_all(z, edges, m, mask)
    np.testing.assert_allclose(m, expected, rtol=1e-6)
    add_all(mask, x, back)
    np.testing.assert_allclose(back, expected_back, rtol=1e-6, atol=1e-6)
