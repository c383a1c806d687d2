"""The exponential function inside kernels, in loops that vectorise."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from ghr.jit import FAST


def exponential(x: Any) -> Any:
    """Return exp(x); inside kernels alone, where the type of x decides how."""
    raise NotImplementedError


def exponential32(x: Any) -> Any:
    """Return exp(x) by Cephes' polynomial, so that loops vectorise (2e-7 relative); from -87 to 88, flat beyond."""
    v = min(max(x, np.float32(-87.0)), np.float32(88.0))
    n = np.floor(v * np.float32(1.44269504) + np.float32(0.5))
    f = v - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4) * f + np.float32(1.3981999507e-3)
    p = p * f + np.float32(8.3334519073e-3)
    p = p * f + np.float32(4.1665795894e-2)
    p = p * f + np.float32(1.6666665459e-1)
    p = p * f + np.float32(5.0000001201e-1)
    p = p * f * f + f + np.float32(1)
    return p * np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)


def exponential64(x: Any) -> Any:
    """Return exp(x)."""
    return np.exp(x)


@overload(exponential, jit_options={"fastmath": FAST, "forceinline": True})
def _exponential_of(x: Any) -> Callable[[Any], Any]:
    return exponential32 if x == types.float32 else exponential64
