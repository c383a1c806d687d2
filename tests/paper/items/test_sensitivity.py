import shutil
from dataclasses import replace

from ghr.ops import using
from ghr.paper.item import Place, write_report
from ghr.paper.items import ITEMS
from ghr.paper.items.sensitivity import SensitivityTable
from ghr.paper.runs import list_runs, work_on
from ghr.paper.sensitivity import ECHO, Factor

TINY = replace(
    ECHO,
    factors=(
        Factor("R", "steps", 2, (1,)),
        Factor("T_H", "t_high", 1, (2,)),
        Factor("T_L", "t_low", 1, (2,)),
        Factor("levels", "levels", 2, (1, 3)),
        Factor("partition", "partition", "Graclus, 1 round", ("random, 2 rounds",)),
    ),
    settings={**ECHO.settings, "hidden_channels": 4, "steps": 2, "t_high": 1, "t_low": 1},
    graphs={"train": 6, "val": 3, "test": 3},
    epochs=2,
    drawn=3,
)


def test_what_is_finished_is_shown_weighed_and_drawn(tmp_path):
    item, place = SensitivityTable(studies=(TINY,)), Place(tmp_path / "runs", tmp_path / "data")
    with using("torch"):
        assert work_on(list_runs(item.rows, place.runs), place.data, quiet=True) == []
    files = write_report(item, place, tmp_path / "out")
    assert [file.suffix for file in files] == [".md", ".json", ".png"]
    text = files[0].read_text()
    assert "not run" not in text
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert lines[1].startswith("| the recipe |  | ")
    assert " to " in lines[1], "the spread over three seeds"
    assert lines[1].endswith("| 3 |")
    assert "- better than every seed of the recipe: " in text
    assert "Of 10 of 10 rows, without those that have no coarse level; shares that add up to one." in text
    drawn = [line.split(" | ")[2] for line in lines if line.startswith("| drawn ")]
    chosen = [TINY.draw(place) for place in range(3)]
    assert drawn == ["-" if row["levels"] == 1 else str(row["t_high"]) for row in chosen], "a flat row has no T_H"
    assert 1 in [row["levels"] for row in chosen]
    record = item.report(place).record["studies"][0]
    assert set(record["importances"]) == {factor.title for factor in TINY.factors}
    assert len(record["rows"]) == 10


def test_a_factor_that_was_never_varied_is_not_weighed(tmp_path):
    item, place = SensitivityTable(studies=(TINY,)), Place(tmp_path / "runs", tmp_path / "data")
    chosen = [TINY.base, *TINY.single_rows[:-1]]
    with using("torch"):
        assert work_on(list_runs(chosen, place.runs, seeds=1), place.data, quiet=True) == []
    report = item.report(place)
    assert report.record["studies"][0]["importances"] == {}
    assert "Nothing can be said yet: 6 of 10 rows are finished." in report.text


def test_rows_without_a_coarse_level_are_not_weighed(tmp_path):
    item, place = SensitivityTable(studies=(TINY,)), Place(tmp_path / "runs", tmp_path / "data")
    with using("torch"):
        assert work_on(list_runs(item.rows, place.runs), place.data, quiet=True) == []
    before = item.report(place).record["studies"][0]["importances"]
    flat = [row for row in TINY.rows if row.settings.get("levels") == 1]
    assert flat
    for row in flat:
        shutil.rmtree(place.runs / row.name)
    assert item.report(place).record["studies"][0]["importances"] == before


def test_it_can_be_written_before_anything_is_trained(tmp_path):
    item = ITEMS["table-sensitivity"]
    files = write_report(item, Place(tmp_path, tmp_path), tmp_path / "out")
    text = files[0].read_text()
    assert [file.suffix for file in files] == [".md", ".json"], "nothing can be drawn yet"
    assert text.count("not run") == len(item.rows)
    assert "Nothing can be said yet: 0 of 46 rows are finished." in text
    assert "| pooling | sum | - | - |" in text
