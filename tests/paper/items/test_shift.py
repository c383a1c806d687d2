from dataclasses import replace

import pytest

from ghr.ops import using
from ghr.paper.changes import Drop, Shift
from ghr.paper.item import Place, write_report
from ghr.paper.items import ITEMS
from ghr.paper.items.shift import ShiftGroup, ShiftTable, choose
from ghr.paper.kept import bring, keep
from ghr.paper.runs import list_runs, work_on
from ghr.paper.shift_tests import Changed, OtherGraphs
from ghr.paper.strange import relabel_paths
from tiny_columns import ECHO, SYSTEMS

TESTS = {
    "as they are": Changed("echo-sssp", 3),
    "shift": Changed("echo-sssp", 3, Shift(2.0)),
    "fewer edges": Changed("echo-sssp", 3, Drop(0.3, relabel_paths)),
    "others": OtherGraphs("uniform trees", 2),
}
ITEM = ShiftTable(groups=(ShiftGroup(ECHO, choose(SYSTEMS, "ghr", "constant"), "How they differ.", TESTS),))


def test_runs_of_the_other_table_are_asked_and_kept_for_a_fresh_clone(tmp_path):
    place = Place(tmp_path / "runs", tmp_path / "data")
    with using("torch"):
        plain = [replace(row, tests=()) for row in ITEM.rows]
        work_on(list_runs(plain, place.runs), place.data, quiet=True)  # as the table on ECHO trains them
        trained = [run.path / "best.safetensors" for run in list_runs(ITEM.rows, place.runs)]
        before = [file.stat().st_mtime_ns for file in trained]
        work_on(list_runs(ITEM.rows, place.runs), place.data, quiet=True)
    assert [file.stat().st_mtime_ns for file in trained] == before, "nothing is trained again"
    report = ITEM.report(place)
    lines = [line for line in report.text.splitlines() if line.startswith("| ")]
    assert lines[0] == "| system | as they are | shift | fewer edges | others | seeds |"
    assert [line.count(" - ") for line in lines[1:]] == [0, 0]
    assert "- best constant: worst at " in report.text
    scores = report.record["rows"][1]["scores"]
    assert scores["as they are"] == pytest.approx(scores["shift"]), "a constant does not look at features"
    keep(list_runs(ITEM.rows, place.runs), tmp_path / "results")
    fresh = Place(tmp_path / "fresh", tmp_path / "nowhere")
    bring(list_runs(ITEM.rows, fresh.runs), tmp_path / "results")
    assert ITEM.report(fresh).text == report.text


def test_it_is_an_item_that_can_be_written_before_anything_is_trained(tmp_path):
    item = ITEMS["table-shift"]
    files = write_report(item, Place(tmp_path, tmp_path), tmp_path / "out")
    text = files[0].read_text()
    assert "| GHR with values (select) | - | - |" in text
    assert "temperature x 100" in text
    for group in item.groups:
        assert len({test.name for test in group.tests.values()}) == len(group.tests)
        assert next(iter(group.tests)) == "as they are"


def test_what_a_model_refuses_stands_below(tmp_path, monkeypatch):
    place = Place(tmp_path, tmp_path)
    monkeypatch.setattr(
        "ghr.paper.items.shift.gather", lambda *_: [type("Results", (), {"results": {42: {}}, "seeds": "1"})]
    )
    monkeypatch.setattr(
        "ghr.paper.runs.RowRun.ask",
        lambda self, test, loops, data: {"score": None, "why": "no"} if test.name.endswith("trees") else {"score": 1.0},
    )
    text = ITEM.report(place).text
    assert "- GHR, others: no" in text
    assert "| GHR | 1.000 | 1.000 | 1.000 | - | 1 |" in text


def test_what_was_kept_before_it_was_asked_says_how_to_ask_it(tmp_path):
    place = Place(tmp_path / "runs", tmp_path / "data")
    plain = [replace(row, tests=()) for row in ITEM.rows[1:]]
    work_on(list_runs(plain, place.runs), place.data, quiet=True)
    keep(list_runs(plain, place.runs), tmp_path / "results")
    fresh = Place(tmp_path / "fresh", tmp_path / "nowhere")
    bring(list_runs(plain, fresh.runs), tmp_path / "results")
    text = ITEM.report(fresh).text
    folder = plain[0].run_dir(fresh.runs, 42).relative_to(fresh.runs).parent
    assert f"- best constant, not asked: its run was kept without weights; take {folder} out of results" in text
    assert text.count("not asked:") == 1
