import errno
import os
from pathlib import Path

import pytest

from ghr.files import explained, making_folder, replacing, write_bytes, write_text


def test_writes_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "erste Zeile: ä\n")
    write_text(str(path), "zweite")
    assert path.read_bytes() == b"zweite"
    write_bytes(path, b"\x00\x01")
    assert path.read_bytes() == b"\x00\x01"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_temporary_is_a_neighbour_with_the_same_ending(tmp_path: Path) -> None:
    with replacing(tmp_path / "figure.png") as temporary:
        temporary.write_bytes(b"png")
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".png"
        assert not (tmp_path / "figure.png").exists()
    assert (tmp_path / "figure.png").read_bytes() == b"png"


@pytest.mark.parametrize("failure", [RuntimeError("no"), KeyboardInterrupt()])
def test_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, failure: BaseException) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise failure

    with pytest.raises(type(failure)):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_full_disk_is_a_sentence_with_the_same_errno(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with pytest.raises(OSError, match=f"Could not write {path}: No space left on device.") as caught, replacing(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "elsewhere")
    assert caught.value.errno == errno.ENOSPC
    assert os.listdir(tmp_path) == []


def test_missing_folder_and_folder_in_the_way(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"Could not write .*a.txt: No such file or directory\."):
        write_text(tmp_path / "missing" / "a.txt", "")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=r"Could not write .*folder: Is a directory\."):
        write_text(tmp_path / "folder", "")
    assert os.listdir(tmp_path) == ["folder"]


def test_error_without_errno_is_a_sentence_too() -> None:
    assert str(explained("read", "a", OSError("odd"))) == "Could not read a: odd."


def test_a_folder_is_made_with_those_above(tmp_path: Path) -> None:
    with making_folder(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b" / "file").touch()
    with making_folder(tmp_path / "a" / "b"):
        pass
    assert (tmp_path / "a" / "b" / "file").exists()


def fail_in(folder: Path, file: str | None = None) -> None:
    with making_folder(folder):
        if file is not None:
            (folder / file).touch()
        raise RuntimeError("no")


def test_after_a_failure_no_new_folder_stays_empty(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    for folder, file in (("new/deep", None), ("old", None), ("old/new", None), ("kept/deep", "file")):
        with pytest.raises(RuntimeError, match="no"):
            fail_in(tmp_path / folder, file)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "kept",
        "kept/deep",
        "kept/deep/file",
        "old",
    ]


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"Could not make the folder .*deep: Not a directory\."):
        fail_in(tmp_path / "file" / "deep")
