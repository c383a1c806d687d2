"""Which implementation computes: PyTorch everywhere, or the numba kernels on the CPU."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, get_args

import torch
from torch import Tensor

from ghr.threads import check_threads, has_lost_threads, start_threads

Backend = Literal["torch", "numba", "auto"]
VARIABLE = "GHR_BACKEND"


def use(backend: Backend) -> None:
    """Choose the backend from now on.

    ``"auto"``, the default, takes the numba kernels for 32- and 64-bit numbers on the CPU and PyTorch for all else;
    ``"torch"`` always takes PyTorch; ``"numba"`` is like ``"auto"`` but refuses what the kernels cannot compute. The
    environment variable ``GHR_BACKEND`` chooses at the start.
    """
    global _backend
    _backend = _checked(backend)


@contextmanager
def using(backend: Backend) -> Iterator[None]:
    """Choose the backend for a block of code."""
    before = _backend
    use(backend)
    try:
        yield
    finally:
        use(before)


def kernels_for(x: Tensor) -> bool:
    """Whether the numba kernels compute for tensors like `x`.

    They never do in code being compiled, under autocast, or in a process that was forked after they had run.
    """
    if torch.compiler.is_compiling() or torch.is_autocast_enabled("cpu"):
        return False
    fit = x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)
    if _backend == "numba" and not fit:
        raise ValueError(f"The numba backend computes 32- and 64-bit numbers on the CPU; got {x.dtype} on {x.device}.")
    if has_lost_threads():
        if _backend == "numba":
            check_threads("The numba backend")
        return False
    chosen = fit and _backend != "torch"
    start_threads(kernels=chosen)
    return chosen


def _checked(backend: str) -> Backend:
    for known in get_args(Backend):
        if backend == known:
            return known  # type: ignore[no-any-return]
    raise ValueError(f"Unknown backend {backend!r}; known are {', '.join(get_args(Backend))}.")


_backend: Backend = _checked(os.environ.get(VARIABLE, "auto"))
