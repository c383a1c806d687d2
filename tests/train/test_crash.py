"""A run that is killed and started again ends as if it had never been killed."""

import json
import os
import random
import shutil
import time
from collections.abc import Callable
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest
from tiny_training import long_run, recurrent, rings

from ghr.train import TrainConfig, train

CALLS = ("replace", "rename", "fsync", "mkdir", "unlink", "rmdir", "ftruncate")


class Killed(BaseException):
    """The process is gone: nothing catches this, and nothing is written any more."""


class Mortal:
    """Counts the calls that change the disk and lets every one after ``lives`` fail, cleaning up included."""

    def __init__(self, patch: pytest.MonkeyPatch, lives: float) -> None:
        self.lives = lives
        self.calls = 0
        for name in CALLS:
            patch.setattr(os, name, self._counting(getattr(os, name)))

    def _counting(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **options: Any) -> Any:
            if self.calls >= self.lives:
                raise Killed
            self.calls += 1
            return call(*args, **options)

        return counted


def small_run(path: Path, epochs: int = 3) -> dict[str, Any]:
    config = TrainConfig(epochs=epochs, batch_size=4, lr=1e-2, schedule="plateau", plateau_patience=0)
    return train(recurrent(dropout=0.1), rings(4), rings(2, seed=1), config, path, quiet=True)


def outcome(path: Path) -> dict[str, Any]:
    """Everything a run leaves, but the time it took."""
    files: dict[str, Any] = {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file() and file.name not in ("metrics.jsonl", "result.json", "state.pt")
    }
    lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    result = json.loads((path / "result.json").read_text())
    for timed in (*lines, result):
        del timed["seconds"]
    del result["cpu_seconds"]
    return {**files, "metrics": lines, "result": result}


def test_killed_between_any_two_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        mortal = Mortal(patch, lives=float("inf"))
        small_run(tmp_path / "whole")
    expected = outcome(tmp_path / "whole")
    assert [line["epoch"] for line in expected["metrics"]] == [1, 2, 3]
    assert mortal.calls > 40
    for lives in range(mortal.calls):
        path = tmp_path / str(lives)
        with monkeypatch.context() as patch:
            Mortal(patch, lives=lives)
            with pytest.raises(Killed):
                small_run(path)
        small_run(path)
        assert outcome(path) == expected, f"killed after {lives} calls"


def test_killed_between_any_two_writes_of_a_run_made_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_run(tmp_path / "whole", epochs=2)
    small_run(tmp_path / "short", epochs=1)
    expected = outcome(tmp_path / "whole")
    shutil.copytree(tmp_path / "short", tmp_path / "longer")
    with monkeypatch.context() as patch:
        mortal = Mortal(patch, lives=float("inf"))
        small_run(tmp_path / "longer", epochs=2)
    assert outcome(tmp_path / "longer") == expected
    for lives in range(mortal.calls):
        path = tmp_path / str(lives)
        shutil.copytree(tmp_path / "short", path)
        with monkeypatch.context() as patch:
            Mortal(patch, lives=lives)
            with pytest.raises(Killed):
                small_run(path, epochs=2)
        small_run(path, epochs=2)
        assert outcome(path) == expected, f"killed after {lives} calls"


def test_killed_by_the_system_at_random_moments(tmp_path: Path, workers: ForkServerContext) -> None:
    started = time.monotonic()
    whole = workers.Process(target=long_run, args=(tmp_path / "whole",))
    whole.start()
    whole.join()
    assert whole.exitcode == 0
    duration = time.monotonic() - started
    expected = outcome(tmp_path / "whole")
    chance = random.Random()
    kills = attempts = 0
    while kills < 4:
        path = tmp_path / f"killed-{attempts}"
        attempts += 1
        finished, patience = False, duration
        while not finished:
            process = workers.Process(target=long_run, args=(path,))
            process.start()
            process.join(timeout=chance.uniform(0.1, 0.4) * patience)
            patience *= 1.3  # on a busy machine no epoch may fit into the time that the first run took
            finished = process.exitcode is not None
            process.kill()
            process.join()
            kills += not finished
            assert not finished or process.exitcode == 0
        assert outcome(path) == expected
