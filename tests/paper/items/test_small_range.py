from ghr.paper.item import Place
from ghr.paper.items.small_range import SmallRange
from ghr.paper.rgg import SMALL
from ghr.paper.runs import list_runs
from tiny_rows import pretend


def cells(text, start):
    """The cells of all lines of a Markdown table that start with a cell."""
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith(f"| {start}")]


def test_numbers_stand_in_the_rows_they_belong_to(tmp_path):
    for run in list_runs(SMALL[5][:1], tmp_path):
        pretend(run, 1.0)
    item = SmallRange()
    report = item.report(Place(tmp_path))
    holds, five, eight = report.text.split("## ")[1:]
    assert "as trained 0.800 | **no** |" in holds
    assert holds.count("not known") == 2
    ghr = {row[1]: row for row in cells(five, "GHR")}
    assert ghr["as trained"][2:7] == ["0.350 ± 0.000", "0.700", "0.800", "0.900", "0.800 ± 0.000"]
    assert ghr["t_low=4"][5] == "1.800"
    budget = "6,000 graphs, at most 300 epochs, batch 32, patience 15, lr 0.001"
    assert ghr["t_low=4"][-3:] == ["3", budget, "3 epochs, 0 min"]
    assert cells(five, "GPS")[0][2:7] == ["-"] * 5
    assert cells(five, "GPS")[0][-3] == "not run"
    assert cells(five, "(nodes")[0][3:6] == ["2", "2", "2"]
    assert all(row[-3] == "not run" for row in cells(eight, "GHR"))
    assert cells(eight, "(nodes")[0][3:6] == ["-"] * 3
    left, right = report.figure.axes
    curves = {line.get_label(): line.get_ydata() for line in left.lines}
    assert curves["GHR-GatedGINE"][-1] == 0.9
    assert curves["GHR-GatedGINE, t_low=4 at test"][-1] == 1.8
    assert right.get_title() == "trained up to 8 hops"


def test_three_models_two_caps_three_seeds():
    assert len(list_runs(SmallRange().rows, "runs")) == 18
