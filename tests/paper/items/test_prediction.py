from dataclasses import replace

import pytest
import torch

from ghr.paper.item import Place
from ghr.paper.items.prediction import Prediction
from ghr.paper.rgg import PREDICTION
from ghr.paper.row import Inference, Loops, Setup
from ghr.paper.runs import list_runs, work_on

SETUP = Setup(
    "rgg-cap10", "rgg-sssp-small", {"epochs": 1, "patience": None}, {"train": 6, "val": 3, "test": 5}, seeds=(42,)
)


@pytest.fixture
def item():
    ghr, deep = PREDICTION
    inference = Inference((Loops(t_low=2),), far=Loops(t_low=2))
    return Prediction(
        rows=(
            replace(ghr, setup=SETUP, settings={"steps": 1, "t_high": 1, "t_low": 1}, inference=inference),
            replace(deep, setup=SETUP, settings={"layers": 2}),
        )
    )


def test_the_furthest_graph_is_shown_with_the_errors_on_it(tmp_path, item):
    work_on(list_runs(item.rows, tmp_path / "runs"), tmp_path / "data", quiet=True)
    report = item.report(Place(tmp_path / "runs", tmp_path / "data"))
    model = list_runs(item.rows, tmp_path / "runs")[0].open().model
    test_set = item.rows[0].experiment().data.load(tmp_path / "data", model.transform).test
    graph = max(test_set, key=lambda candidate: (int(candidate.hops.max()), candidate.num_nodes))
    with torch.no_grad():
        guess = model(graph, t_low=2)[:, 0]
    near = [abs(float(g) - h) for g, h in zip(guess, graph.hops.tolist(), strict=True) if 0 <= h <= 5]
    far = [abs(float(g) - h) for g, h in zip(guess, graph.hops.tolist(), strict=True) if h > 5]
    line = next(line for line in report.text.splitlines() if line.startswith("| GHR-GatedGINE | t_low=2"))
    cells = line.split(" | ")
    assert float(cells[4]) == pytest.approx(sum(near) / len(near), abs=6e-4)
    assert float(cells[5]) == pytest.approx(sum(far) / len(far), abs=6e-4)
    assert cells[6] == f"{float(guess[graph.mask].max()):.1f}"
    titles = [axes.get_title() for axes in report.figure.axes]
    assert titles[:4] == [
        f"true distance, up to {int(graph.hops.max())} hops",
        "predicted by GHR-GatedGINE, as trained",
        "predicted by GHR-GatedGINE, t_low=2",
        "predicted by Deep-GINE, 10 layers, as trained",
    ]


def test_without_runs_there_is_no_picture(tmp_path, item):
    report = item.report(Place(tmp_path / "runs", tmp_path / "data"))
    assert report.figure is None
    assert report.text.count("not run") == 3
    assert not (tmp_path / "data").exists()
