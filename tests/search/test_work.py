import json
import logging
import multiprocessing
import os
import signal
import time
from dataclasses import replace

import pytest

from ghr.search import Choice, open_search, work
from ghr.train import NotFiniteError


def start(search, folder, root, trials, higher_is_better=False):
    work(search, open_search(search, folder, higher_is_better=higher_is_better), root, trials=trials, quiet=True)


def results(folder):
    return [json.loads(file.read_text()) for file in sorted(folder.glob("trials/*/result.json"))]


def test_every_trial_is_a_run_and_its_score_the_best_of_validation(tmp_path, search):
    start(search, tmp_path / "search", tmp_path / "data", 3)
    journal = open_search(search, tmp_path / "search", higher_is_better=False)
    done = {trial.number: trial for trial in journal.done()}
    found = results(tmp_path / "search")
    assert [done[number].score for number in range(3)] == [result["best_val"] for result in found]
    assert [done[number].chosen["lr"] for number in range(3)] == [result["config"]["train"]["lr"] for result in found]
    start(search, tmp_path / "search", tmp_path / "data", 3)
    assert len(results(tmp_path / "search")) == 3, "there are enough"
    start(search, tmp_path / "search", tmp_path / "data", 4)
    assert len(results(tmp_path / "search")) == 4


def test_two_processes_share_the_trials(tmp_path, search):
    search.choose({}).data.load(tmp_path / "data")
    context = multiprocessing.get_context("spawn")
    arguments = (search, tmp_path / "search", tmp_path / "data", 6)
    processes = [context.Process(target=start, args=arguments) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    done = open_search(search, tmp_path / "search", higher_is_better=False).done()
    assert sorted(trial.number for trial in done) == list(range(6)), "all of them, each once"
    assert len(results(tmp_path / "search")) == 6


def test_a_killed_search_goes_on_with_the_trial_it_was_at(tmp_path, search):
    long = replace(search, settings={**search.settings, "epochs": 40, "patience": None})
    process = multiprocessing.get_context("spawn").Process(
        target=start, args=(long, tmp_path / "search", tmp_path / "data", 2)
    )
    process.start()
    metrics = tmp_path / "search" / "trials" / "0000" / "metrics.jsonl"
    deadline = time.monotonic() + 120
    while not metrics.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert not (metrics.parent / "result.json").exists(), "killed too late for this test"
    seen = []
    logger = logging.getLogger("ghr.train")
    handler = logging.Handler()
    handler.emit = lambda record: seen.append(record.getMessage())
    logger.addHandler(handler)
    level, logger.level = logger.level, logging.INFO
    try:
        start(long, tmp_path / "search", tmp_path / "data", 2)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert any("Resumed" in message and "0000" in message for message in seen)
    done = open_search(long, tmp_path / "search", higher_is_better=False).done()
    assert sorted(trial.number for trial in done) == [0, 1]
    assert [result["epochs"] for result in results(tmp_path / "search")] == [40, 40]


def test_a_trial_that_cannot_be_trained_is_a_failed_one(tmp_path, search, monkeypatch, caplog):
    def diverge(self, *args, **kwargs):
        raise NotFiniteError("The loss became inf in epoch 1, batch 1.")

    journal = open_search(search, tmp_path / "search", higher_is_better=False)
    with monkeypatch.context() as patch:
        patch.setattr("ghr.experiment.Experiment.run", diverge)
        work(search, journal, tmp_path / "data", trials=2)
    assert [trial.failed for trial in journal.done()] == [True, True]
    assert "Trial 1 failed: The loss became inf" in caplog.text
    work(search, journal, tmp_path / "data", trials=3, quiet=True)
    assert [trial.failed for trial in journal.done()] == [False, True, True]


def test_what_is_no_fault_of_the_trial_stops_the_search_and_is_repeated(tmp_path, search, monkeypatch):
    def fill_the_disk(self, *args, **kwargs):
        raise OSError("Could not write: No space left on device.")

    journal = open_search(search, tmp_path / "search", higher_is_better=False)
    with monkeypatch.context() as patch:
        patch.setattr("ghr.experiment.Experiment.run", fill_the_disk)
        with pytest.raises(OSError, match="No space left"):
            work(search, journal, tmp_path / "data", trials=2)
    work(search, journal, tmp_path / "data", trials=1, quiet=True)
    assert [trial.number for trial in journal.done()] == [0]


def test_after_the_time_no_trial_is_begun(tmp_path, search):
    journal = open_search(search, tmp_path / "search", higher_is_better=False)
    work(search, journal, tmp_path / "data", trials=2, until=time.time() - 1)
    assert journal.done() == []


def test_a_folder_of_another_search_is_refused(tmp_path, search):
    open_search(search, tmp_path / "search", higher_is_better=False)
    other = replace(search, space={"lr": Choice([1e-3, 1e-2])})
    with pytest.raises(ValueError, match=r"belongs to another search: space is .* there and .* now"):
        open_search(other, tmp_path / "search", higher_is_better=False)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text("{}")
    with pytest.raises(ValueError, match="is the directory of a run; choose another folder for the search"):
        open_search(search, tmp_path / "run", higher_is_better=False)
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["config.json"]
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="Could not make the folder of the search"):
        open_search(search, tmp_path / "file" / "search", higher_is_better=False)
