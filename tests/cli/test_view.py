import json
import re

import pytest
import torch
from own_graphs import write_rings
from test_cli import run

import ghr
from ghr import Task
from ghr.testing import random_graph


def content(path):
    return json.loads(re.search(r'id="content">(.*?)</script>', path.read_text(), re.DOTALL)[1])


def test_a_run_becomes_a_page(capsys, trained, tmp_path):
    out = tmp_path / "page.html"
    code, printed, err = run(capsys, "view", trained, "--out", out)
    assert (code, err) == (0, "")
    assert printed.startswith(f"Page {out} (0.")
    held = content(out)
    assert (held["title"], held["inRange"]) == ("run on rgg-sssp-small, test graph 0", 5)
    assert held["runs"][0]["byDistance"]["hops"][0] == 0
    assert "training" in dict(held["runs"][0]["facts"])


def test_two_runs_with_the_steps_that_they_have(capsys, trained, tmp_path):
    deep = tmp_path / "deep"
    options = ["--model", "deep-gine", "--set", "hidden_channels=4", "layers=2", "--graphs", "10", "--epochs", "1"]
    data = trained.parent / "data"
    assert run(capsys, "train", "rgg-sssp-small", *options, "--quiet", "--out", deep, "--data", data)[0] == 0
    out = tmp_path / "page.html"
    chosen = ["--graph", "1", "--split", "val", "--nodes", "3", "5", "--channels", "1", "pc2", "--data", data]
    code, *_ = run(capsys, "view", trained, deep, "--steps", "3", "--set", "t_low=2", *chosen, "--out", out)
    assert code == 0
    first, second = content(out)["runs"]
    assert (first["name"], second["name"]) == ("run, t_low=2, steps=3", "deep")
    assert (first["total"], first["trained"], second["total"]) == (3 * 6, 2 * 4, 2)
    keys = [field["key"] for field in first["fields"]]
    assert keys == ["prediction", "error", "change", "influence0", "influence1", "state0", "state1"]


def test_a_model_of_the_package_on_a_benchmark(capsys, tmp_path):
    out = tmp_path / "page.html"
    code, *_ = run(
        capsys, "view", "rgg-sssp-small-cap5", "--benchmark", "rgg-sssp-small", "--data", tmp_path, "--out", out
    )
    held = content(out)
    assert (code, held["runs"][0]["name"], held["inRange"]) == (0, "rgg-sssp-small-cap5", None)
    assert held["runs"][0]["byDistance"] is not None


def test_graphs_of_ones_own(capsys, tmp_path):
    folder, fitted, out = write_rings(tmp_path / "rings"), tmp_path / "run", tmp_path / "page.html"
    small = ["--set", "hidden_channels=4", "steps=1", "--epochs", "1", "--quiet"]
    assert run(capsys, "fit", folder, "--target", "far", "--out", fitted, *small)[0] == 0
    code, *_ = run(capsys, "view", fitted, "--folder", folder, "--graph", "2", "--out", out)
    assert (code, content(out)["nodes"]) == (0, 5)
    code, _, err = run(capsys, "view", fitted, "--out", out)
    assert (code, "was trained on graphs of your own" in err) == (2, True)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--graph", "99"], "There is no graph 99: the split test has 2 graphs, numbers 0 to 1."),
        (["--graph", "-1"], "--graph must be a whole number of at least 0; got -1"),
        (["--split", "tset"], "Unknown split 'tset'; known are train, val, test."),
        (["--nodes", "1000"], "There is no node 1000: this graph has the nodes 0 to"),
        (["--steps", "0"], "--steps must be a whole number of at least 1; got 0"),
        (["--set", "layers=3"], "GHR has no option 'layers'; known are steps, t_high, t_low"),
        (["--steps", "2", "--set", "steps=3"], "steps is given twice, by --steps and by --set"),
        (["--channels", "first"], "numbers of channels from 0, such as 3, and principal components, such as pc1"),
        (["--frames", "0"], "frames must be a whole number of at least 1; got 0"),
        (["--out", "{tmp}"], "--out takes a file, but"),
        (["--out", "{tmp}/no/page.html"], "for the file of --out does not exist"),
        (["--benchmark", "rgg"], "Unknown benchmark 'rgg'"),
    ],
)
def test_mistakes_are_sentences_and_leave_nothing(capsys, trained, tmp_path, options, sentence):
    given = [option.format(tmp=tmp_path) for option in options]
    out = [] if "--out" in options else ["--out", str(tmp_path / "page.html")]
    code, printed, err = run(capsys, "view", trained, *given, *out)
    assert (code, printed) == (2, "")
    assert sentence in err
    assert not list(tmp_path.iterdir())


def test_what_is_no_run_is_a_sentence(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "view", "nothing")
    assert (code, err) == (2, "ghr: nothing is not a run directory: it has no config.json.\n")
    code, _, err = run(capsys, "view")
    assert (code, "ghr view takes one run, or two to be seen side by side; got 0." in err) == (2, True)
    code, _, err = run(capsys, "view", "nothing", "--benchmark", "rgg-sssp-small")
    assert (code, "nothing" in err, "Traceback" in err) == (2, True, False)
    graph = random_graph(12, 20)
    graph.y = torch.rand(12, 1)
    ghr.fit(graph, Task("node"), out=tmp_path / "deep", model="deep-gine", layers=1, epochs=1, quiet=True)
    code, _, err = run(capsys, "view", "deep", "--steps", "2")
    assert (code, "--steps=2 is for models that repeat a step; these have a fixed depth." in err) == (2, True)
