import errno
import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_training import recurrent

from ghr.lock import hold, is_held
from ghr.train.directory import FORMAT, BusyError, RunDirectory, check_format, digest, jsonable
from ghr.weights import weights_to_bytes

CONFIG: dict[str, Any] = {"format": FORMAT, "train": {"lr": 0.1, "epochs": 3}, "model": {"name": "ghr"}}


def opened(run: RunDirectory, config: dict[str, Any]) -> dict[str, Any] | None:
    """Open a directory and let it go again, as a process that ends does."""
    with ExitStack() as stack:
        return run.open(config, stack)


def longer(**changes: Any) -> dict[str, Any]:
    return {**CONFIG, "train": {**CONFIG["train"], **changes}}


def test_opens_new_and_again(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "deep" / "run")
    assert opened(run, CONFIG) is None
    assert json.loads(run.config.read_text()) == CONFIG
    assert opened(run, CONFIG) is None
    assert sorted(os.listdir(run.path)) == ["config.json", "lock"]


def test_the_lock_is_held_until_the_stack_is_closed(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    with ExitStack() as stack:
        run.open(CONFIG, stack)
        assert is_held(tmp_path / "lock")
    assert not is_held(tmp_path / "lock")


def test_a_directory_in_which_somebody_works_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    opened(RunDirectory(tmp_path), CONFIG)
    with hold(tmp_path / "lock") as mine:
        assert mine
        with pytest.raises(BusyError, match=r"Another process works in .*; wait for it, or choose another"):
            opened(RunDirectory(tmp_path), longer(epochs=9))
    assert json.loads((tmp_path / "config.json").read_text()) == CONFIG


def test_another_config_names_every_difference(tmp_path: Path) -> None:
    opened(RunDirectory(tmp_path), CONFIG)
    other = {"format": FORMAT, "train": {"lr": 0.2, "epochs": 3}, "model": {"name": "ghr", "steps": 4}}
    with pytest.raises(ValueError, match="belongs to another run") as caught:
        opened(RunDirectory(tmp_path), other)
    assert "train.lr is 0.1 there and 0.2 now" in str(caught.value)
    assert "model.steps is absent there and 4 now" in str(caught.value)
    assert "epochs" not in str(caught.value)
    assert not is_held(tmp_path / "lock"), "a refusal gives the lock back"


def test_what_was_asked_for_is_named_before_what_follows_from_it(tmp_path: Path) -> None:
    one, other = (
        {"format": FORMAT, "architecture": {"hash": value}, "data": {"train": value}, "experiment": {"model": value}}
        for value in "ab"
    )
    opened(RunDirectory(tmp_path), one)
    with pytest.raises(ValueError, match=r"another run: experiment\.model is 'a' there and 'b' now; architecture"):
        opened(RunDirectory(tmp_path), other)


def test_many_differences_are_counted(tmp_path: Path) -> None:
    opened(RunDirectory(tmp_path), {**CONFIG, **{f"a{number}": 0 for number in range(11)}})
    with pytest.raises(ValueError, match=r"a6 is 0 there and 1 now; and 3 more\."):
        opened(RunDirectory(tmp_path), {**CONFIG, **{f"a{number}": 1 for number in range(11)}})


def test_a_directory_of_the_first_version_is_refused(tmp_path: Path) -> None:
    old = {"train": {"lr": 0.1, "epochs": 3}, "model": {"name": "ghr"}}
    (tmp_path / "config.json").write_text(json.dumps(old))
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(ValueError, match=r"written by version 0\.1\.0, which this version does not read .* Train it"):
        opened(RunDirectory(tmp_path), CONFIG)
    with pytest.raises(ValueError, match=r"written in the format 3, .* \(it reads format 2\)"):
        check_format({"format": 3}, tmp_path)


def test_a_finished_run_returns_its_result_for_its_config_only(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    opened(run, CONFIG)
    result = run.finish({"config": CONFIG, "metrics": {"mae": np.float32(0.5)}})
    assert opened(run, CONFIG) == result == {"config": CONFIG, "metrics": {"mae": 0.5}}
    with pytest.raises(ValueError, match=r"train\.lr is 0\.1 there and 0\.2 now"):
        opened(run, longer(lr=0.2))


def test_more_epochs_open_a_finished_run_again(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    opened(run, CONFIG)
    run.save(3, weights_to_bytes(recurrent()), {"best_epoch": 3})
    run.finish({"config": CONFIG})
    assert opened(run, longer(epochs=5)) is None
    assert json.loads(run.config.read_text()) == longer(epochs=5)
    assert not run.result.exists()
    with pytest.raises(ValueError, match=r"train\.epochs is 5 there and 3 now"):
        opened(run, CONFIG)
    with pytest.raises(ValueError, match=r"train\.lr is 0\.1 there and 0\.2 now"):
        opened(run, longer(epochs=9, lr=0.2))


@pytest.mark.parametrize(("old", "new", "allowed"), [(3, 5, True), (3, None, True), (None, 3, False), (5, 3, False)])
def test_more_patience_is_longer_too(tmp_path: Path, old: int | None, new: int | None, allowed: bool) -> None:
    run = RunDirectory(tmp_path)
    opened(run, longer(patience=old))
    if allowed:
        assert opened(run, longer(patience=new)) is None
        return
    with pytest.raises(ValueError, match="patience"):
        opened(run, longer(patience=new))


def test_a_finished_run_without_checkpoints_cannot_go_on(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    opened(run, CONFIG)
    result = run.finish({"config": CONFIG})
    with pytest.raises(ValueError, match="its checkpoints are gone, so it cannot be trained for longer"):
        opened(run, longer(epochs=5))
    assert opened(run, CONFIG) == result


def test_a_file_or_an_unwritable_folder_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match=r"Could not make the run directory .*file: File exists\."):
        opened(RunDirectory(tmp_path / "file"), CONFIG)
    with pytest.raises(NotADirectoryError, match="Could not make the run directory"):
        opened(RunDirectory(tmp_path / "file" / "run"), CONFIG)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(PermissionError, match=r"Could not write .*config\.json: Permission denied\."):
        opened(RunDirectory(tmp_path / "run"), CONFIG)


def test_damaged_or_missing_config_is_a_sentence(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    opened(run, CONFIG)
    run.config.write_text('{"train": ')
    with pytest.raises(ValueError, match=r"config\.json is not JSON"):
        opened(run, CONFIG)
    run.config.write_text("[]")
    with pytest.raises(ValueError, match="must hold a JSON object"):
        opened(run, CONFIG)
    run.config.unlink()
    run.last.mkdir()
    with pytest.raises(ValueError, match=r"holds a run but no config\.json"):
        opened(run, CONFIG)


def test_leftovers_are_removed(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    opened(run, CONFIG)
    (tmp_path / ".tmp-0123-best.safetensors").write_bytes(b"half")
    (tmp_path / "last" / "epoch-0001.tmp").mkdir(parents=True)
    opened(run, CONFIG)
    assert sorted(os.listdir(tmp_path)) == ["config.json", "last", "lock"]
    assert os.listdir(run.last) == []


def test_resume_drops_lines_of_epochs_without_a_checkpoint(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    opened(run, CONFIG)
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


@pytest.fixture
def resumable(tmp_path: Path) -> RunDirectory:
    """A run after its second epoch, whose best weights are those of its first."""
    run = RunDirectory(tmp_path)
    opened(run, CONFIG)
    best = weights_to_bytes(recurrent(seed=1))
    run.write_best(best)
    run.save(2, weights_to_bytes(recurrent()), {"best_epoch": 1, "best_digest": digest(best)})
    return run


def test_resume_takes_best_weights_of_an_earlier_epoch_as_they_are(resumable: RunDirectory) -> None:
    before = resumable.read_best()
    resumable.resume()
    assert resumable.read_best() == before


def test_resume_misses_best_weights_of_an_earlier_epoch(resumable: RunDirectory) -> None:
    resumable.best.unlink()
    with pytest.raises(FileNotFoundError, match=r"is missing, though epoch 1 of this run wrote it. Put it back or"):
        resumable.resume()


@pytest.mark.parametrize("damage", ["cut short", "a bit"])
def test_resume_notices_damaged_best_weights(resumable: RunDirectory, damage: str) -> None:
    whole = resumable.read_best()
    resumable.best.write_bytes(whole[:-8] if damage == "cut short" else whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ValueError, match=r"is damaged: it is not as epoch 1 of this run wrote it. Put it back or"):
        resumable.resume()


def test_best_weights_that_are_not_there_yet_are_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no best weights at .*; a run writes them at the end of its first"):
        RunDirectory(tmp_path).read_best()


def test_loads_the_best_weights_into_a_model_of_the_same_shape(tmp_path: Path) -> None:
    run, model = RunDirectory(tmp_path), recurrent(seed=1)
    run.write_best(weights_to_bytes(recurrent()))
    run.load_best(model)
    assert torch.equal(model.read.weight, recurrent().read.weight)
    run.load_best(model, weights_to_bytes(recurrent(seed=2)))
    assert torch.equal(model.read.weight, recurrent(seed=2).read.weight)
    with pytest.raises(ValueError, match="do not fit Recurrent"):
        run.load_best(recurrent(hidden=4))


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
