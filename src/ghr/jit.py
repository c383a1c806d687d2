"""One way to compile CPU kernels, so that they are cached on disk wherever a cache can be written."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function with numba; without a writable cache folder it is compiled in every process instead."""
    return _compile(function)


def parallel(function: Callable[..., None]) -> Callable[..., None]:
    """Compile a function whose `prange` loops run on all threads, with sums that the compiler may reorder."""
    return _compile(function, parallel=True, fastmath=FAST)


def parallel_exact(function: Callable[..., None]) -> Callable[..., None]:
    """Compile a function whose `prange` loops run on all threads, every sum and product rounded as it is written."""
    return _compile(function, parallel=True)


def called(function: Function) -> Function:
    """Compile a function that kernels call: once, where inlining it everywhere would take long."""
    return cast(Function, numba.njit(**COMMON, fastmath=FAST)(function))


def inlined(function: Function) -> Function:
    """Compile a function for use inside other kernels, with sums that the compiler may reorder."""
    return cast(Function, numba.njit(**COMMON, fastmath=FAST, forceinline=True)(function))


# Division by zero gives infinity as in numpy: the check for an error would keep loops from being vectorised.
COMMON: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

# Everything but the assumption that no number is infinite or not a number: those must come through.
FAST = {"reassoc", "contract", "arcp", "nsz", "afn"}


def _compile(function: Function, **options: Any) -> Function:
    try:
        return cast(Function, numba.njit(cache=True, **COMMON, **options)(function))
    except RuntimeError:  # numba found no folder to keep compiled code in
        return cast(Function, numba.njit(**COMMON, **options)(function))
