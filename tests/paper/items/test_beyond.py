from dataclasses import replace

from ghr.paper import MinPlusSpec, RGGSpec
from ghr.paper.beyond import BEYOND, FarTest
from ghr.paper.item import Place, write_report
from ghr.paper.items import ITEMS
from ghr.paper.items.beyond import BeyondTable
from ghr.paper.runs import runs_of, work_on
from ghr.train import TrainConfig

SHORT = {"data": RGGSpec(train_graphs=8, val_graphs=2, test_graphs=2), "train": TrainConfig(epochs=1, lr=1e-2)}


def test_the_table_judges_finished_runs_and_says_what_is_missing(tmp_path):
    rows = tuple(replace(row, recipe=replace(row.recipe, **SHORT), seeds=(1,)) for row in BEYOND[:2])
    place = Place(tmp_path / "runs", tmp_path / "data")
    item = BeyondTable(rows=rows, tests=(FarTest("small", 8, 30),))
    work_on(runs_of(rows[:1], place.runs), place.data, quiet=True)
    report = item.report(place)
    for updates in (8, 4, 3):
        assert f"## To 8 hops, {updates} low-level updates" in report.text
    assert report.text.count("| not run |") == 3
    judged = report.record["judged"]
    assert [each["updates"] for each in judged] == [8, 4, 3]
    errors = [each["out_of_range"] for each in judged]
    assert errors[0] < 5 < errors[1] <= errors[2], "a flat model does not reach further than it has updates"
    assert all(each["cpu_seconds"] > 0 for each in judged)
    assert [file.name for file in write_report(item, place, tmp_path / "out")] == [
        "table-beyond.md",
        "table-beyond.json",
    ]


def test_it_is_an_item_and_says_that_it_is_not_the_paper_s():
    item = ITEMS["table-beyond"]
    assert all(isinstance(row.recipe.model, MinPlusSpec) for row in item.rows)
    assert "**Nothing here is in the paper.**" in item.report(Place(seeds=0)).text
