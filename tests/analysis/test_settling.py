"""Settling, of recurrences of which it is known."""

import pytest
import torch

import ghr
from ghr import GHR, MinPlusGHR
from ghr.analysis import measure_settling
from ghr.models.settle import relative_change
from ghr.testing import path_graph


def test_min_plus_settles_wherever_it_begins():
    model = MinPlusGHR(levels=1, steps=3, t_low=4)
    found = measure_settling(model, path_graph(8))
    assert found.steps == 12
    assert found.residual == 0
    assert found.disagreement < 1e-5


def test_too_few_steps_show():
    model = MinPlusGHR(levels=1, steps=1, t_low=1)
    found = measure_settling(model, path_graph(20), times=2)
    assert found.residual > 1e-3
    assert found.disagreement > 1e-3


def test_a_state_that_only_adds_up_does_not():
    torch.manual_seed(0)
    model = GHR(1, 8, 1, conv="gcn", levels=1, start="paper", steps=2, t_low=2)
    graph = path_graph(8)
    found = measure_settling(model, graph, times=2)
    rollout = model.eval().rollout(graph, steps=4)
    assert found.residual == pytest.approx(relative_change(rollout[-2], rollout[-1]))
    assert found.residual > 0.01
    assert found.disagreement > 0.01
    assert found == measure_settling(model, graph, times=2), "the random starts are those of the seed"
    assert found.disagreement != measure_settling(model, graph, times=2, seed=1).disagreement


def test_one_step_is_compared_with_the_start():
    model = GHR(1, 8, 1, conv="gine", levels=1, steps=1)
    assert measure_settling(model, path_graph(5), times=1).residual >= 0
    assert model.training, "the mode is as it was"


def test_the_bundled_model_with_values_settles():
    model = ghr.load("rgg-sssp-general")
    graph = path_graph(6)
    graph.edge_attr = torch.ones(graph.num_edges, 1)
    found = measure_settling(model, model.prepare(graph))
    assert found.residual < 1e-4
    assert found.disagreement < 1e-3


def test_only_predictions_that_count_are_looked_at():
    graph = path_graph(20)
    model = MinPlusGHR(levels=1, steps=1, t_low=1)
    source = graph.x[:, 0] > 0  # which is right from the start
    assert measure_settling(model, graph, source, times=2).residual == 0
    assert measure_settling(model, graph, times=2).residual > 0


def test_other_models_are_refused():
    with pytest.raises(ValueError, match=r"Only a recurrence can settle, such as GHR; got Linear\."):
        measure_settling(torch.nn.Linear(1, 1), path_graph(3))


def test_an_unknown_loop_is_refused():
    with pytest.raises(ValueError, match=r"measure_settling .*steps.*t_high, t_low"):
        measure_settling(MinPlusGHR(levels=1), path_graph(3), steps=4)


@pytest.mark.parametrize(
    ("before", "after", "change"), [([], [], 0), ([0.0], [0.0], 0), ([1.0, 3.0], [2.0, 4.0], 0.25)]
)
def test_a_change_is_relative_to_the_largest(before, after, change):
    assert relative_change(torch.tensor(before), torch.tensor(after)) == change


def test_a_change_to_nothing_is_endless():
    assert relative_change(torch.ones(2), torch.zeros(2)) == float("inf")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (torch.ones(7, dtype=torch.bool), r"rows is a mask of the shape \(7,\), but there are 8 predictions"),
        (torch.tensor([0, 8]), "rows has 8, but must be in 0 to 7"),
        (torch.tensor([0.5]), "rows must be a mask or whole numbers; got torch.float32"),
        ([0], "rows must be a tensor; got the list"),
    ],
)
def test_predictions_that_are_not_there_are_refused(rows, said):
    with pytest.raises(ValueError, match=said):
        measure_settling(MinPlusGHR(levels=1, steps=3, t_low=4), path_graph(8), rows)
