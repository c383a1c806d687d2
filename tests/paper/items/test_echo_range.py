from ghr.paper.item import Place
from ghr.paper.items.echo_range import EchoRange
from ghr.paper.runs import RowRun
from tiny_columns import ECHO, SYSTEMS

FIGURE = EchoRange(systems=SYSTEMS, columns=(ECHO,))


def test_errors_by_distance_and_diameter(tiny_place):
    report = FIGURE.report(tiny_place)
    curves = report.record["curves"]["echo-sssp"]
    result = RowRun(ECHO.row(SYSTEMS[2]), 42, tiny_place.runs).result()
    assert {str(d): e for d, e in curves["by_distance"]["best constant"].items()} == {
        d: round(group["mae"], 5) for d, group in result["metrics"]["by_distance"].items()
    }
    assert {*curves["by_diameter"]} == {"GHR", "GCN", "best constant"}
    assert all(17 <= width <= 40 for width in curves["by_diameter"]["GHR"])
    assert len(report.figure.axes) == 2


def test_rows_are_those_with_one_seed():
    assert [row.name for row in FIGURE.rows] == [f"equal/echo-sssp/{key}" for key in ("ghr", "gcn", "constant")]


def test_tables_show_some_points_of_every_curve(tiny_place):
    report = FIGURE.report(tiny_place)
    curve = report.record["curves"]["echo-sssp"]["by_distance"]["GCN"]
    line = next(line for line in report.text.splitlines() if line.startswith("| GCN |"))
    assert "| system | 5 hops | 10 hops | 20 hops | 30 hops | 40 hops |" in report.text
    cells = [cell.strip() for cell in line.strip("|").split("|")][1:]
    assert cells == [f"{curve[d]:.3f}" if d in curve else "-" for d in (5, 10, 20, 30, 40)]


def test_without_runs_it_says_so(tmp_path):
    report = FIGURE.report(Place(tmp_path / "runs", tmp_path / "data"))
    assert report.text.count("| not run |") == 3
    assert report.record["curves"] == {"echo-sssp": {"by_distance": {}, "by_diameter": {}}}
