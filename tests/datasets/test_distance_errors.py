import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ghr.datasets import mae_by_distance
from ghr.datasets.metrics import mean_absolute_error


def test_errors_are_grouped_by_distance():
    prediction = torch.tensor([[0.5], [1.0], [4.0], [9.0], [77.0]])
    target = torch.tensor([[0.0], [1.0], [1.0], [3.0], [0.0]])
    report = mae_by_distance(prediction, target, torch.tensor([0, 1, 1, 3, -1]), in_range=1)
    assert report == {
        "mae": 9.5 / 4,
        "in_range": 3.5 / 3,
        "out_of_range": 6.0,
        "largest_prediction": 9.0,
        "by_distance": {
            "0": {"mae": 0.5, "count": 1},
            "1": {"mae": 1.5, "count": 2},
            "3": {"mae": 6.0, "count": 1},
        },
    }
    assert mae_by_distance(prediction, target, torch.tensor([0, 1, 1, 3, -1]), in_range=3)["out_of_range"] is None
    uncapped = mae_by_distance(prediction, target, torch.tensor([0, 1, 1, 3, -1]), in_range=None)
    assert uncapped == report | {"in_range": None, "out_of_range": None}
    nothing = mae_by_distance(prediction, target, torch.full((5,), -1), in_range=3)
    assert nothing == dict.fromkeys(("mae", "in_range", "out_of_range", "largest_prediction")) | {"by_distance": {}}
    with pytest.raises(ValueError, match="One prediction per entry of hops"):
        mae_by_distance(prediction, target, torch.zeros(4, dtype=torch.long), in_range=1)
    with pytest.raises(ValueError, match="same shape"):
        mae_by_distance(prediction.flatten(), target, torch.zeros(5, dtype=torch.long), in_range=1)


@given(st.lists(st.tuples(st.integers(-1, 9), st.floats(-50, 50)), min_size=1), st.integers(0, 9))
def test_groups_add_up_to_the_whole(rows, in_range):
    hops = torch.tensor([hop for hop, _ in rows])
    prediction = torch.tensor([value for _, value in rows], dtype=torch.float64)
    report = json.loads(json.dumps(mae_by_distance(prediction, hops.double(), hops, in_range)))
    reached = hops >= 0
    groups = report["by_distance"].values()
    assert sum(group["count"] for group in groups) == int(reached.sum())
    if bool(reached.any()):
        whole = mean_absolute_error(prediction[reached], hops[reached].double())
        assert report["mae"] == pytest.approx(whole)
        assert sum(group["mae"] * group["count"] for group in groups) == pytest.approx(whole * int(reached.sum()))
