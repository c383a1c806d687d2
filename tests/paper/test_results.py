import json

import pytest
from matplotlib.figure import Figure

from ghr.paper.item import Place, Report, report_files, write_report
from ghr.paper.results import Spread, gather
from ghr.paper.row import AS_TRAINED, Loops
from ghr.paper.runs import list_runs
from tiny_rows import DEEP_ROW, GHR_ROW, ROWS, errors, pretend


@pytest.fixture
def runs(tmp_path):
    for run, scale in zip(list_runs([GHR_ROW], tmp_path), (1.0, 3.0), strict=True):
        pretend(run, scale)
    return tmp_path


def test_spread_is_mean_and_deviation_of_the_sample():
    assert Spread.over([1.0, 2.0, 3.0]) == Spread(2.0, 1.0)
    assert Spread.over([4.0]) == Spread(4.0, None)
    assert Spread.over([]) is None


def test_numbers_are_taken_over_the_finished_seeds(runs):
    (results,) = gather([GHR_ROW], runs)
    one = errors(1.0, in_range=5, last=8)
    for name in ("mae", "in_range", "out_of_range", "largest_prediction"):
        found = results.spread(name)
        assert (found.mean, found.std) == (pytest.approx(2 * one[name]), pytest.approx(2**0.5 * one[name]))
        assert results.spread(name, Loops(t_low=2)).mean == pytest.approx(4 * one[name])
    assert results.by_distance()[8].mean == results.at_distance(8) == pytest.approx(2 * 0.9)
    assert results.by_distance(Loops(t_low=2))[0].std == pytest.approx(0.2 * 2**0.5)
    assert (results.seeds, results.parameters) == ("2", 1000)
    assert results.cost == "3 epochs, 0 min"


def test_some_seeds_and_none(runs):
    assert gather([GHR_ROW], runs, seeds=1)[0].seeds == "1"
    (GHR_ROW.run_dir(runs, 4) / "result.json").unlink()
    assert gather([GHR_ROW], runs)[0].seeds == "1 of 2"
    finished, nothing = gather(ROWS, runs)
    assert finished.row is GHR_ROW
    assert (nothing.seeds, nothing.spread("mae"), nothing.by_distance()) == ("not run", None, {})
    assert nothing.parameters == DEEP_ROW.count_parameters()
    assert nothing.at_distance(8) is None


def test_loops_that_were_not_evaluated_are_missing_and_the_rest_is_there(runs):
    (GHR_ROW.run_dir(runs, 3) / "evaluations.json").unlink()
    (results,) = gather([GHR_ROW], runs)
    assert results.spread("mae").std > 0
    assert results.spread("mae", Loops(t_low=2)).std is None, "one of the two seeds"


def test_the_record_has_everything_and_survives_json(runs):
    record = json.loads(json.dumps(gather([GHR_ROW], runs)[0].record()))
    assert (record["budget"], record["far_loops"]) == (GHR_ROW.budget, "t_low=2")
    assert (record["config"]["model"], record["config"]["train"]["epochs"]) == ("ghr", 2)
    assert record["paper"]["out_of_range"] == [1.5, 0.2]
    first = record["seeds"][0]
    assert (first["seed"], first["epochs"], first["machine"]) == (3, 3, {"cores": 2})
    assert set(first["errors"]) == {"as trained", "t_low=2", "steps=2, t_high=2"}
    assert "by_distance" in first["errors"][AS_TRAINED.label]
    assert "by_distance" not in first["errors"]["steps=2, t_high=2"], "kept small"


class Drawn:
    name, title, rows = "drawn", "A picture", ()

    def report(self, place):
        return Report("Words.", {"number": 3}, Figure(figsize=(1, 1)))


def test_a_report_is_markdown_json_and_picture(tmp_path):
    written = write_report(Drawn(), Place(), tmp_path / "new" / "folder")
    files = report_files(Drawn(), tmp_path / "new" / "folder")
    assert set(written) == set(files.values())
    assert files["md"].read_text() == "# A picture\n\n`ghr reproduce drawn`\n\n![A picture](drawn.png)\n\nWords.\n"
    assert json.loads(files["json"].read_text())["number"] == 3
    assert files["png"].read_bytes()[:4] == b"\x89PNG"


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="Could not make the folder"):
        write_report(Drawn(), Place(), tmp_path / "file" / "out")
