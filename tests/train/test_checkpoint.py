import os
from pathlib import Path

import pytest
import torch
from tiny_training import recurrent

from ghr.train.checkpoint import STATE, WEIGHTS, newest_checkpoint, save_checkpoint, tidy
from ghr.weights import weights_to_bytes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run" / "last"


def save(folder: Path, *epochs: int) -> None:
    for epoch in epochs:
        save_checkpoint(folder, epoch, weights_to_bytes(recurrent(seed=epoch)), {"epoch": epoch, "lr": 0.1})


def test_newest_is_the_highest_epoch(folder: Path) -> None:
    assert newest_checkpoint(folder) is None
    save(folder, 9998, 9999, 10000)
    checkpoint = newest_checkpoint(folder)
    assert checkpoint is not None
    assert checkpoint.epoch == 10000
    assert checkpoint.state == {"epoch": 10000, "lr": 0.1}
    assert checkpoint.weights == weights_to_bytes(recurrent(seed=10000))


def test_keeps_the_one_before(folder: Path) -> None:
    save(folder, 0, 1, 2, 3)
    assert sorted(os.listdir(folder)) == ["epoch-0002", "epoch-0003"]
    assert sorted(os.listdir(folder / "epoch-0003")) == [WEIGHTS, STATE]


def test_unfinished_ones_are_ignored_and_removed(folder: Path) -> None:
    save(folder, 1)
    (folder / "epoch-0002.tmp").mkdir()
    (folder / "epoch-0002.tmp" / WEIGHTS).write_bytes(b"half")
    checkpoint = newest_checkpoint(folder)
    assert checkpoint is not None
    assert checkpoint.epoch == 1
    tidy(folder)
    assert os.listdir(folder) == ["epoch-0001"]


@pytest.mark.parametrize("name", [WEIGHTS, STATE])
@pytest.mark.parametrize("kept", [None, 0.0, 0.5, 0.99])
def test_damage_says_what_to_delete(folder: Path, name: str, kept: float | None) -> None:
    save(folder, 1, 2)
    file = folder / "epoch-0002" / name
    if kept is None:
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[: int(kept * file.stat().st_size)])
    expected = f"{file} is damaged or cut short .*Delete the folder {file.parent} to go on from epoch-0001, or "
    with pytest.raises(ValueError, match=expected):
        newest_checkpoint(folder)
    (folder / "epoch-0001").rename(folder / "elsewhere")
    with pytest.raises(ValueError, match=f"Delete the folder {folder.parent} to start again"):
        newest_checkpoint(folder)


def test_refuses_a_state_that_could_run_code(folder: Path, tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(tmp_path / "evil"),)

    save(folder, 1)
    torch.save({"epoch": Evil()}, folder / "epoch-0001" / STATE)
    with pytest.raises(ValueError, match="cannot be read"):
        newest_checkpoint(folder)
    assert not (tmp_path / "evil").exists()


def test_failure_names_the_checkpoint_and_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(folder, 1)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    for call in ("replace", "rename", "mkdir"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, refuse)
            with pytest.raises(PermissionError, match=r"Could not write .*last/epoch-0002: Permission denied\."):
                save(folder, 2)
        assert os.listdir(folder) == ["epoch-0001"]
