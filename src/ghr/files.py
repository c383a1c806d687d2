"""Write files so that no reader, and no killed process, ever leaves or sees half of one."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

TEMPORARY_PREFIX = ".tmp-"


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path in the same folder that becomes ``path`` when the block succeeds.

    The temporary name ends like the final one, so that writers which look at the suffix (``savefig``, ``savez``)
    behave. When the block fails, the temporary file is removed and ``path`` is left as it was.

    Args:
        path: The file to create or replace. Its folder must exist.

    Raises:
        OSError: With the errno of the cause and a sentence naming ``path``, where the file cannot be written.
    """
    target = Path(path)
    temporary = target.with_name(f"{TEMPORARY_PREFIX}{secrets.token_hex(4)}-{target.name}")
    try:
        try:
            yield temporary
            _sync_file(temporary)
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise explained("write", target, error) from error
    sync_folder(target.parent)


@contextmanager
def making_folder(path: str | os.PathLike[str]) -> Iterator[None]:
    """Make a folder, with those above it, for what the block puts there; if the block fails, no empty one stays.

    Args:
        path: The folder; it may be there already.

    Raises:
        OSError: With a sentence, where it cannot be made.
    """
    folder = Path(path)
    new = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explained("make the folder", folder, error) from error
    try:
        yield
    except BaseException:
        with suppress(OSError):  # the first that is not empty ends it
            for place in new:
                place.rmdir()
        raise


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Put ``data`` into the file at ``path``, all of it or nothing."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Put ``text`` into the file at ``path`` as UTF-8, all of it or nothing."""
    write_bytes(path, text.encode())


def sync_folder(folder: Path) -> None:
    """Make renames inside ``folder`` survive a power cut, where the system can."""
    # Some file systems, and Windows, cannot open or sync a folder; the rename itself is done by then.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def explained(action: str, path: str | os.PathLike[str], error: OSError) -> OSError:
    """The same error as a sentence, such as ``Could not write a/config.json: No space left on device.``"""
    reason = error.strerror or str(error) or type(error).__name__
    sentence = f"Could not {action} {os.fspath(path)}: {reason.rstrip('.')}."
    return OSError(sentence) if error.errno is None else OSError(error.errno, sentence)


def _sync_file(path: Path) -> None:
    with open(path, "r+b") as file:
        os.fsync(file.fileno())
