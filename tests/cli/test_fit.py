import json

import pytest
import torch
from own_graphs import SMALL, write_rings
from test_cli import run
from torch_geometric.data import Data

from ghr.cli.fit import choose


def test_fit_says_what_it_found_trains_and_keeps_how_to_read_the_files(capsys, tmp_path):
    folder, out = write_rings(tmp_path / "rings"), tmp_path / "run"
    loud = [argument for argument in SMALL if argument != "--quiet"]
    code, printed, _ = run(capsys, "fit", str(folder), "--target", "far", "--out", str(out), *loud, "--ignore", "load")
    assert code == 0
    assert "12 graphs with 60 nodes and 60 edges." in printed
    assert "Target: far, a number per node." in printed
    assert "if they are classes, say classes=True (--classes)" in printed
    assert "Columns that are not used: load, kind." in printed
    assert "MAE on validation: " in printed
    assert "MAE on test: " in printed
    assert f"ghr predict {out} FOLDER --out predictions.csv" in printed
    schema = json.loads((out / "config.json").read_text())["experiment"]["data"]["schema"]
    assert [column["name"] for column in schema["nodes"]] == ["size", "colour"]
    assert schema["nodes"][0]["mean"] == pytest.approx(1e6, rel=1e-4)
    assert schema["target"] == ["far"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--target", "kind"], "accuracy on validation"),
        (["--target", "far", "--classes"], "accuracy on validation"),
        (["--target", "load"], "MAE on test"),
        (["--target", "far", "--target", "size"], "MAE on validation"),
        (["--target", "colour", "--level", "node", "--directed", "--model", "deep-gine"], "accuracy on test"),
    ],
    ids=["graphs", "node classes", "edges", "two targets", "another model"],
)
def test_every_level_and_kind_of_target(capsys, tmp_path, options, words):
    folder = write_rings(tmp_path / "rings")
    small = ["--epochs", "1", "--quiet"] if "--model" in options else SMALL
    code, printed, error = run(capsys, "fit", str(folder), *options, "--out", str(tmp_path / "run"), *small)
    assert (code, error) == (0, "")
    assert words in printed
    assert "Target" not in printed, "quiet says only the scores"


def test_one_big_graph_and_a_file_of_pyg(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = write_rings(tmp_path / "ring", 1, size=40)
    code, printed, _ = run(capsys, "fit", str(folder), "--target", "far", *SMALL)
    assert code == 0
    assert "runs/ring-ghr-0" in printed
    ring = torch.stack([torch.arange(9), (torch.arange(9) + 1) % 9])
    graph = Data(x=torch.rand(9, 1), edge_index=torch.cat([ring, ring.flip(0)], dim=1), y=torch.arange(9) % 2)
    torch.save(graph, tmp_path / "own.pt")
    code, printed, _ = run(capsys, "fit", "own.pt", *SMALL, "--numbers")
    assert code == 0
    assert "MAE on test" in printed


def test_the_same_command_again_returns_the_finished_run(capsys, tmp_path):
    folder = write_rings(tmp_path / "rings")
    line = ["fit", str(folder), "--target", "far", "--out", str(tmp_path / "run"), *SMALL]
    assert run(capsys, *line)[1] == run(capsys, *line)[1]
    write_rings(folder, seed=1)
    code, _, error = run(capsys, *line)
    assert code == 2
    assert "data" in error


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--target", "height"], "There is no column 'height' to predict. Columns that could be: nodes.csv: size"),
        ([], "was read without a target, so there is nothing to learn; name one (target, --target)"),
        (["--target", "far", "--set", "stepps=3"], "has no option 'stepps'; known are"),
        (["--target", "far", "--set", "out=3"], "has no option 'out'; known are"),
        (["--target", "far", "--model", "gnn"], "Unknown model 'gnn'; known are"),
        (["--target", "far", "--classes", "--numbers"], "--classes and --numbers are opposites; give one of them"),
        (["--target", "far", "--out", "{folder}/nodes.csv"], "--out takes a folder"),
    ],
)
def test_mistakes_are_sentences(capsys, tmp_path, options, sentence):
    folder = write_rings(tmp_path / "rings")
    given = [option.format(folder=folder) for option in options]
    code, _, error = run(capsys, "fit", str(folder), *given, "--quiet")
    assert code == 2
    assert sentence in error
    assert error.startswith("ghr: ")


def test_flags_that_are_opposites():
    assert choose("--a", True, "--b", False) is True
    assert choose("--a", False, "--b", True) is False
    assert choose("--a", False, "--b", False) is None
