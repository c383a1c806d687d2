"""One way to compile CPU kernels, so that they are cached on disk wherever a cache can be written."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function with numba; without a writable cache folder it is compiled in every process instead."""
    try:
        return cast(Function, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # numba found no folder to keep compiled code in
        return cast(Function, numba.njit(nogil=True)(function))
