import json
import multiprocessing
from dataclasses import replace

import pytest
import torch

from ghr.lock import held
from ghr.paper.row import AS_TRAINED, Counts
from ghr.paper.runs import LOCK, Run, runs_of, work_on
from ghr.train import TrainConfig
from ghr.train.run import RunDirectory
from tiny_rows import DEEP_ROW, GHR_ROW, ROWS, work


@pytest.fixture
def run(tmp_path) -> Run:
    return Run(GHR_ROW, 3, tmp_path / "runs")


def test_the_first_seed_of_all_rows_comes_first(tmp_path):
    order = [(run.row.name, run.seed) for run in runs_of(ROWS, tmp_path)]
    assert order == [("ghr", 3), ("deep", 3), ("ghr", 4)]
    assert [run.seed for run in runs_of(ROWS, tmp_path, seeds=1)] == [3, 3]
    assert runs_of(ROWS, tmp_path)[0].path == tmp_path / "tiny" / "ghr" / "seed-3"


def test_a_run_goes_from_missing_to_finished_and_is_judged_with_every_number_of_steps(tmp_path, run):
    assert (run.state, run.unfinished, run.result(), run.metrics(AS_TRAINED)) == ("missing", True, None, None)
    assert run.work(tmp_path / "data", quiet=True)
    assert (run.state, run.unfinished) == ("finished", False)
    recipe, model = GHR_ROW.seeded(3), run.model()
    for counts in (AS_TRAINED, *GHR_ROW.inference):
        assert run.metrics(counts) == recipe.judge(model, tmp_path / "data", **counts.given)
    assert run.metrics(AS_TRAINED) != run.metrics(Counts(t_low=2))


def test_what_is_done_is_not_done_again(tmp_path, run, monkeypatch):
    run.work(tmp_path / "data", quiet=True)
    files = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    monkeypatch.setattr("ghr.paper.recipe.Recipe.judge", None)
    monkeypatch.setattr("ghr.paper.recipe.Recipe.run", None)
    assert run.work(tmp_path / "data", quiet=True)
    assert {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()} == files


def test_only_the_missing_numbers_of_steps_are_judged(tmp_path, run):
    short = Run(replace(GHR_ROW, inference=(Counts(t_low=2),)), 3, run.runs)
    short.work(tmp_path / "data", quiet=True)
    assert not short.unfinished
    assert run.unfinished
    before = run.metrics(Counts(t_low=2))
    (run.path / "evaluations.json").write_text(json.dumps({"t_low=2": {**before, "mae": -1.0}}))
    run.work(tmp_path / "data", quiet=True)
    assert run.metrics(Counts(t_low=2))["mae"] == -1.0, "was computed again"
    assert run.metrics(Counts(steps=2, t_high=2)) is not None


def test_a_run_of_the_train_command_with_the_same_config_is_recognised(tmp_path, run):
    GHR_ROW.seeded(3).run(run.path, tmp_path / "data", quiet=True)
    assert run.state == "finished"
    assert run.metrics(AS_TRAINED) == run.result()["metrics"]


def test_a_killed_run_goes_on_and_ends_like_one_that_was_not_killed(tmp_path, run, monkeypatch):
    other = Run(GHR_ROW, 3, tmp_path / "others")
    other.work(tmp_path / "data", quiet=True)
    save = RunDirectory.save

    def die(self, epoch, weights, state):
        save(self, epoch, weights, state)
        if epoch == 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunDirectory, "save", die)
        with pytest.raises(KeyboardInterrupt):
            run.work(tmp_path / "data", quiet=True)
    assert run.state == "started"
    run.work(tmp_path / "data", quiet=True)
    assert [json.loads(line)["epoch"] for line in (run.path / "metrics.jsonl").read_text().splitlines()] == [1, 2]
    for ours, theirs in zip(run.model().parameters(), other.model().parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_a_run_that_another_holds_is_left_alone(tmp_path, run):
    run.path.mkdir(parents=True)
    with held(run.path / LOCK):
        assert run.state == "running"
        assert not run.work(tmp_path / "data", quiet=True)
        assert work_on([run], tmp_path / "data", quiet=True) == [run]
    assert not (run.path / "config.json").exists()


def test_two_processes_share_the_runs_and_train_each_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=work, args=(tmp_path,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    for run in runs_of(ROWS, tmp_path / "runs"):
        assert not run.unfinished
        epochs = [json.loads(line)["epoch"] for line in (run.path / "metrics.jsonl").read_text().splitlines()]
        assert epochs == list(range(1, run.row.recipe.train.epochs + 1)), "trained twice into the same directory"


def test_a_diverging_run_does_not_stop_the_others(tmp_path, caplog):
    wild = replace(GHR_ROW, name="wild", recipe=replace(GHR_ROW.recipe, train=TrainConfig(lr=1e30, clip=None)))
    runs = runs_of([wild, DEEP_ROW], tmp_path / "runs", seeds=1)
    left = work_on(runs, tmp_path / "data", quiet=True)
    assert [run.row.name for run in left] == ["wild"]
    assert runs[1].state == "finished"
    assert "smaller learning rate" in caplog.text


def test_a_directory_of_another_config_is_a_sentence(tmp_path, run):
    run.work(tmp_path / "data", quiet=True)
    other = Run(replace(GHR_ROW, recipe=replace(GHR_ROW.recipe, train=TrainConfig(epochs=9))), 3, run.runs)
    with pytest.raises(ValueError, match=r"belongs to a run with another config: train\.epochs is 2 there and 9 now"):
        other.result()


def test_damaged_evaluations_are_a_sentence(tmp_path, run):
    run.work(tmp_path / "data", quiet=True)
    (run.path / "evaluations.json").write_text("{")
    with pytest.raises(ValueError, match=r"evaluations\.json is damaged"):
        run.metrics(Counts(t_low=2))
