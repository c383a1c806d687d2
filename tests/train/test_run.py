import errno
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_training import recurrent

from ghr.train.run import RunDirectory, jsonable
from ghr.weights import weights_to_bytes

CONFIG: dict[str, Any] = {"train": {"lr": 0.1, "epochs": 3}, "model": {"name": "ghr"}}


def test_opens_new_and_again(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "deep" / "run")
    assert run.open(CONFIG) is None
    assert json.loads(run.config.read_text()) == CONFIG
    assert run.open(CONFIG) is None
    assert os.listdir(run.path) == ["config.json"]


def test_another_config_names_every_difference(tmp_path: Path) -> None:
    RunDirectory(tmp_path).open(CONFIG)
    other = {"train": {"lr": 0.2, "epochs": 3}, "model": {"name": "ghr", "steps": 4}}
    with pytest.raises(ValueError, match="another config") as caught:
        RunDirectory(tmp_path).open(other)
    assert "train.lr is 0.1 there and 0.2 now" in str(caught.value)
    assert "model.steps is absent there and 4 now" in str(caught.value)
    assert "epochs" not in str(caught.value)


def test_a_finished_run_returns_its_result_for_its_config_only(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.open(CONFIG)
    result = run.finish({"config": CONFIG, "metrics": {"mae": np.float32(0.5)}})
    assert run.open(CONFIG) == result == {"config": CONFIG, "metrics": {"mae": 0.5}}
    with pytest.raises(ValueError, match=r"train\.lr is 0\.1 there and 0\.2 now"):
        run.open({**CONFIG, "train": {"lr": 0.2, "epochs": 3}})


def test_a_file_or_an_unwritable_folder_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match=r"Could not make the run directory .*file: File exists\."):
        RunDirectory(tmp_path / "file").open(CONFIG)
    with pytest.raises(NotADirectoryError, match="Could not make the run directory"):
        RunDirectory(tmp_path / "file" / "run").open(CONFIG)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(PermissionError, match=r"Could not write .*config\.json: Permission denied\."):
        RunDirectory(tmp_path / "run").open(CONFIG)


def test_damaged_or_missing_config_is_a_sentence(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.open(CONFIG)
    run.config.write_text('{"train": ')
    with pytest.raises(ValueError, match=r"config\.json is not JSON"):
        run.open(CONFIG)
    run.config.write_text("[]")
    with pytest.raises(ValueError, match="must hold a JSON object"):
        run.open(CONFIG)
    run.config.unlink()
    run.last.mkdir()
    with pytest.raises(ValueError, match=r"holds checkpoints but no config\.json"):
        run.open(CONFIG)


def test_leftovers_are_removed(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.open(CONFIG)
    (tmp_path / ".tmp-0123-best.safetensors").write_bytes(b"half")
    (tmp_path / "last" / "epoch-0001.tmp").mkdir(parents=True)
    run.open(CONFIG)
    assert sorted(os.listdir(tmp_path)) == ["config.json", "last"]
    assert os.listdir(run.last) == []


def test_resume_drops_lines_of_epochs_without_a_checkpoint(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.open(CONFIG)
    assert run.resume() is None

    weights = weights_to_bytes(recurrent())
    for epoch in (1, 2, 3):
        run.append_metrics({"epoch": epoch, "val": 1.0})
    run.save(2, weights, {"best_epoch": 2})
    with run.metrics.open("a") as file:
        file.write('{"epoch": 4, "va')
    checkpoint = run.resume()
    assert checkpoint is not None
    assert [json.loads(line)["epoch"] for line in run.metrics.read_text().splitlines()] == [1, 2]
    assert run.read_best() == weights, "the best weights belong to the checkpoint and are written again"


def test_resume_misses_best_weights_of_an_earlier_epoch(tmp_path: Path) -> None:

    run = RunDirectory(tmp_path)
    run.open(CONFIG)
    run.save(2, weights_to_bytes(recurrent()), {"best_epoch": 1})
    with pytest.raises(FileNotFoundError, match="though epoch 1 of this run wrote it"):
        run.resume()


def test_a_line_that_does_not_fit_leaves_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunDirectory(tmp_path)
    run.append_metrics({"epoch": 1})

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=r"Could not write .*metrics\.jsonl: No space left on device\."):
            run.append_metrics({"epoch": 2})
    assert run.metrics.read_text() == '{"epoch": 1}\n'


def test_jsonable() -> None:
    value = {1: (torch.tensor([1.0, float("nan")]), np.int64(3), None, True), "s": {"inf": float("inf")}}
    assert jsonable(value) == {"1": [[1.0, None], 3, None, True], "s": {"inf": None}}
    with pytest.raises(ValueError, match="JSON cannot hold"):
        jsonable({"path": Path("x")})
