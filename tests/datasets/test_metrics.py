import math

import pytest
import torch

from ghr.datasets.metrics import log10_mse, mean_absolute_error


def test_scores_are_their_definitions():
    prediction, target = torch.tensor([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([[1.0, 0.0], [3.0, 1.0]])
    assert mean_absolute_error(prediction, target) == pytest.approx(6 / 4)
    assert log10_mse(prediction, target) == pytest.approx(math.log10(20 / 4))
    assert log10_mse(target, target) == -math.inf


def test_sums_are_taken_in_double_precision():
    prediction = torch.full((100_000, 1), 1e-4)
    assert mean_absolute_error(prediction, torch.zeros_like(prediction)) == pytest.approx(
        float(prediction[0]), rel=1e-9
    )


@pytest.mark.parametrize("score", [mean_absolute_error, log10_mse])
def test_wrong_shapes_and_no_rows_are_said(score):
    with pytest.raises(ValueError, match=r"same shape; got \(2, 1\) and \(2,\)"):
        score(torch.ones(2, 1), torch.ones(2))
    with pytest.raises(ValueError, match="The error of no rows is not defined"):
        score(torch.ones(0, 1), torch.ones(0, 1))
