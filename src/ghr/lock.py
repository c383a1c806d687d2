"""Locks between processes that the system itself gives back when a process ends, however it ends."""

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ghr.files import explained

_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
_PATIENCE = 1.0  # seconds; somebody who only asks whether a lock is held holds it for an instant


@contextmanager
def hold(path: str | os.PathLike[str]) -> Iterator[bool]:
    """Hold the lock file at ``path`` for the time of the block; yield whether it could be had.

    The file stays when the lock is given back: removing it would let two processes hold locks of the same name. A
    process that was killed holds nothing any more, so there are no stale locks.

    Args:
        path: The lock file, made where it is missing. Its folder must exist.

    Raises:
        OSError: Where the file cannot be made, or the file system has no locks.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise explained("open the lock file", path, error) from error
    try:
        mine, end = _try(handle, path), time.monotonic() + _PATIENCE
        while not mine and time.monotonic() < end:
            time.sleep(0.05)
            mine = _try(handle, path)
        try:
            yield mine
        finally:
            if mine:
                _release(handle)
    finally:
        os.close(handle)


def is_held(path: str | os.PathLike[str]) -> bool:
    """Whether a process holds the lock file at ``path`` now."""
    if not Path(path).exists():
        return False
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError as error:
        raise explained("open the lock file", path, error) from error
    try:
        free = _try(handle, path)
        if free:
            _release(handle)
        return not free
    finally:
        os.close(handle)


def _try(handle: int, path: str | os.PathLike[str]) -> bool:
    try:
        _lock(handle)
    except OSError as error:
        if error.errno in _BUSY:
            return False
        raise explained("lock", path, error) from error
    return True


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _release(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        with suppress(OSError):
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _release(handle: int) -> None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)
