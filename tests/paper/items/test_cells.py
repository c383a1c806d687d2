from dataclasses import replace

from ghr.paper.cell_tests import FarHops
from ghr.paper.cells import GROUPS, CellGroup, CellRow, Column
from ghr.paper.extension import FarTest
from ghr.paper.item import Place, write_report
from ghr.paper.items import ITEMS
from ghr.paper.items.cells import CellsTable
from ghr.paper.row import Loops
from ghr.paper.runs import TESTS, list_runs, work_on
from tiny_rows import GRAPHS, SETUP, pretend

TINY = {"steps": 1, "t_low": 2, "epochs": 1}
ROW = CellRow("cell", "GHR", replace(SETUP, graphs=GRAPHS), "ghr-select", TINY, folder="cell", far=Loops(steps=2))
OTHER = replace(ROW, title="other", folder="other")


def group_of(*rows, target=1.0):
    columns = (Column("in range", "in_range"), Column("6-8 hops", "out_of_range", target=target))
    return CellGroup("A group", "How it is tested.", rows, columns)


def test_finished_runs_are_tested_once_and_what_is_missing_is_said(tmp_path):
    far = Column("far", "out_of_range", FarHops(FarTest("small", 8, 20), 5), 1e-6)
    group = replace(group_of(ROW, OTHER), columns=(Column("in range", "in_range"), far))
    item, place = CellsTable(groups=(group,)), Place(tmp_path / "runs", tmp_path / "data")
    runs = list_runs([ROW], place.runs)
    work_on(runs, place.data, quiet=True)
    report = item.report(place)
    assert "| cell | in range | far (target: at most 1e-06) | epochs | parameters | CPU s | seeds |" in report.text
    assert "- far, within the target with every finished seed: no row. Not: cell." in report.text
    lines = [line for line in report.text.splitlines() if line.startswith("| cell |")]
    assert lines[1].endswith("| 2 |"), "both seeds are finished"
    assert "| other | - | - | 1 | - | - | not run |" in report.text
    seeds = report.record["rows"][0]["seeds"]
    assert [seed["seed"] for seed in seeds] == [3, 4]
    assert all(seed["errors"]["far"] > 0 for seed in seeds)
    for run in runs:
        assert (run.path / TESTS).exists()
        (run.path / "best.safetensors").unlink()
    assert item.report(place).text == report.text, "no weights are needed any more"


def test_the_mean_and_the_worst_seed(tmp_path):
    runs = list_runs([ROW], tmp_path)
    for run, scale in zip(runs, (1.0, 2.0), strict=True):
        pretend(run, scale)
    item = CellsTable(groups=(group_of(ROW, target=1.5),))
    text = item.report(Place(tmp_path, tmp_path)).text
    assert "| cell | 0.5250 (0.7000) | 1.2000 (1.6000) | 3 | 1,000 | 2 | 2 |" in text
    assert "with every finished seed: no row. Not: cell." in text, "one seed above it is enough"
    text = item.report(Place(tmp_path, tmp_path, seeds=1)).text
    assert "| cell | 0.3500 | 0.8000 |" in text
    assert "- 6-8 hops, within the target with every finished seed: cell.\n" in f"{text}\n"


def test_a_seed_without_weights_and_without_a_test_is_not_passed_over(tmp_path):
    far = Column("far", "out_of_range", FarHops(FarTest("small", 8, 20), 5), 100.0)
    item = CellsTable(groups=(replace(group_of(ROW), columns=(Column("in range", "in_range"), far)),))
    place = Place(tmp_path / "runs", tmp_path / "data")
    first, second = list_runs([ROW], place.runs)
    work_on([first], place.data, quiet=True)
    pretend(second, 1.0)
    text = item.report(place).text
    assert ", 1 of 2 tested |" in text
    assert "within the target" not in text


def test_a_row_of_two_tables_is_trained_once(tmp_path):
    item = CellsTable(groups=(group_of(ROW), group_of(OTHER, ROW)))
    assert [row.title for row in item.rows] == ["cell", "other"]
    assert item.report(Place(tmp_path, tmp_path)).text.count("not run") == 3


def test_it_is_an_item_and_says_what_is_not_in_the_paper(tmp_path):
    item = ITEMS["table-cells"]
    assert item.groups == GROUPS
    text = item.report(Place(seeds=0)).text
    assert "**The\nrows named select and sum are not in the paper.**" in text
    assert "starts as the algorithm of Bellman and Ford" in " ".join(text.split())
    files = write_report(item, Place(tmp_path, tmp_path), tmp_path / "out")
    assert [file.name for file in files] == ["table-cells.md", "table-cells.json"]
