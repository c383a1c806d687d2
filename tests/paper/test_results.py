import json

import pytest
from matplotlib.figure import Figure

from ghr.paper.item import Place, Report, report_files, write_report
from ghr.paper.results import Spread, gather
from ghr.paper.row import AS_TRAINED, Counts
from ghr.paper.runs import runs_of
from tiny_rows import DEEP_ROW, GHR_ROW, errors, pretend


@pytest.fixture
def runs(tmp_path):
    for run, scale in zip(runs_of([GHR_ROW], tmp_path), (1.0, 3.0), strict=True):
        pretend(run, scale)
    return tmp_path


def test_spread_is_mean_and_deviation_of_the_sample():
    assert Spread.over([1.0, 2.0, 3.0]) == Spread(2.0, 1.0)
    assert Spread.over([4.0]) == Spread(4.0, None)
    assert Spread.over([]) is None


def test_numbers_are_taken_over_the_finished_seeds(runs):
    results = gather(GHR_ROW, runs)
    one = errors(1.0, in_range=5, last=8)
    for name in ("mae", "in_range", "out_of_range", "largest_prediction"):
        found = results.spread(name)
        assert (found.mean, found.std) == (pytest.approx(2 * one[name]), pytest.approx(2**0.5 * one[name]))
        assert results.spread(name, Counts(t_low=2)).mean == pytest.approx(4 * one[name])
    assert results.by_distance()[8].mean == pytest.approx(2 * 0.9)
    assert results.by_distance(Counts(t_low=2))[0].std == pytest.approx(0.2 * 2**0.5)
    assert (results.seeds, results.parameters) == ("2", 1000)
    assert results.cost == "3 epochs, 0 min"


def test_some_seeds_and_none(runs):
    assert gather(GHR_ROW, runs, seeds=1).seeds == "1"
    (GHR_ROW.run_dir(runs, 4) / "result.json").unlink()
    assert gather(GHR_ROW, runs).seeds == "1 of 2"
    nothing = gather(DEEP_ROW, runs)
    assert (nothing.seeds, nothing.spread("mae"), nothing.by_distance()) == ("not run", None, {})
    assert nothing.parameters == sum(parameter.numel() for parameter in DEEP_ROW.recipe.build().parameters())


def test_numbers_of_steps_that_were_not_judged_are_missing_and_the_rest_is_there(runs):
    (GHR_ROW.run_dir(runs, 3) / "evaluations.json").unlink()
    results = gather(GHR_ROW, runs)
    assert results.spread("mae").std > 0
    assert results.spread("mae", Counts(t_low=2)).std is None, "one of the two seeds"


def test_the_record_has_everything_and_survives_json(runs):
    record = json.loads(json.dumps(gather(GHR_ROW, runs).record()))
    assert record["budget"] == GHR_ROW.budget
    assert record["config"]["model"]["kind"] == "ghr"
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
