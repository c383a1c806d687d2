import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from ghr.paper.item import Place, write_report
from ghr.paper.items.echo_range import EchoRange
from ghr.paper.items.equal import EqualTable
from ghr.paper.kept import bring, keep
from ghr.paper.ranges import RangeTest
from ghr.paper.runs import RowRun, list_runs
from tiny_columns import ECHO, SYSTEMS

TRIALS = Path(__file__).parents[3] / "results" / "trials"
TABLE = EqualTable("table-tiny", "Tiny", "Tiny graphs.", SYSTEMS, (ECHO,))


def test_the_table_shows_every_system_beside_what_was_published(tiny_place, tmp_path):
    files = write_report(TABLE, tiny_place, tmp_path)
    text = files[0].read_text()
    error = RowRun(ECHO.row(SYSTEMS[1]), 42, tiny_place.runs).result()["metrics"]["mae"]
    assert f"| GCN | {error:.3f} / 2.102 |" in text
    assert "| GCN, about 30 min | - | 2.102 | - | - | 3 | - | not run |" in text
    assert "Of 3 finished rows of 12 minutes the lowest error is that of" in text
    assert "- GCN: one layer." in text
    assert "about 12 minutes of processor time. Published beside the paper, without a row here: ABC 0.5." in text
    assert "†" not in text.split("## All columns")[1]
    rows = json.loads(files[1].read_text())["rows"]
    assert [len(row["seeds"]) for row in rows] == [1, 1, 0, 1]


def test_the_range_by_exchange_has_a_column_where_it_is_asked(tiny_place, tmp_path):
    assert "by exchange |" not in write_report(TABLE, tiny_place, tmp_path)[0].read_text()
    column = replace(ECHO, tests=(*ECHO.tests, RangeTest("echo-sssp", exchange=True)))
    text = write_report(replace(TABLE, columns=(column,)), tiny_place, tmp_path)[0].read_text()
    assert "| range in hops | by exchange | parameters |" in text


@pytest.mark.skipif(not TRIALS.is_dir(), reason="trials are kept in the repository alone")
def test_the_number_of_trials_is_that_of_those_kept(tiny_place, tmp_path):
    kept = [*TRIALS.glob("*/config.json")]
    names = [json.loads(path.read_text())["experiment"]["data"]["benchmark"] for path in kept]
    found = Counter("-".join(name.split("-")[:2]) if name.startswith("echo") else name.split("-")[0] for name in names)
    told = (
        f"{len(kept)} trials of them are kept in `results/trials`, {found['echo-ecc']} on eccentricities, "
        f"{found['echo-diam']} on diameters, {found['lrim']} on lattices and {found['rgg']} on random geometric graphs."
    )
    text = " ".join(write_report(TABLE, tiny_place, tmp_path)[0].read_text().split())
    assert told in text


def test_what_is_trained_for_longer_comes_after_all_columns():
    table = EqualTable("table-tiny", "Tiny", "Tiny graphs.", SYSTEMS, (ECHO, replace(ECHO, key="again")))
    groups = [row.setup.group for row in table.rows]
    assert groups == ["equal/echo-sssp"] * 3 + ["equal/again"] * 3 + ["longer/echo-sssp", "longer/again"]


def test_runs_of_another_version_are_marked(tiny_place, tmp_path):
    run = RowRun(ECHO.row(SYSTEMS[1]), 42, tmp_path / "runs")
    shutil.copytree(RowRun(run.row, 42, tiny_place.runs).path, run.path)
    result = json.loads((run.path / "result.json").read_text())
    result["versions"]["ghr"] = "0.0.1"
    (run.path / "result.json").write_text(json.dumps(result))
    text = TABLE.report(Place(tmp_path / "runs", tiny_place.data)).text
    assert f"{result['metrics']['mae']:.3f}† / 2.102" in text


def test_processor_time_of_another_machine_is_marked(tiny_place, tmp_path):
    assert "‡" not in TABLE.report(tiny_place).text
    shutil.copytree(tiny_place.runs, tmp_path / "runs")
    file = RowRun(ECHO.row(SYSTEMS[1]), 42, tmp_path / "runs").path / "result.json"
    result = json.loads(file.read_text())
    usual, result["machine"]["cpu"] = result["machine"]["cpu"], "Slow 1"
    file.write_text(json.dumps(result))
    text = TABLE.report(Place(tmp_path / "runs", tiny_place.data)).text
    assert f'Processor time is that of {usual}; "‡" stands behind that of Slow 1, of the same epochs.' in text
    (line,) = [line for line in text.splitlines() if line.startswith("| GCN |") and "‡" in line]
    assert f"{result['cpu_seconds'] / 60:.1f}‡" in line
    assert text.count("‡") == 2


def test_errors_of_many_digits_are_powers_of_ten(tiny_place, tmp_path):
    run = RowRun(ECHO.row(SYSTEMS[1]), 42, tmp_path / "runs")
    shutil.copytree(RowRun(run.row, 42, tiny_place.runs).path, run.path)
    result = json.loads((run.path / "result.json").read_text())
    result["metrics"]["mae"] = 1.6e132
    (run.path / "result.json").write_text(json.dumps(result))
    assert "| GCN | 1.6e+132 / 2.102 |" in TABLE.report(Place(tmp_path / "runs", tiny_place.data)).text


def test_everything_is_made_again_from_what_is_kept(tiny_place, tmp_path):
    keep(list_runs(TABLE.rows, tiny_place.runs), tmp_path / "results")
    fresh = Place(tmp_path / "runs", tmp_path / "no-data")
    bring(list_runs(TABLE.rows, fresh.runs), tmp_path / "results")
    assert TABLE.report(fresh).text == TABLE.report(tiny_place).text
    figure = EchoRange(systems=SYSTEMS, columns=(ECHO,))
    assert figure.report(fresh).record == figure.report(tiny_place).record
