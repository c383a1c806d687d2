import json
import shutil
from dataclasses import replace

import pytest

from ghr.paper.item import Place, write_report
from ghr.paper.items.echo_range import EchoRange
from ghr.paper.items.equal import EqualTable
from ghr.paper.items.transfer import Transfer
from ghr.paper.kept import bring, keep
from ghr.paper.ranges import RangeTest
from ghr.paper.runs import RowRun, list_runs, work_on
from ghr.paper.systems import LRIM_SYSTEMS
from tiny_columns import ECHO, LRIM, SYSTEMS

TABLE = EqualTable("table-tiny", "Tiny", "Tiny graphs.", SYSTEMS, (ECHO,))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("equal")
    place = Place(folder / "runs", folder / "data")
    rows = [*ECHO.rows(SYSTEMS)[:3], *LRIM.rows(SYSTEMS)]
    assert work_on(list_runs(rows, place.runs), place.data, quiet=True) == []
    return place


def test_the_table_shows_every_system_beside_what_was_published(place, tmp_path):
    files = write_report(TABLE, place, tmp_path)
    text = files[0].read_text()
    error = RowRun(ECHO.row(SYSTEMS[1]), 42, place.runs).result()["metrics"]["mae"]
    assert f"| GCN | {error:.3f} / 2.102 |" in text
    assert "| GCN, about 30 min | - | 2.102 | - | - | 3 | - | not run |" in text
    assert "Of 3 finished rows of 12 minutes the lowest error is that of" in text
    assert "- GCN: one layer." in text
    assert "†" not in text.split("## All columns")[1]
    rows = json.loads(files[1].read_text())["rows"]
    assert [len(row["seeds"]) for row in rows] == [1, 1, 0, 1]


def test_runs_of_another_version_are_marked(place, tmp_path):
    run = RowRun(ECHO.row(SYSTEMS[1]), 42, tmp_path / "runs")
    shutil.copytree(RowRun(run.row, 42, place.runs).path, run.path)
    result = json.loads((run.path / "result.json").read_text())
    result["versions"]["ghr"] = "0.0.1"
    (run.path / "result.json").write_text(json.dumps(result))
    text = TABLE.report(Place(tmp_path / "runs", place.data)).text
    assert f"{result['metrics']['mae']:.3f}† / 2.102" in text


def test_errors_of_many_digits_are_powers_of_ten(place, tmp_path):
    run = RowRun(ECHO.row(SYSTEMS[1]), 42, tmp_path / "runs")
    shutil.copytree(RowRun(run.row, 42, place.runs).path, run.path)
    result = json.loads((run.path / "result.json").read_text())
    result["metrics"]["mae"] = 1.6e132
    (run.path / "result.json").write_text(json.dumps(result))
    assert "| GCN | 1.6e+132 / 2.102 |" in TABLE.report(Place(tmp_path / "runs", place.data)).text


def test_errors_by_distance_and_diameter(place):
    report = EchoRange(systems=SYSTEMS, columns=(ECHO,)).report(place)
    curves = report.record["curves"]["echo-sssp"]
    result = RowRun(ECHO.row(SYSTEMS[2]), 42, place.runs).result()
    assert {str(d): e for d, e in curves["by_distance"]["best constant"].items()} == {
        d: round(group["mae"], 5) for d, group in result["metrics"]["by_distance"].items()
    }
    assert {*curves["by_diameter"]} == {"GHR", "GCN", "best constant"}
    assert all(17 <= width <= 40 for width in curves["by_diameter"]["GHR"])
    assert len(report.figure.axes) == 2


def test_transfer_asks_only_what_a_system_can_answer(place):
    report = Transfer(systems=SYSTEMS, column=LRIM, larger=(*LRIM.tests, *LRIM.far_tests)).report(place)
    rows = {row["system"]: row["errors"] for row in report.record["rows"]}
    assert rows["ghr"] == {16: None, 32: None, 64: None}
    assert rows["gcn"][32] is not None
    assert rows["gcn"][64] is None
    assert rows["constant"][64] is not None
    assert rows["oracle-15"][64] > rows["oracle-15"][32]
    assert rows["oracle-15"][32] < rows["oracle-8"][32]


def test_a_kernel_that_is_exact_sees_no_farther_than_half_the_trained_side(place):
    kernel = next(system for system in LRIM_SYSTEMS if system.key == "torus-kernel")
    column = replace(LRIM, epochs={kernel.key: 1}, tests=(*LRIM.tests, RangeTest("lrim-16-hard", graphs=2)))
    assert work_on(list_runs(column.rows((kernel,)), place.runs), place.data, quiet=True) == []
    report = Transfer(systems=(kernel,), column=column, larger=LRIM.tests).report(place)
    rows = {row["system"]: row["errors"] for row in report.record["rows"]}
    assert rows["torus-kernel"][16] < -10
    assert rows["oracle-15"][32] < rows["torus-kernel"][32] < rows["oracle-8"][32]
    assert "two floors" in report.text
    text = EqualTable("table-tiny", "Tiny", "Tiny graphs.", (kernel,), (column,)).report(place).text
    assert "| 45 | 1 |" in text
    assert f"- {kernel.title}: knows the lattice and the form of the answer" in text


def test_everything_is_made_again_from_what_is_kept(place, tmp_path):
    keep(list_runs(TABLE.rows, place.runs), tmp_path / "results")
    fresh = Place(tmp_path / "runs", tmp_path / "no-data")
    bring(list_runs(TABLE.rows, fresh.runs), tmp_path / "results")
    assert TABLE.report(fresh).text == TABLE.report(place).text
    figure = EchoRange(systems=SYSTEMS, columns=(ECHO,))
    assert figure.report(fresh).record == figure.report(place).record
