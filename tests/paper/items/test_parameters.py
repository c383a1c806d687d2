from ghr.paper.item import Place
from ghr.paper.items.parameters import Parameters
from ghr.paper.rgg import REDUCED
from ghr.paper.runs import list_runs
from tiny_rows import pretend


def test_rows_are_sorted_by_size_and_finished_ones_drawn(tmp_path):
    for run in list_runs(REDUCED[:2], tmp_path, seeds=1):
        pretend(run, 1.0)
    report = Parameters().report(Place(tmp_path))
    lines = [line.strip("| ").split(" | ") for line in report.text.splitlines() if line.startswith("| ")][1:]
    sizes = [int(line[1].replace(",", "")) for line in lines]
    assert sizes == sorted(sizes)
    assert len(lines) == 16
    assert [text.get_text() for text in report.figure.legends[0].get_texts()] == ["1 GHR-GatedGINE", "2 GHR-GINE"]
    assert len(report.figure.axes[1].containers) == 2
