"""Published archives: one member of a zip or tar file at a time, under a name that we choose."""

import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ghr.datasets.storage.download import download


def fetch(url: str, path: Path, *, offline: str) -> Path:
    """Download an archive as :func:`~ghr.datasets.storage.download.download` does.

    Args:
        url: Where it is.
        path: Where it goes.
        offline: What to do without a connection, as a sentence.

    Raises:
        ConnectionError: With that sentence, and the place where the file can be put by hand.
    """
    try:
        return download(url, path, check=check_members)
    except ConnectionError as error:
        raise ConnectionError(f"{error} {offline} A copy of the file can also be put at {path} by hand.") from error


def check_members(path: Path) -> None:
    """Refuse what is neither a zip nor a tar file, such as a page of text, or one that is cut off."""
    members(path)


def members(path: Path) -> list[str]:
    """Return the names in an archive.

    Raises:
        ValueError: Where it is none, or damaged.
    """
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return archive.namelist()
        with tarfile.open(path) as archive:
            return [member.name for member in archive if member.isfile()]
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise ValueError(f"{path} is not a zip or tar file, or is damaged: {error}.") from error


@contextmanager
def unpack(path: Path, names: Sequence[str]) -> Iterator[dict[str, Path]]:
    """Yield temporary copies of some members by name; nothing else is unpacked, and names in the file are not trusted.

    Args:
        path: The archive.
        names: Members, such as ``["folder/train.pt"]``.

    Raises:
        ValueError: Where a member is missing.
    """
    missing = sorted(set(names) - set(members(path)))
    if missing:
        raise ValueError(f"{path} has no {', '.join(missing)}; it has {', '.join(members(path)[:20])}.")
    with tempfile.TemporaryDirectory() as folder:
        copies = {name: Path(folder, f"{index}.pt") for index, name in enumerate(names)}
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for name, copy in copies.items():
                    _copy(archive.open(name), copy)
        else:
            with tarfile.open(path) as archive:
                for member in archive:
                    if member.name in copies and (content := archive.extractfile(member)) is not None:
                        _copy(content, copies[member.name])
        yield copies


def _copy(content: IO[bytes], path: Path) -> None:
    with content, open(path, "wb") as file:
        shutil.copyfileobj(content, file)
