from dataclasses import replace

from ghr.paper.extension import EXTENSION, FarTest
from ghr.paper.item import Place, write_report
from ghr.paper.items import ITEMS
from ghr.paper.items.extension import ExtensionTable
from ghr.paper.runs import list_runs, work_on


def shorten(row):
    setup = replace(row.setup, graphs={"train": 8, "val": 2, "test": 2}, seeds=(1,))
    return replace(row, setup=setup, settings={**row.settings, "epochs": 1, "schedule": "constant"})


def test_the_table_evaluates_finished_runs_and_says_what_is_missing(tmp_path):
    rows = tuple(shorten(row) for row in EXTENSION[:2])
    place = Place(tmp_path / "runs", tmp_path / "data")
    item = ExtensionTable(rows=rows, tests=(FarTest("small", 8, 30),))
    work_on(list_runs(rows[:1], place.runs), place.data, quiet=True)
    report = item.report(place)
    for updates in (8, 4, 3):
        assert f"## To 8 hops, {updates} low-level updates" in report.text
    assert report.text.count("| not run |") == 3
    evaluated = report.record["evaluated"]
    assert [found["updates"] for found in evaluated] == [8, 4, 3]
    errors = [found["out_of_range"] for found in evaluated]
    assert errors[0] < 5 < errors[1] <= errors[2], "a flat model does not reach further than it has updates"
    assert all(found["cpu_seconds"] > 0 for found in evaluated)
    assert [file.name for file in write_report(item, place, tmp_path / "out")] == [
        "table-beyond.md",
        "table-beyond.json",
    ]


def test_lengths_are_tested_on_lengths(tmp_path):
    row = shorten(EXTENSION[3])
    place = Place(tmp_path / "runs", tmp_path / "data")
    work_on(list_runs([row], place.runs), place.data, quiet=True)
    report = ExtensionTable(rows=(row,), tests=(FarTest("small", 8, 10),)).report(place)
    assert report.record["evaluated"][0]["out_of_range"] < 1, "the unit square has no longer way"


def test_it_is_an_item_and_says_that_it_is_not_the_paper_s():
    item = ITEMS["table-beyond"]
    assert all(row.model == "min-plus" for row in item.rows)
    assert "**Nothing here is in the paper.**" in item.report(Place(seeds=0)).text
