import json

import pytest
from test_cli import run

import ghr
from ghr.paper.items import ITEMS
from tiny_rows import TinyItem


@pytest.fixture
def options(tmp_path, monkeypatch):
    for name in list(ITEMS):
        monkeypatch.delitem(ITEMS, name)
    monkeypatch.setitem(ITEMS, "tiny", TinyItem())
    monkeypatch.setitem(ITEMS, "other", TinyItem("other", "Another", ()))
    folders = {"--runs": "runs", "--results": "results", "--data": "data", "--out": "docs/reproduce"}
    folders = {name: tmp_path / folder for name, folder in folders.items()}
    return [str(word) for pair in folders.items() for word in pair] + ["--quiet"]


def test_it_trains_what_is_missing_and_writes_the_report(capsys, tmp_path, options):
    code, printed, _ = run(capsys, "reproduce", "tiny", "--seeds", "1", "--only", "GHR", *options)
    assert code == 0
    report = tmp_path / "docs" / "reproduce" / "tiny.md"
    assert str(report) in printed
    assert "GHR: 1\nDeep: not run" in report.read_text()
    code, _, _ = run(capsys, "reproduce", "tiny", *options)
    assert code == 0
    assert "GHR: 2\nDeep: 1" in report.read_text()
    record = json.loads(report.with_suffix(".json").read_text())
    assert [len(row["seeds"]) for row in record["rows"]] == [2, 1]
    assert {"versions", "machine"} <= set(record)


def test_no_training_reports_what_is_finished(capsys, tmp_path, options):
    assert run(capsys, "reproduce", "all", "--no-train", *options)[0] == 0
    assert not (tmp_path / "runs").exists()
    assert "GHR: not run" in (tmp_path / "docs" / "reproduce" / "tiny.md").read_text()


def test_the_list_says_what_is_there_and_trains_nothing(capsys, tmp_path, options):
    code, printed, _ = run(capsys, "reproduce", "all", "--list", *options)
    assert code == 0
    assert [line.split() for line in printed.splitlines()] == [
        ["item", "finished", "running", "started", "missing", "report"],
        ["tiny", "0", "0", "0", "3", "not", "written"],
        ["other", "0", "0", "0", "0", "not", "written"],
    ]
    _, printed, _ = run(capsys, "reproduce", "all", "--list", "--only", "GHR", *options)
    assert printed.splitlines()[1].split()[:5] == ["tiny", "0", "0", "0", "2"]
    assert not (tmp_path / "runs").exists()
    run(capsys, "reproduce", "tiny", "--only", "tiny/deep", *options)
    _, printed, _ = run(capsys, "reproduce", "tiny", "--list", *options)
    lines = [line.split()[:5] for line in printed.splitlines()]
    assert lines[1:3] == [["tiny/ghr", "0", "0", "0", "2"], ["tiny/deep", "1", "0", "0", "0"]]
    assert printed.splitlines()[-1] == "Report: written"


def test_a_report_made_of_more_runs_is_not_replaced(capsys, tmp_path, options):
    run(capsys, "reproduce", "tiny", *options)
    before = {file.name: file.read_bytes() for file in (tmp_path / "docs" / "reproduce").iterdir()}
    nothing = ["--runs", str(tmp_path / "none"), "--results", str(tmp_path / "none"), "--no-train"]
    for given in (nothing, ["--seeds", "1"]):
        code, _, err = run(capsys, "reproduce", "tiny", *options, *given)
        assert (code, "tiny.json was made of 3 finished runs, but here are " in err) == (2, True)
    assert {file.name: file.read_bytes() for file in (tmp_path / "docs" / "reproduce").iterdir()} == before
    assert run(capsys, "reproduce", "tiny", *options, "--no-train")[0] == 0


def test_a_report_is_made_again_from_what_is_kept_of_its_runs(capsys, tmp_path, options):
    run(capsys, "reproduce", "tiny", *options)
    report, kept = tmp_path / "docs" / "reproduce" / "tiny.md", tmp_path / "results" / "tiny" / "ghr" / "seed-3"
    assert {file.name for file in kept.iterdir()} == {"config.json", "metrics.jsonl", "evaluations.json", "result.json"}
    before = report.read_text()
    report.unlink()
    fresh = ["--runs", str(tmp_path / "fresh")]
    _, printed, _ = run(capsys, "reproduce", "tiny", "--list", *options, *fresh)
    assert printed.splitlines()[1].split()[:2] == ["tiny/ghr", "2"]
    assert not (tmp_path / "fresh").exists()
    assert run(capsys, "reproduce", "tiny", *options, *fresh)[0] == 0  # nothing is left to train
    assert report.read_text() == before
    assert not (tmp_path / "fresh" / "tiny" / "ghr" / "seed-3" / "best.safetensors").exists()


def test_all_items_are_made_though_one_has_lost_its_runs(capsys, tmp_path, options):
    run(capsys, "reproduce", "tiny", *options)
    lost = ["--runs", str(tmp_path / "none"), "--results", str(tmp_path / "none"), "--no-train"]
    code, printed, _ = run(capsys, "reproduce", "all", *options, *lost)
    assert code == 0
    assert "Left as it is: " in printed
    assert "tiny.json was made of 3 finished runs, but here are 0" in printed
    assert str(tmp_path / "docs" / "reproduce" / "other.md") in printed


def test_several_processes(capsys, tmp_path, options):
    assert run(capsys, "reproduce", "tiny", "--processes", "2", *options)[0] == 0
    assert "GHR: 2\nDeep: 1" in (tmp_path / "docs" / "reproduce" / "tiny.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["figure-9"], "Unknown item 'figure-9'; known are tiny, other, all."),
        (["tiny", "--only", "GRH"], "There is no row 'GRH' in tiny; known are GHR; tiny/ghr; Deep; tiny/deep."),
        (["tiny", "--only", "tiny/dep"], "Did you mean tiny/deep"),
        (["all", "--list", "--only", "GRH"], "There is no row 'GRH' in all; known are GHR; tiny/ghr; Deep; tiny/deep."),
        (["tiny", "--no-train", "--only", "GRH"], "There is no row 'GRH' in tiny"),
        (["tiny", "--seeds", "0"], "--seeds must be a whole number of at least 1; got 0"),
        (["tiny", "--processes", "0"], "--processes must be a whole number of at least 1; got 0"),
    ],
)
def test_mistakes_are_sentences(capsys, options, arguments, words):
    code, _, err = run(capsys, "reproduce", *arguments, *options)
    assert (code, words in err) == (2, True)


def test_the_best_model_is_exported(capsys, tmp_path, options):
    options += ["--export", str(tmp_path / "model"), "--only", "GHR"]
    code, printed, _ = run(capsys, "reproduce", "tiny", *options)
    assert code == 0
    assert printed.splitlines()[-1].startswith(f"{tmp_path / 'model'}: GHR, seed ")
    assert ghr.load(tmp_path / "model").t_low == 1
