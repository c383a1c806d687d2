"""The logistic function inside kernels, in loops that vectorise."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from ghr.jit import FAST


def logistic(x: Any) -> Any:
    """Return 1 / (1 + exp(-x)); inside kernels alone, where the type of x decides how."""
    raise NotImplementedError


def logistic32(x: Any) -> Any:
    """Return 1 / (1 + exp(-x)), with Cephes' polynomial for the exponential, so that loops vectorise (2e-7 relative).

    The division is numpy's, because one that raises an error for zero would not vectorise. Far out the result stays at
    1.6e-38, above the denormal numbers, which take a CPU several times as long: gates do get that far out.
    """
    one = np.float32(1)
    v = min(max(-x, np.float32(-87.0)), np.float32(87.0))
    n = np.floor(v * np.float32(1.44269504) + np.float32(0.5))
    f = v - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4) * f + np.float32(1.3981999507e-3)
    p = p * f + np.float32(8.3334519073e-3)
    p = p * f + np.float32(4.1665795894e-2)
    p = p * f + np.float32(1.6666665459e-1)
    p = p * f + np.float32(5.0000001201e-1)
    p = p * f * f + f + one
    power = np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)
    return np.divide(one, one + p * power)


def logistic64(x: Any) -> Any:
    """Return 1 / (1 + exp(-x))."""
    return np.divide(1.0, 1.0 + np.exp(-x))


@overload(logistic, jit_options={"fastmath": FAST, "forceinline": True})
def _logistic_of(x: Any) -> Callable[[Any], Any]:
    return logistic32 if x == types.float32 else logistic64
