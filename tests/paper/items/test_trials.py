from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

from ghr.paper.beyond import FarTest
from ghr.paper.item import Place
from ghr.paper.items.trials import TrialsTable, _constant_error
from ghr.paper.runs import runs_of, work_on
from ghr.paper.trials import COARSE_EDGES, OTHER_QUESTIONS, PARTS_REPLACED
from ghr.train import TrainConfig


def short(row):
    data = replace(row.recipe.data, train_graphs=8, val_graphs=2, test_graphs=2)
    return replace(row, recipe=replace(row.recipe, data=data, train=TrainConfig(epochs=1, lr=1e-3)), seeds=(1,))


def test_the_table_judges_every_kind_of_row(tmp_path):
    item = TrialsTable(
        replaced=tuple(short(row) for row in (PARTS_REPLACED[1], PARTS_REPLACED[5])),
        questions=tuple(short(row) for row in OTHER_QUESTIONS[1:]),
        coarse=short(COARSE_EDGES),
        test=FarTest("small", 8, 30),
    )
    place = Place(tmp_path / "runs", tmp_path / "data")
    assert work_on(runs_of(item.rows, place.runs), place.data, quiet=True) == []
    report = item.report(place)
    assert "not run" not in report.text
    assert "**Nothing here is in the paper.**" in report.text
    judged = report.record["judged"]
    assert [each["updates"] for each in judged] == [8] * 5 + [4] * 3
    by_edges = {each["coarse_edges"]: each["in_range"] for each in judged[5:]}
    assert len(by_edges) == len(set(by_edges.values())) == 3


def test_the_best_constant_is_the_median_beyond_the_range():
    far = Data(y=torch.tensor([[50.0], [1.0], [2.0], [9.0]]), hops=torch.tensor([5, 6, 7, 8]))
    assert _constant_error([far], 5) == pytest.approx((1 + 0 + 7) / 3)
