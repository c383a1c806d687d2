import numpy as np
import pytest
import torch
from view_cases import graph

from ghr import Metric, Task
from ghr.datasets import METRICS
from ghr.view.answers import Answers, describe_task


def test_numbers_are_in_the_unit_of_the_metric():
    task = Task("node", out_channels=2, metric=METRICS["mae"].scale(1000, "mm"))
    data = graph(task=task)
    data.y[5] = torch.nan
    answers = Answers(task, data, output=1)
    prediction = torch.rand(24, 2)
    assert np.allclose(answers.read_prediction(prediction), 1000 * prediction[:, 1].numpy())
    error = answers.read_error(prediction)
    assert np.isnan(error[5])
    assert np.isnan(answers.read_target()[5])
    expected = 1000 * (prediction - data.y).abs()[:, 1].numpy()
    assert np.allclose(error[6:], expected[6:], rtol=1e-5)
    assert (answers.unit, answers.column) == ("mm", 1)


def test_a_class_by_its_number_and_its_error_by_its_probability():
    task = Task("node", out_channels=3, loss="cross_entropy", classes=["a", "b", "c"])
    data = graph(task=task)
    data.mask = torch.arange(24) != 4
    scores = torch.randn(24, 3)
    answers = Answers(task, data)
    assert (answers.read_prediction(scores) == scores.argmax(1).numpy()).all()
    chance = scores.double().softmax(1)[torch.arange(24), data.y].numpy()
    error = answers.read_error(scores)
    assert np.isnan(error[4])
    assert np.allclose(np.delete(error, 4), np.delete(1 - chance, 4))
    assert describe_task(task, answers)["classes"] == ["a", "b", "c"]
    assert answers.column is None


def test_yes_or_no_by_the_probability():
    task = Task("graph", loss="bce", metric=Metric("hit", lambda prediction, target: 0.0))
    data = graph()
    data.y = torch.ones(1, 1)
    answers = Answers(task, data)
    assert answers.read_prediction(torch.zeros(1, 1)).tolist() == [0.5]
    assert answers.read_error(torch.zeros(1, 1)).tolist() == [0.5]


def test_edges_are_shown_as_means_at_their_nodes():
    task = Task("edge")
    data = graph(task=task)
    prediction = torch.rand(data.num_edges, 1)
    shown = Answers(task, data).read_prediction(prediction)
    both = [prediction[(data.edge_index == node).any(0), 0].double() for node in range(24)]
    for node, rows in enumerate(both):
        assert np.isnan(shown[node]) if rows.numel() == 0 else shown[node] == pytest.approx(float(rows.mean()))


def test_without_targets_there_is_no_error():
    data = graph()
    del data["y"]
    answers = Answers(Task("node"), data)
    assert answers.read_target() is None
    assert answers.read_error(torch.rand(24, 1)) is None


def test_an_output_that_is_not_there():
    with pytest.raises(ValueError, match="output must be a whole number of at most 0; got 1"):
        Answers(Task("node"), graph(), output=1)
