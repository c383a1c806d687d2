from ghr.paper.item import Place
from ghr.paper.items.ablations import AblationFigure, AblationTable
from ghr.paper.rgg import FULL, REDUCED
from ghr.paper.runs import list_runs
from tiny_rows import pretend


def rows(text):
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {(line[0], line[1] if "=" in line[1] or "trained" in line[1] else ""): line for line in lines}


def test_our_numbers_stand_beside_the_paper_s(tmp_path):
    for run in list_runs([FULL[0], REDUCED[11]], tmp_path, seeds=2):
        pretend(run, 1.0)
    report = AblationTable().report(Place(tmp_path))
    main, holds, loops = report.text.split("## ")
    assert "GHR-GatedGINE, full protocol 6.300 | **no** |" in holds
    assert holds.count("not known") == 4
    main, loops = rows(main), rows(loops)
    line = main["GHR-GatedGINE, full protocol", ""]
    assert line[1:9] == [
        "4.200 ± 0.000", "0.146 ± 0.395", "2.200 ± 0.000", "0.098 ± 0.088", "6.300 ± 0.000", "0.578 ± 0.828",
        "20.00", "41.48",
    ]  # fmt: skip
    budget = "6,000 graphs, at most 300 epochs, batch 32, patience 15, lr 0.001"
    assert line[9:] == ["t_low=8", "2 of 3", budget, "3 epochs, 0 min"]
    assert main["Deep-GINE", ""][5] == "3.150 ± 0.000", "deep models are run as trained"
    assert main["GHR-GAT", ""][1:3] == ["-", "0.466 ± 1.557"]
    assert main["GHR-GAT", ""][10] == "not run"
    assert loops["GHR-GatedGINE, full protocol", "as trained"][3] == "1.100 ± 0.000"
    assert ("GHR-GAT", "as trained") not in loops
    assert len(report.record["rows"]) == 16


def test_curves_are_those_of_the_loops_that_go_out_of_range(tmp_path):
    for run in list_runs([REDUCED[0], REDUCED[8]], tmp_path, seeds=1):
        pretend(run, 1.0)
    report = AblationFigure().report(Place(tmp_path))
    ghr, flat = report.figure.axes
    assert [(line.get_label(), round(line.get_ydata()[-1], 6)) for line in ghr.lines] == [("GHR-GatedGINE", 8.2)]
    assert [(line.get_label(), round(line.get_ydata()[-1], 6)) for line in flat.lines] == [("Deep-GatedGINE + GR", 4.1)]
    assert rows(report.text)["GHR-GatedGINE", "t_low=8"][-3] == "8.20"
