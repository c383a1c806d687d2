import numba
import numpy as np
import pytest

from ghr.ops.kernels.tile import BYTES, TALL, WIDE, tile_narrow, tile_one, tile_wide


@numba.njit
def narrow(a, a_row, a_step, b, init, init_row, c, depth):
    width = b.shape[1]
    tile_narrow(a, 0, a_row, a_step, b, 0, width, init, 0, init_row, c, 0, c.shape[1], depth)


@numba.njit
def wide(a, a_row, a_step, b, init, init_row, c, depth):
    width = b.shape[1]
    tile_wide(a, 0, a_row, a_step, b, 0, width, init, 0, init_row, c, 0, c.shape[1], depth)


@numba.njit
def one(a, a_row, a_step, b, init, init_row, c, depth):
    width = b.shape[1]
    tile_one(a, 0, a_row, a_step, b, 0, width, init, 0, init_row, c, 0, c.shape[1], depth)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("tile", "size"), [(narrow, BYTES), (one, WIDE), (wide, 2 * WIDE)])
@pytest.mark.parametrize("depth", [0, 1, 7])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("repeated", [False, True])
def test_product_of_a_tile(tile, size, depth, transposed, repeated, dtype):
    columns = size // np.dtype(dtype).itemsize
    rng = np.random.default_rng(depth)
    a, b, init = (
        rng.standard_normal(shape).astype(dtype) for shape in ((TALL, depth), (depth, columns), (TALL, columns))
    )
    c = np.full((TALL + 1, columns + 1), 9, dtype)
    stored, a_row, a_step = (np.ascontiguousarray(a.T), 1, TALL) if transposed else (a, depth, 1)
    tile(stored, a_row, a_step, b, init, 0 if repeated else columns, c, depth)
    np.testing.assert_allclose(c[:TALL, :columns], (init[0] if repeated else init) + a @ b, atol=1e-5)
    assert (c[TALL] == 9).all()
    assert (c[:, columns] == 9).all()
