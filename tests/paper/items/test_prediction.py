from dataclasses import replace

import pytest
import torch

from ghr.paper import DeepSpec, GHRSpec, Recipe, RGGSpec
from ghr.paper.item import Place
from ghr.paper.items.prediction import Prediction
from ghr.paper.rgg import PREDICTION
from ghr.paper.row import Counts
from ghr.paper.runs import runs_of, work_on
from ghr.train import TrainConfig

DATA = RGGSpec(train_graphs=6, val_graphs=3, test_graphs=5)


@pytest.fixture
def item():
    ghr, deep = PREDICTION
    short = Recipe(GHRSpec(steps=1, t_high=1, t_low=1), DATA, TrainConfig(epochs=1))
    more = Counts(t_low=2)
    return Prediction(
        rows=(
            replace(ghr, recipe=short, inference=(more,), beyond=more),
            replace(deep, recipe=replace(short, model=DeepSpec(layers=2))),
        )
    )


def test_the_furthest_graph_is_shown_with_the_errors_on_it(tmp_path, item):
    work_on(runs_of(item.rows, tmp_path / "runs"), tmp_path / "data", quiet=True)
    report = item.report(Place(tmp_path / "runs", tmp_path / "data"))
    test_set = DATA.load(tmp_path / "data", "test")
    graph = max(test_set, key=lambda each: (int(each.hops.max()), each.num_nodes))
    model = runs_of(item.rows, tmp_path / "runs")[0].model()
    with torch.no_grad():
        guess = model(graph, t_low=2)[:, 0]
    near = [abs(float(g) - h) for g, h in zip(guess, graph.hops.tolist(), strict=True) if 0 <= h <= 5]
    line = next(line for line in report.text.splitlines() if line.startswith("| GHR-GatedGINE | t_low=2"))
    assert line.split(" | ")[4] == f"{sum(near) / len(near):.3f}"
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
