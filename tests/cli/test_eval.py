import csv
import json
import shutil

import pytest
import torch
from test_cli import run

import ghr
from ghr import Task
from ghr.cli.eval import Eval
from ghr.testing import random_graph


def test_it_finds_what_the_training_found(capsys, trained):
    result = json.loads((trained / "result.json").read_text())
    code, printed, err = run(capsys, "eval", trained)
    assert (code, err) == (0, "")
    assert printed.splitlines()[0] == f"MAE on test: {result['metrics']['mae']:.4g} hops (lower is better)"
    assert "out of range (> 5)" in printed
    code, printed, _ = run(capsys, "eval", trained, "--split", "val")
    assert printed.startswith(f"MAE on val: {result['best_val']:.4g} hops")


def test_other_loops_give_other_scores(capsys, trained):
    shown = {}
    for loops in ([], ["steps=5"], ["t_low=3"], ["steps=auto"]):
        code, printed, _ = run(capsys, "eval", trained, *(["--set", *loops] if loops else []), "--json")
        assert code == 0
        described = json.loads(printed)
        shown[described["scores"]["mae"]] = described["loops"]
    assert [*shown.values()] == [{}, {"steps": 5}, {"t_low": 3}, {"steps": "auto"}]


@pytest.mark.parametrize(
    ("loops", "sentence"),
    [
        (["layers=3"], "GHR has the loops steps, t_high, t_low, but layers=3 was given"),
        (["steps=0"], "steps must be a whole number of at least 1"),
        (["t_low=2.5"], "t_low must be a whole number of at least 1"),
        (["t_high=[1,2]"], "t_high gives 2 numbers for 1 coarse levels"),
        (["steps"], "--set needs a name and a value"),
    ],
)
def test_loops_that_the_model_cannot_run_are_a_sentence_before_any_graph(capsys, trained, tmp_path, loops, sentence):
    code, printed, err = run(capsys, "eval", trained, "--data", str(tmp_path / "new"), "--set", *loops)
    assert (code, printed) == (2, "")
    assert sentence in err
    assert not (tmp_path / "new").exists()


def test_everything_as_json(capsys, trained):
    code, printed, _ = run(capsys, "eval", trained, "--json", "--split", "train")
    described = json.loads(printed)
    assert code == 0
    assert described["run"] == str(trained)
    assert (described["benchmark"], described["model"], described["split"]) == ("rgg-sssp-small", "ghr", "train")
    assert described["graphs"] == 10
    assert described["metric"] == {"name": "MAE", "unit": "hops", "higher_is_better": False}
    assert set(described["scores"]) >= {"mae", "in_range", "out_of_range", "by_distance"}


def test_predictions_are_written_beside_the_truth(capsys, trained, tmp_path):
    code, printed, err = run(capsys, "eval", trained, "--out", tmp_path / "rows.csv", "--json")
    assert code == 0
    scores = json.loads(printed)["scores"]
    with open(tmp_path / "rows.csv") as file:
        rows = list(csv.DictReader(file))
    assert [*rows[0]] == ["graph", "node", "distance", "truth", "prediction"]
    errors = [abs(float(row["truth"]) - float(row["prediction"])) for row in rows]
    assert sum(errors) / len(errors) == pytest.approx(scores["mae"], rel=1e-6)
    assert f"{len(rows)} rows in" in err
    for path, words in ((tmp_path, "takes a file"), (tmp_path / "no" / "rows.csv", "does not exist")):
        code, _, err = run(capsys, "eval", trained, "--out", path)
        assert (code, words in err) == (2, True)


def test_how_far_it_looks_is_printed_told_and_drawn(capsys, trained, tmp_path):
    code, printed, err = run(capsys, "eval", trained, "--range", "--figure", tmp_path / "far.png")
    assert code == 0
    assert "\nRange: " in printed
    assert f"The picture is {tmp_path / 'far.png'}." in err
    assert (tmp_path / "far.png").read_bytes().startswith(b"\x89PNG")
    code, printed, _ = run(capsys, "eval", trained, "--range", "--json", "--set", "steps=1")
    described = json.loads(printed)
    assert set(described["range"]) >= {"range", "even", "share", "each"}
    assert 0 < described["range"]["range"] < 8
    code, printed, _ = run(capsys, "eval", trained, "--exchange", "--figure", tmp_path / "exchange.png")
    assert (code, "\nRange: " in printed, "\nRange by exchange: " in printed) == (0, False, True)
    assert (tmp_path / "exchange.png").exists()
    code, printed, _ = run(capsys, "eval", trained, "--range", "--exchange", "--json")
    assert set(json.loads(printed)["range_by_exchange"]) == set(described["range"])
    for path, words in ((tmp_path, "--figure takes a file"), (tmp_path / "no" / "a.png", "does not exist")):
        code, _, err = run(capsys, "eval", trained, "--figure", path)
        assert (code, words in err) == (2, True)


def test_graphs_are_looked_for_beside_the_run_then_here(tmp_path):
    assert Eval(tmp_path / "run").data_folder().name == "data"
    assert Eval(tmp_path / "run").data_folder().parent != tmp_path
    (tmp_path / "data").mkdir()
    assert Eval(tmp_path / "run").data_folder() == tmp_path / "data"
    assert Eval(tmp_path / "run", data=tmp_path / "other").data_folder() == tmp_path / "other"


def test_other_graphs_than_in_training_are_warned_of(capsys, trained, tmp_path):
    shutil.copytree(trained, tmp_path / "run")
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    config["data"]["train"] = "0" * 32
    (tmp_path / "run" / "config.json").write_text(json.dumps(config))
    code, _, err = run(capsys, "eval", tmp_path / "run", "--data", trained.parent / "data", "--quiet")
    assert (code, "are not those that" in err) == (0, True)


def test_a_run_on_a_users_own_graphs_says_what_to_use(capsys, tmp_path):
    graph = random_graph(12, 20)
    graph.y = torch.rand(12, 1)
    ghr.fit(graph, Task("node"), out=tmp_path / "run", model="deep-gine", layers=1, epochs=1, quiet=True)
    code, _, err = run(capsys, "eval", tmp_path / "run")
    assert code == 2
    assert f"ghr predict {tmp_path / 'run'} FOLDER --out predictions.csv" in err


def test_damaged_runs_are_sentences(capsys, trained, tmp_path):
    out = tmp_path / "run"
    shutil.copytree(trained, out)

    def says(words):
        code, _, err = run(capsys, "eval", out, "--data", trained.parent / "data")
        assert (code, words in err, "Traceback" in err) == (2, True, False), err

    whole, config = (out / "best.safetensors").read_bytes(), json.loads((out / "config.json").read_text())
    (out / "best.safetensors").write_bytes(whole[:100])
    says("damaged or cut short")
    (out / "best.safetensors").unlink()
    says("no best weights")
    (out / "best.safetensors").write_bytes(whole)
    for damage in ({"experiment": {"data": {"benchmark": "rgg-sssp-small"}}}, {"train": {"speed": 3}}):
        (out / "config.json").write_text(json.dumps({**config, **damage}))
        says("config.json does not describe a run of this version")
    (out / "config.json").write_text(json.dumps({"model": {}, "train": {}}))
    says("was written by version 0.1.0")
    (out / "config.json").write_text("{")
    says("config.json is not JSON")
