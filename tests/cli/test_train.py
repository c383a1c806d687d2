import json

import pytest
from test_cli import run

SMALL = ["train", "rgg-sssp-small", "--graphs", "8", "--epochs", "1", "--quiet"]


@pytest.fixture(autouse=True)
def few_graphs(monkeypatch):
    """Keep validation and test small too; the recipes' own numbers are thousands."""
    from dataclasses import replace

    from ghr.cli import train

    for name, recipe in train.RECIPES.items():
        monkeypatch.setitem(
            train.RECIPES, name, replace(recipe, data=replace(recipe.data, val_graphs=4, test_graphs=6))
        )


def test_train_writes_a_run_and_eval_judges_it_with_more_steps(capsys, tmp_path):
    out, data = str(tmp_path / "run"), str(tmp_path / "data")
    code, printed, _ = run(capsys, *SMALL, "--out", out, "--data", data, "--conv", "gine", "--steps", "2")
    assert code == 0
    assert "beyond (> 5)" in printed
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["config"]["model"] == {
        "kind": "ghr", "conv": "gine", "hidden_channels": 32, "steps": 2, "t_high": 2, "t_low": 2, "pool": "max",
    }  # fmt: skip
    assert set(result["metrics"]["by_distance"]) <= set("012345678")
    code, same, _ = run(capsys, "eval", out)
    assert code == 0
    assert same.splitlines()[1].split()[1:] == printed.splitlines()[1].split()[1:], "eval differs from the run's result"
    code, more, _ = run(capsys, "eval", out, "--t-low", "4")
    assert code == 0
    assert more.splitlines()[1].split()[-2:] != same.splitlines()[1].split()[-2:]


def test_the_deep_stack_trains_and_has_no_steps_to_raise(capsys, tmp_path):
    out, data = str(tmp_path / "run"), str(tmp_path / "data")
    assert run(capsys, *SMALL, "--model", "deep", "--layers", "2", "--out", out, "--data", data)[0] == 0
    code, _, err = run(capsys, "eval", out, "--steps", "3")
    assert code == 2
    assert "a model with no steps; leave out steps" in err


def test_a_run_directory_of_another_config_is_refused(capsys, tmp_path):
    out, data = str(tmp_path / "run"), str(tmp_path / "data")
    assert run(capsys, *SMALL, "--out", out, "--data", data)[0] == 0
    code, _, err = run(capsys, *SMALL, "--out", out, "--data", data, "--lr", "0.5")
    assert code == 2
    assert "train.lr" in err


def test_damaged_runs_are_sentences(capsys, tmp_path):
    out, data = tmp_path / "run", str(tmp_path / "data")
    assert run(capsys, *SMALL, "--out", str(out), "--data", data)[0] == 0
    whole = (out / "best.safetensors").read_bytes()
    (out / "best.safetensors").write_bytes(whole[:100])
    code, _, err = run(capsys, "eval", str(out))
    assert (code, "damaged or cut short" in err) == (2, True)
    (out / "best.safetensors").unlink()
    code, _, err = run(capsys, "eval", str(out))
    assert (code, "no best weights" in err) == (2, True)
    (out / "config.json").write_text('{"model": {"kind": "lstm"}, "data": {}, "train": {}}')
    code, _, err = run(capsys, "eval", str(out))
    assert (code, "does not describe a recipe" in err) == (2, True)
    (out / "config.json").write_text("{")
    code, _, err = run(capsys, "eval", str(out))
    assert (code, "config.json does not describe a run" in err) == (2, True)
