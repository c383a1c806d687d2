"""One way to compile CPU kernels, so that they are cached on disk wherever a cache can be written.

A cached kernel is used again only while all files of its folder, and this one, are as they were when it was compiled:
numba alone would look at the kernel's own file, and not at what it calls. So a kernel may call compiled functions of
its own folder alone.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache

from ghr.progress import say

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function with numba; without a writable cache folder it is compiled in every process instead."""
    return _compile(function)


def fast(function: Function) -> Function:
    """Compile a function with sums that the compiler may reorder."""
    return _compile(function, fastmath=FAST)


def kernel(function: Callable[..., None]) -> Callable[..., None]:
    """Compile a function that works on a range of rows, handed out by :func:`ghr.ops.share.share`.

    It counts no references, so it makes no arrays: :mod:`ghr.ops.kernels.arrays` has what takes their place.
    """
    return _compile(function, **UNCOUNTED)


def fast_kernel(function: Callable[..., None]) -> Callable[..., None]:
    """Compile such a function with sums that the compiler may reorder."""
    return _compile(function, **UNCOUNTED, fastmath=FAST)


def parallel_exact(function: Callable[..., None]) -> Callable[..., None]:
    """Compile a function whose `prange` loops run on all threads, every sum and product rounded as it is written.

    That takes three times as long as to compile a :func:`kernel`.
    """
    return _compile(function, parallel=True)


def called(function: Function) -> Function:
    """Compile a function that kernels call: once, where inlining it everywhere would take long.

    Python cannot call it. It is compiled again for every literal number that a kernel gives it: give variables.
    """
    return cast(Function, numba.njit(**COMMON, **INNER, fastmath=FAST)(function))


def inlined(function: Function) -> Function:
    """Compile a function for use inside other kernels alone, with sums that the compiler may reorder."""
    return cast(Function, numba.njit(**COMMON, **INNER, fastmath=FAST, forceinline=True)(function))


def pasted(function: Function) -> Function:
    """Paste a function that returns a part of an array into the kernels that use it, before they are compiled."""
    return cast(Function, numba.njit(**COMMON, **INNER, fastmath=FAST, inline="always")(function))


def exact(function: Function) -> Function:
    """Compile a function for use inside other kernels alone, every sum and product rounded as it is written."""
    return cast(Function, numba.njit(**COMMON, **INNER, forceinline=True)(function))


# Division by zero gives infinity as in numpy: the check for an error would keep loops from being vectorised.
COMMON: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
UNCOUNTED: dict[str, Any] = {"_nrt": False}  # what numba calls its counting of references
INNER: dict[str, Any] = {"no_cpython_wrapper": True, **UNCOUNTED}

# Everything but the assumption that no number is infinite or not a number: those must come through.
FAST = {"reassoc", "contract", "arcp", "nsz", "afn"}


def _compile(function: Function, **options: Any) -> Function:
    dispatcher = numba.njit(**COMMON, **options)(function)
    with suppress(RuntimeError):  # where numba finds no folder to keep compiled code in
        dispatcher._cache = FolderCache(function)
    return cast(Function, dispatcher)


class FolderCache(FunctionCache):
    """What numba keeps of a function on disk, for as long as no file beside it has changed.

    Args:
        function: The function to be compiled.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        folder = Path(function.__code__.co_filename).parent
        self._cache_file._source_stamp = digest_folder(folder)

    def load_overload(self, *args: Any) -> Any:
        """Return what was compiled for these types, or nothing; then it is compiled next, which is worth a word."""
        found = super().load_overload(*args)  # type: ignore[no-untyped-call]
        if found is None:
            _tell()
        return found


@lru_cache
def digest_folder(folder: Path) -> str:
    """Return a hash of all Python files of a folder, and of this one."""
    digest = hashlib.sha256()
    for path in (*sorted(folder.glob("*.py")), Path(__file__)):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


@lru_cache
def _tell() -> None:
    say("Compiling kernels for this machine, once; that takes up to half a minute. `ghr warm-up` does it ahead.")
