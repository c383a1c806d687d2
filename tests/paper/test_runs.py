import json
import multiprocessing
from dataclasses import replace

import pytest
import torch

from ghr.experiment import Experiment, evaluate_split
from ghr.lock import hold
from ghr.paper.row import AS_TRAINED, Inference, Loops
from ghr.paper.runs import EVALUATIONS, RowRun, list_runs, work_on
from ghr.train import BusyError
from ghr.train.directory import LOCK, RunDirectory
from tiny_rows import DEEP_ROW, GHR_ROW, ROWS, work


@pytest.fixture
def run(tmp_path) -> RowRun:
    return RowRun(GHR_ROW, 3, tmp_path / "runs")


def change(row, **settings):
    return replace(row, settings={**row.settings, **settings})


def test_the_first_seed_of_all_rows_comes_first(tmp_path):
    order = [(run.row.name, run.seed) for run in list_runs(ROWS, tmp_path)]
    assert order == [("tiny/ghr", 3), ("tiny/deep", 3), ("tiny/ghr", 4)]
    assert [run.seed for run in list_runs(ROWS, tmp_path, seeds=1)] == [3, 3]
    assert list_runs(ROWS, tmp_path)[0].path == tmp_path / "tiny" / "ghr" / "seed-3"


def test_a_run_goes_from_missing_to_finished_and_is_evaluated_with_all_loops(tmp_path, run):
    assert (run.stage, run.unfinished, run.result(), run.metrics(AS_TRAINED)) == ("missing", True, None, None)
    run.work(tmp_path / "data", quiet=True)
    assert (run.stage, run.unfinished) == ("finished", False)
    model = run.open().model
    splits = run.experiment.data.load(tmp_path / "data", model.transform)
    for loops in GHR_ROW.all_loops:
        assert run.metrics(loops) == evaluate_split(model, splits, "test", **loops.given)
    assert run.metrics(AS_TRAINED) != run.metrics(Loops(t_low=2))
    assert run.result()["parameters"] == GHR_ROW.count_parameters()


def test_errors_by_distance_are_those_of_the_nodes_there(tmp_path, run):
    run.work(tmp_path / "data", quiet=True)
    metrics, model = run.metrics(Loops(t_low=2)), run.open().model
    error, count = {}, {}
    with torch.no_grad():
        for graph in run.experiment.data.load(tmp_path / "data", model.transform).test:
            for guess, true, hop in zip(model(graph, t_low=2)[:, 0], graph.y[:, 0], graph.hops.tolist(), strict=True):
                if hop >= 0:
                    error[hop] = error.get(hop, 0.0) + abs(float(guess) - float(true))
                    count[hop] = count.get(hop, 0) + 1
    for hop, total in error.items():
        assert metrics["by_distance"][str(hop)]["count"] == count[hop]
        assert metrics["by_distance"][str(hop)]["mae"] == pytest.approx(total / count[hop], rel=1e-4)
    near = [hop for hop in error if hop <= 5]
    assert metrics["in_range"] == pytest.approx(sum(error[h] for h in near) / sum(count[h] for h in near), rel=1e-4)


def test_what_is_done_is_not_done_again(tmp_path, run, monkeypatch):
    run.work(tmp_path / "data", quiet=True)
    files = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    monkeypatch.setattr("ghr.paper.runs.evaluate_split", None)
    monkeypatch.setattr(Experiment, "run", None)
    run.work(tmp_path / "data", quiet=True)
    assert {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()} == files


def test_only_the_missing_loops_are_evaluated(tmp_path, run):
    short = RowRun(replace(GHR_ROW, inference=Inference((Loops(t_low=2),))), 3, run.runs)
    short.work(tmp_path / "data", quiet=True)
    assert not short.unfinished
    assert run.unfinished
    before = run.metrics(Loops(t_low=2))
    (run.path / EVALUATIONS).write_text(json.dumps({"t_low=2": {**before, "mae": -1.0}}))
    run.work(tmp_path / "data", quiet=True)
    assert run.metrics(Loops(t_low=2))["mae"] == -1.0, "was computed again"
    assert run.metrics(Loops(steps=2, t_high=2)) is not None


