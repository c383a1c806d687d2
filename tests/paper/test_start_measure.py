import pytest
import torch

from ghr.datasets.task import Task
from ghr.paper.start import Started, StartTest, _best_constant, _first_below, measure_start

TINY = {"hidden_channels": 8, "steps": 1, "t_high": 1, "t_low": 1}
FEW = {"train": 4, "val": 2, "test": 1}


def test_the_updates_needed_are_counted_over_a_window_of_batches():
    assert _first_below([2.0] * 8 + [0.0] * 5, 1.0) == 13
    assert _first_below([0.0] * 8, 1.0) == 8
    assert _first_below([0.0] * 7, 1.0) is None


def test_the_best_constant_depends_on_the_loss():
    target = torch.tensor([[0.0], [0.0], [3.0]])
    assert _best_constant(Task("node", loss="mse"), target).item() == 1
    assert _best_constant(Task("node", loss="l1"), target).item() == 0


@pytest.mark.parametrize("updates", [0, 2])
def test_everything_is_measured(tmp_path, updates):
    test = StartTest("rgg-sssp-small", updates, TINY, FEW, batch_size=2)
    found = measure_start(test, "gine", "scaled", tmp_path)
    assert found.on_scale
    assert found.largest_target == 5
    assert found.gradient > 0
    assert (found.score is None) == (updates == 0)
    assert found == measure_start(test, "gine", "scaled", tmp_path)


def test_on_scale_looks_at_mean_and_maximum():
    def start(mean, largest):
        return Started(mean, largest, 1.0, 2.0, 1.0, 1.0, None, None, 1.0)

    assert start(2.0, 20.0).on_scale
    assert not start(2.1, 20.0).on_scale
    assert not start(2.0, 20.1).on_scale
