import numba
import numpy as np
import pytest

from ghr.ops.kernels import masks
from ghr.ops.kernels.masks import mask_width


@numba.njit
def run(z, index, edges, edge_row, sums, m, mask, edge, x, back):
    width = m.size
    masks.add_rows(z, index, 0, index.size, sums, 0, width)
    masks.add_relu_masked(z, index, 1, index.size, edges, m, 0, width, mask)
    masks.add_where(mask, edge, x, index, 1, index.size, back, 0, width)
    masks.add_relu(z, index, 0, index.size, edges, edge_row, x, width, width)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 3, 8, 11, 32, 44])
@pytest.mark.parametrize("shared", [False, True])
def test_sums_over_edges_and_their_masks(width, shared, dtype):
    rng = np.random.default_rng(width)
    z, edges, x = (rng.standard_normal((rows, width)).astype(dtype) for rows in (4, 7, 4))
    index, edge = np.array([0, 3, 3, 1, 2, 0, 2]), np.arange(7)
    edges[4] = -z[2]  # exactly zero is not positive
    edges[5, 0] = np.nan
    sums, m, back = (rng.standard_normal(width).astype(dtype) for _ in range(3))
    message = z[index] + (edges[:1] if shared else edges)
    masked = z[index] + edges
    expected_x = x.copy()
    expected_x[1] += np.where(message <= 0, 0, message).sum(axis=0)
    chosen = np.where(masked[1:] > 0, x[index[1:]], 0).sum(axis=0)
    expected = [sums + z[index].sum(axis=0), m + np.where(masked <= 0, 0, masked)[1:].sum(axis=0), back + chosen]
    mask = np.empty(7 * mask_width(width, z.itemsize), np.uint8)
    flat = x.reshape(-1)
    run(z.reshape(-1), index, edges.reshape(-1), 0 if shared else width, sums, m, mask, edge, flat, back)
    for actual, wanted in zip((sums, m, back, x), (*expected, expected_x), strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-5)