def test_a_run_of_the_same_experiment_is_recognised(tmp_path, run):
    settings = {**GHR_ROW.setup.settings, **GHR_ROW.settings}
    same = Experiment.on("rgg-sssp-small", "ghr", settings, graphs=GHR_ROW.setup.graphs, seed=3)
    same.run(run.path, tmp_path / "data", quiet=True)
    assert run.stage == "finished"
    assert run.metrics(AS_TRAINED) == run.result()["metrics"]


def test_a_killed_run_goes_on_and_ends_like_one_that_was_not_killed(tmp_path, run, monkeypatch):
    other = RowRun(GHR_ROW, 3, tmp_path / "others")
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
    assert run.stage == "started"
    run.work(tmp_path / "data", quiet=True)
    assert [json.loads(line)["epoch"] for line in (run.path / "metrics.jsonl").read_text().splitlines()] == [1, 2]
    for ours, theirs in zip(run.open().model.parameters(), other.open().model.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_a_run_that_another_holds_is_left_alone(tmp_path, run):
    run.path.mkdir(parents=True)
    with hold(run.path / LOCK):
        assert run.stage == "running"
        with pytest.raises(BusyError, match="Another process works in"):
            run.work(tmp_path / "data", quiet=True)
        assert work_on([run], tmp_path / "data", quiet=True) == [run]
    assert not (run.path / "config.json").exists()
    assert not (tmp_path / "data").exists(), "graphs were loaded for nothing"


def test_a_run_that_another_evaluates_is_left_alone(tmp_path, run):
    run.work(tmp_path / "data", quiet=True)
    (run.path / EVALUATIONS).unlink()
    with hold(run.path / LOCK):
        assert run.stage == "finished"
        assert work_on([run], tmp_path / "data", quiet=True) == [run]
    assert work_on([run], tmp_path / "data", quiet=True) == []


def test_two_processes_share_the_runs_and_train_each_once(tmp_path, monkeypatch):
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # tiny graphs: threads would only wait for each other
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=work, args=(tmp_path,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    for run in list_runs(ROWS, tmp_path / "runs"):
        assert not run.unfinished
        epochs = [json.loads(line)["epoch"] for line in (run.path / "metrics.jsonl").read_text().splitlines()]
        assert epochs == list(range(1, run.experiment.train.epochs + 1)), "trained twice into the same directory"


def test_a_diverging_run_does_not_stop_the_others(tmp_path, caplog):
    wild = replace(change(GHR_ROW, lr=1e30, clip=None), folder="wild")
    runs = list_runs([wild, DEEP_ROW], tmp_path / "runs", seeds=1)
    left = work_on(runs, tmp_path / "data", quiet=True)
    assert [run.row.folder for run in left] == ["wild"]
    assert runs[1].stage == "finished"
    assert "smaller learning rate" in caplog.text


def test_a_directory_of_another_run_is_a_sentence(tmp_path, run):
    run.work(tmp_path / "data", quiet=True)
    for row, words in (
        (change(GHR_ROW, epochs=9), "epochs is 2 there and 9 for GHR"),
        (change(GHR_ROW, t_low=3), r"options is .* there and .*'t_low': 3.* for GHR"),
        (replace(GHR_ROW, model="ghr-gine", folder="ghr"), "model is 'ghr' there and 'ghr-gine' for GHR"),
    ):
        with pytest.raises(ValueError, match=f"belongs to another run: {words}"):
            RowRun(row, 3, run.runs).result()


def test_a_directory_of_an_older_version_is_a_sentence(run):
    run.path.mkdir(parents=True)
    (run.path / "config.json").write_text(json.dumps({"model": {"kind": "ghr"}, "data": {}, "train": {}}))
    (run.path / "result.json").write_text("{}")
    with pytest.raises(ValueError, match=r"was written by version 0\.1\.0"):
        run.result()


def test_damaged_evaluations_are_a_sentence(tmp_path, run):
    run.work(tmp_path / "data", quiet=True)
    (run.path / EVALUATIONS).write_text("{")
    with pytest.raises(ValueError, match=r"evaluations\.json is damaged"):
        run.metrics(Loops(t_low=2))
