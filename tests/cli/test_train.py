import json
import sys
from pathlib import Path

import pytest
from test_cli import run

from ghr.cli.train import describe_run
from ghr.experiment import Experiment
from ghr.train import Run

SMALL = ["--graphs", "10", "--epochs", "1", "--quiet"]
TINY = ["--set", "hidden_channels=4", "steps=1", "t_low=1"]


def read(path):
    return json.loads(Path(path).read_text())


def test_any_model_is_trained_on_any_benchmark_where_the_command_stands(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, printed, _ = run(
        capsys, "train", "echo-diam", "--model", "deep-gine", *SMALL, "--seed", "3", "--set", "layers=2", "lr=1e-2"
    )
    assert code == 0
    result = read("runs/echo-diam-deep-gine-3/result.json")
    assert result["config"]["architecture"]["model"] == "DeepGNN"
    assert result["config"]["architecture"]["config"]["layers"] == 2
    assert (result["config"]["train"]["lr"], result["seed"], result["epochs"]) == (1e-2, 3, 1)
    first, second, *_, last = printed.splitlines()
    assert first == f"MAE on validation: {result['best_val']:.4g} hops, after epoch 1 (lower is better)"
    assert second == f"MAE on test: {result['metrics']['mae']:.4g} hops (lower is better)"
    assert last == f"Run  {Path('runs/echo-diam-deep-gine-3')}"
    assert f"{result['parameters']:,} parameters, 1 epoch in " in printed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "runs"]


def test_errors_by_distance_are_shown_where_there_are_distances(trained, capsys):
    printed = describe_run(Run(trained), Experiment.from_run(Run(trained)))
    assert "in range (<= 5)" in printed
    assert "out of range (> 5)" in printed
    assert "2 epochs in" in printed


def test_options_of_the_data_are_settings_too(capsys, tmp_path):
    out = tmp_path / "run"
    arguments = ["--set", "weighted=true", "max_distance=4", "--out", out, "--data", tmp_path / "data"]
    code, printed, _ = run(capsys, "train", "rgg-sssp-small", *SMALL, *TINY, *arguments)
    assert code == 0
    assert read(out / "config.json")["experiment"]["data"]["options"] == {"weighted": True, "max_distance": 4}
    assert "in range (<= 4)" in printed
    assert " length, after epoch 1" in printed


def test_the_same_command_returns_at_once_and_more_epochs_go_on(capsys, tmp_path):
    where = ["--out", tmp_path / "run", "--data", tmp_path / "data", "--threads", "1"]
    command = ["train", "rgg-sssp-small", "--graphs", "10", "--quiet", *TINY, *where]
    first = run(capsys, *command, "--epochs", "1")
    assert first[0] == 0
    assert run(capsys, *command, "--epochs", "1") == first
    assert run(capsys, *command, "--epochs", "2")[0] == 0
    assert len((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()) == 2


def test_a_run_directory_of_another_config_is_refused(capsys, trained):
    where = ["--out", trained, "--data", trained.parent / "data"]
    changed = ["--epochs", "1", "--set", "hidden_channels=4", "steps=2", "t_low=1", "lr=0.5"]
    code, _, err = run(capsys, "train", "rgg-sssp-small", "--graphs", "10", "--quiet", *where, *changed)
    assert code == 2
    assert "belongs to another run: train.epochs is 2 there and 1 now; train.lr is 0.001 there and 0.5 now." in err


def test_curves_for_tensorboard_are_in_the_run_directory(capsys, tmp_path, monkeypatch):
    where = ["--out", tmp_path / "run", "--data", tmp_path / "data", "--log", "tensorboard"]
    command = ["train", "rgg-sssp-small", *SMALL, *TINY, *where]
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "torch.utils.tensorboard", None)
        code, _, err = run(capsys, *command)
        assert (code, 'pip install "ghr[log]"' in err, [*tmp_path.iterdir()]) == (2, True, [])
    pytest.importorskip("tensorboard")
    assert run(capsys, *command)[0] == 0
    assert len([*(tmp_path / "run" / "tensorboard").glob("events.*")]) == 1
