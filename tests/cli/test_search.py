import json
import logging
import shlex
from dataclasses import replace

import pytest
from test_cli import run

from ghr import Task
from ghr.cli import search as command
from ghr.datasets import BENCHMARKS, RGGSSSP
from ghr.search import Choice, open_search
from ghr.search import Search as Plan

SMALL = ["rgg-sssp-small", "--model", "recurrent-gine", "--graphs", "10", "--epochs", "1"]
FIXED = ["--set", "steps=1", "t_low=1", "--vary", "lr=1e-4:1e-2:log", "hidden_channels=4,8"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(path):
    return json.loads(path.read_text())


def test_a_search_finds_the_best_and_says_how_to_train_it(capsys, tmp_path):
    code, printed, _ = run(capsys, "search", *SMALL, *FIXED, "--trials", "3", "--quiet")
    assert code == 0
    folder = tmp_path / "runs" / "search-rgg-sssp-small-recurrent-gine-0"
    best, results = read(folder / "best.json"), [read(file) for file in folder.glob("trials/*/result.json")]
    assert len(results) == 3
    assert best["score"] == min(result["best_val"] for result in results)
    header, first, *_ = printed.splitlines()
    assert header.split() == ["trial", "validation", "MAE,", "hops", "(lower", "is", "better)", "lr", "hidden_channels"]
    assert first.split()[:2] == [str(best["trial"]), f"{best['score']:.4g}"]
    assert "3 trials done, 0 of them failed." in printed
    assert (folder / "importances.png").stat().st_size > 1000
    # The command stands in the output by itself, and runs as it stands.
    assert best["command"] in printed.splitlines()
    code, _, _ = run(capsys, *shlex.split(best["command"])[1:], "--quiet")
    assert code == 0
    assert read(folder / f"best-{best['trial']:04d}" / "result.json")["best_val"] == best["score"]


def test_the_same_command_goes_on_until_there_are_enough(capsys, tmp_path):
    where = ["--out", "mine", "--data", "graphs"]
    assert run(capsys, "search", *SMALL, *FIXED, *where, "--trials", "1", "--quiet")[0] == 0
    assert not (tmp_path / "mine" / "importances.png").exists(), "one trial says nothing about importance"
    code, printed, err = run(capsys, "search", *SMALL, *FIXED, *where, "--trials", "2")
    assert (code, "Trial 1: lr=" in err, "Trial 0: lr=" in err) == (0, True, False)
    assert "2 trials done" in printed
    assert "--data graphs" in printed
    assert sorted(path.name for path in (tmp_path / "mine" / "trials").iterdir()) == ["0000", "0001"]
    code, _, err = run(capsys, "search", *SMALL, *FIXED, *where, "--trials", "2", "--seed", "1")
    assert (code, "mine belongs to another search: seed is 0 there and 1 now" in err) == (2, True)


def test_by_default_what_matters_is_chosen(capsys, tmp_path):
    small = ["--model", "deep-gine", "--graphs", "10", "--epochs", "1", "--set", "layers=1"]
    code, printed, _ = run(capsys, "search", "rgg-sssp-small", *small, "--trials", "1", "--quiet")
    assert code == 0
    assert printed.split("\n")[0].split()[-3:] == ["better)", "lr", "hidden_channels"]


def test_the_highest_score_is_best_where_higher_is_better(capsys, tmp_path, monkeypatch):
    def load(root, *, split, **options):
        dataset = RGGSSSP(root, "small", split, **options)
        dataset.task = task
        return dataset

    task = Task("node", metric="r2")
    changed = replace(BENCHMARKS["rgg-sssp-small"], task=task, dataset=load, distance=None, in_range=None)
    monkeypatch.setitem(BENCHMARKS, "rgg-r2", changed)
    code, printed, _ = run(capsys, "search", "rgg-r2", *SMALL[1:], *FIXED, "--trials", "4", "--quiet")
    assert code == 0
    assert "R2 (higher is better)" in printed
    folder = tmp_path / "runs" / "search-rgg-r2-recurrent-gine-0"
    scores = [read(file)["best_val"] for file in folder.glob("trials/*/result.json")]
    assert len(set(scores)) > 1
    assert read(folder / "best.json")["score"] == max(scores)


def test_no_trial_is_begun_after_the_budget(capsys, tmp_path):
    code, _, err = run(capsys, "search", *SMALL, *FIXED, "--trials", "9", "--budget", "1e-9", "--quiet")
    assert code == 2
    assert "No trial has finished yet; the same command goes on." in err


def test_where_all_trials_fail_it_says_so(capsys, tmp_path):
    fixed = ["--set", "lr=1e30", "clip=none", "epochs=3", "--vary", "hidden_channels=4,8"]
    small = ["rgg-sssp-small", "--model", "recurrent-gine", "--graphs", "10"]
    code, _, err = run(capsys, "search", *small, *fixed, "--trials", "2", "--quiet")
    assert code == 2
    assert "All 2 trials failed, as said above" in err
    assert "Trial 1 failed: The " in err


def test_a_process_of_many_works_and_says_what_goes_wrong(tmp_path, monkeypatch, caplog):
    plan = Plan(
        "rgg-sssp-small",
        "recurrent-gine",
        {"hidden_channels": Choice([4, 8])},
        {"epochs": 1, "steps": 1, "t_low": 1},
        graphs=10,
    )
    arguments = (plan, tmp_path / "search", False, tmp_path / "data", 1, None, 1, logging.WARNING)
    command._worker(*arguments)
    assert len(open_search(plan, tmp_path / "search", higher_is_better=False).done()) == 1

    def stop(*args, **kwargs):
        raise OSError("No space left on device.")

    monkeypatch.setattr("ghr.search.work", stop)
    with pytest.raises(SystemExit) as stopped:
        command._worker(*arguments)
    assert stopped.value.code == 2
