import base64
import zlib

import numpy as np
import pytest

from ghr.view.embed import embed, quantise


def unpack(part):
    """What the page does: planes of bytes, differences along the rows, a scale for every row."""
    raw = np.frombuffer(zlib.decompress(base64.b64decode(part["data"])), "u1").astype(np.int64)
    rows, size = part["shape"]
    step = raw[: rows * size] + (256 * raw[rows * size :] if part["bits"] == 16 else 0)
    code = np.cumsum(step.reshape(rows, size), axis=0) % 2 ** part["bits"]
    most, low, high = 2 ** part["bits"] - 2, np.array(part["low"])[:, None], np.array(part["high"])[:, None]
    value = np.where(code > most, np.nan, low + code / most * (high - low))
    return 10**value if part["log"] else value


@pytest.mark.parametrize("bits", [8, 16])
def test_numbers_are_off_by_half_a_step_at_most(bits):
    values = np.random.default_rng(0).normal(size=(5, 40)) * np.array([1, 1e-6, 1e6, 0, 3])[:, None]
    values[2, 3], values[4, 5] = np.nan, np.inf
    found = unpack(quantise(values, bits))
    known = np.isfinite(values)
    width = np.nanmax(np.where(known, values, np.nan), 1) - np.nanmin(np.where(known, values, np.nan), 1)
    bound = width[:, None] / (2 ** (bits + 1) - 4) + 1e-6 * np.abs(values)
    assert (np.isnan(found) == ~known).all()
    assert (np.abs(found - values)[known] <= (bound + 1e-12)[known]).all()


def test_logarithms_keep_small_numbers_and_leave_out_zero():
    values = np.array([[1e-9, 1e-3, 10.0, 0.0, -1.0]])
    found = unpack(quantise(values, 8, log=True))[0]
    assert np.isnan(found[3:]).all()
    assert np.abs(np.log10(found[:3] / values[0, :3])).max() <= 10 / 508 + 1e-6


def test_what_no_longer_changes_takes_no_room():
    row = np.random.default_rng(0).normal(size=500)
    moving, still = np.random.default_rng(1).normal(size=(64, 500)), np.tile(row, (64, 1))
    assert len(quantise(still)["data"]) < 0.05 * len(quantise(moving)["data"])


def test_a_row_without_numbers():
    assert np.isnan(unpack(quantise(np.full((2, 3), np.nan)))).all()


def test_arrays_as_they_are():
    part = embed([[1, 2], [3, 65535]], "uint16")
    raw = zlib.decompress(base64.b64decode(part["data"]))
    assert (part["shape"], np.frombuffer(raw, "<u2").tolist()) == ([2, 2], [1, 2, 3, 65535])
