"""Arrays as short text, for a page that holds all it shows."""

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

TYPES = {"int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "float32": "f4"}


def embed(values: ArrayLike, dtype: str) -> dict[str, Any]:
    """Return an array as it is, in a type of JavaScript.

    Args:
        values: The array.
        dtype: A name in :data:`TYPES`.
    """
    array = np.ascontiguousarray(values, dtype=f"<{TYPES[dtype]}")
    return {"type": dtype, "shape": list(array.shape), "data": _pack(array.tobytes())}


def quantise(values: ArrayLike, bits: int = 8, *, log: bool = False) -> dict[str, Any]:
    r"""Return an array :math:`(F, N)` as whole numbers with a scale for every row.

    A number :math:`v` of row :math:`f` becomes :math:`\operatorname{round}\big( (v - a_f) / (b_f - a_f)\, (2^b - 2)
    \big)`, so that it is off by at most a part in :math:`2^{b+1} - 4` of the row's range. The largest whole number
    stands for what is no number. Rows are kept as differences from the one before, which compresses what no longer
    changes to nothing.

    Args:
        values: The array.
        bits: 8 or 16.
        log: Whether the logarithm to base 10 is kept; then what is not above zero is no number.
    """
    array = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if log:
        array = np.log10(np.where(array > 0, array, np.nan))
    there = np.isfinite(array)
    low, high = _ends(array, there)
    most = 2**bits - 2
    width = np.where(high > low, high - low, 1.0)
    scaled = np.clip((np.where(there, array, low[:, None]) - low[:, None]) / width[:, None], 0, 1)
    code = np.where(there, np.round(scaled * most), most + 1).astype(f"u{bits // 8}")
    step = np.diff(code, axis=0, prepend=np.zeros_like(code[:1]))
    planes = [step & 0xFF, step >> 8] if bits == 16 else [step]
    packed = _pack(b"".join(plane.astype("u1").tobytes() for plane in planes))
    return {
        "bits": bits,
        "log": log,
        "shape": list(array.shape),
        "low": low.tolist(),
        "high": high.tolist(),
        "data": packed,
    }


def size_of(embedded: dict[str, Any]) -> int:
    """Return about how many bytes of the page an embedded array takes."""
    return len(embedded["data"]) + 24 * len(embedded.get("low", ())) + 100


def _ends(array: NDArray[np.float64], there: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest and the largest number of every row, in few digits; zero for a row without any."""
    known = there.any(axis=1)
    low = np.where(known, np.where(there, array, np.inf).min(axis=1, initial=np.inf), 0.0)
    high = np.where(known, np.where(there, array, -np.inf).max(axis=1, initial=-np.inf), 0.0)
    return _round(low), _round(high)


def _round(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([float(f"{value:.7g}") for value in values], dtype=np.float64)


def _pack(raw: bytes) -> str:
    return base64.b64encode(zlib.compress(raw, 9)).decode("ascii")
