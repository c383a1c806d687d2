import math

import pytest
import torch
from tiny_training import FeedForward, Graphs, Recurrent, recurrent, rings
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from ghr import Metric, Task
from ghr.train.evaluate import collect, evaluate, find_task, predict

NODE = Task("node")


class EdgeModel(nn.Module):
    """One number per edge: the sum of its ends."""

    def forward(self, data: Data) -> Tensor:
        return data.x[data.edge_index[0]] + data.x[data.edge_index[1]]


class GraphSums(nn.Module):
    """Two numbers per graph: the sum of its nodes and how many there are."""

    def forward(self, data: Data) -> Tensor:
        sums = data.x.new_zeros(data.num_graphs, 1).index_add(0, data.batch, data.x)
        return torch.cat([sums, torch.bincount(data.batch).unsqueeze(1).float()], dim=1)


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_equals_one_forward_over_all_graphs(batch_size: int) -> None:
    model, graphs = recurrent(), rings(7, masked=True)
    prediction, target = collect(model, graphs, NODE, batch_size=batch_size)
    whole = Batch.from_data_list(graphs)
    torch.testing.assert_close(prediction, model(whole)[whole.mask])
    torch.testing.assert_close(target, whole.y[whole.mask])
    assert not prediction.requires_grad
    expected = (prediction - target).abs().mean().item()
    assert evaluate(model, graphs, batch_size=batch_size) == pytest.approx(expected)


@pytest.mark.parametrize("batch_size", [1, 3, 64])
@pytest.mark.parametrize("level", ["node", "edge", "graph"])
def test_predictions_come_one_per_graph(level: str, batch_size: int) -> None:
    graphs = rings(5)
    for data in graphs:
        del data.y  # nobody knows it yet
    model: nn.Module = {"node": recurrent(), "edge": EdgeModel(), "graph": GraphSums()}[level]
    task = Task(level, out_channels=2 if level == "graph" else 1)
    predictions = predict(model, graphs, task, batch_size=batch_size)
    rows = {"node": lambda data: data.num_nodes, "edge": lambda data: data.num_edges, "graph": lambda data: 1}[level]
    assert [tuple(part.shape) for part in predictions] == [(rows(data), task.out_channels) for data in graphs]
    for data, prediction in zip(graphs, predictions, strict=True):
        torch.testing.assert_close(prediction, model(Batch.from_data_list([data])).detach())
        assert not prediction.requires_grad


def test_masked_rows_are_predicted_too() -> None:
    graphs = rings(3, masked=True)
    assert [len(part) for part in predict(recurrent(), graphs, NODE)] == [data.num_nodes for data in graphs]


def test_steps_reach_the_model_only_when_given() -> None:
    model, graphs = recurrent(steps=3), rings(2)
    torch.testing.assert_close(predict(model, graphs, NODE, steps=3)[0], predict(model, graphs, NODE)[0])
    assert not torch.allclose(predict(model, graphs, NODE, steps=5)[0], predict(model, graphs, NODE)[0])
    assert evaluate(model, graphs, steps=5) != evaluate(model, graphs)
    predict(FeedForward(), graphs, NODE)
    with pytest.raises(TypeError, match="steps"):
        predict(FeedForward(), graphs, NODE, steps=5)


def test_inner_steps_are_passed_by_name() -> None:
    class Model(nn.Module):
        def forward(self, data: Data, t_high: int = 1, t_low: int = 1) -> Tensor:
            return torch.full_like(data.y, 10.0 * t_high + t_low)

    assert predict(Model(), rings(1), NODE, t_high=4, t_low=7)[0][0].item() == 47.0
    assert predict(Model(), rings(1), NODE)[0][0].item() == 11.0


@pytest.mark.parametrize("training", [True, False])
def test_predicts_in_evaluation_mode_and_restores_the_mode(training: bool) -> None:
    model = recurrent(dropout=0.5).train(training)
    first, second = (predict(model, rings(3), NODE)[0] for _ in range(2))
    assert torch.equal(first, second)
    assert model.training is training
    assert torch.is_grad_enabled()


def test_restores_the_mode_after_an_error() -> None:
    class Failing(Recurrent):
        def forward(self, data: Data, steps: int | None = None) -> Tensor:
            raise RuntimeError("inside")

    for call in (predict, collect, evaluate):
        model = Failing()
        with pytest.raises(RuntimeError, match="inside"):
            call(model, rings(1), NODE)
        assert model.training
        assert torch.is_grad_enabled()


def test_refuses_what_has_no_answer() -> None:
    with pytest.raises(ValueError, match="no graphs"):
        predict(recurrent(), Graphs(), NODE)
    with pytest.raises(ValueError, match="batch_size must be a whole number of at least 1; got 0"):
        predict(recurrent(), rings(1), NODE, batch_size=0)
    graphs = rings(1)
    graphs[0].mask = torch.zeros(graphs[0].num_nodes, dtype=torch.bool)
    with pytest.raises(ValueError, match="leave none"):
        evaluate(recurrent(), graphs)
    with pytest.raises(ValueError, match=r"predictions of shape \(4, 3\), one row per node; the model gave \(4, 1\)"):
        predict(recurrent(), rings(1), Task("node", 3))


def test_refuses_a_mask_of_another_kind() -> None:
    for mask in (torch.ones(4), torch.ones(5, dtype=torch.bool), torch.ones(4, 2, dtype=torch.bool)):
        graphs = rings(1)
        graphs[0].mask = mask
        with pytest.raises(ValueError, match=r"mask must be boolean, one flag per row or one per entry"):
            collect(recurrent(), graphs, NODE)


def test_the_task_is_given_or_that_of_a_dataset() -> None:
    given, own = Task("graph"), Graphs.task
    assert find_task(given, Graphs()) is given
    assert find_task(None, [], Graphs()) is own
    for task in (None, "node", Task):
        with pytest.raises(ValueError, match="pass a task, such as Task"):
            find_task(task, [])  # type: ignore[arg-type]


# Scores, against a loop over single numbers


class Given(nn.Module):
    """Predicts what the graphs themselves say."""

    def forward(self, data: Data) -> Tensor:
        return data.guess


GUESSES = [[0.5, -2.0], [1.0, 3.0], [-1.0, 0.5], [2.0, 2.0], [0.0, 1.5]]
TARGETS = [[1.0, -1.0], [math.nan, 2.0], [0.0, math.nan], [math.nan, math.nan], [1.0, 0.0]]


def scored(targets: list[list[float]], **attributes: Tensor) -> list[Data]:
    guess, y = torch.tensor(GUESSES), torch.tensor(targets)
    return [
        Data(
            x=torch.zeros(part.stop - part.start, 1),
            edge_index=torch.zeros(2, 0, dtype=torch.long),
            guess=guess[part],
            y=y[part],
            **{name: value[part] for name, value in attributes.items()},
        )
        for part in (slice(0, 2), slice(2, 5))
    ]


def kept(column: int | None = None) -> list[tuple[float, float]]:
    """Pairs of prediction and target that are there, of one column or of all."""
    return [
        (GUESSES[row][c], TARGETS[row][c])
        for row in range(5)
        for c in range(2)
        if not math.isnan(TARGETS[row][c]) and column in (None, c)
    ]


@pytest.mark.parametrize("batch_size", [1, 2])
def test_missing_entries_do_not_enter_a_score(batch_size: int) -> None:
    task, graphs = Task("node", 2, metric="mae"), scored(TARGETS)
    expected = sum(abs(guess - truth) for guess, truth in kept()) / len(kept())
    assert evaluate(Given(), graphs, task, batch_size=batch_size) == pytest.approx(expected, rel=1e-6)


def test_a_score_by_columns_gets_whole_rows() -> None:
    seen: list[tuple[Tensor, Tensor]] = []

    def look(prediction: Tensor, target: Tensor) -> float:
        seen.append((prediction, target))
        return 0.0

    evaluate(Given(), scored(TARGETS), Task("node", 2, metric=Metric("look", look, columns=True)))
    prediction, target = seen[0]
    assert prediction.tolist() == [GUESSES[row] for row in (0, 1, 2, 4)]
    assert target.isnan().tolist() == [[False, False], [True, False], [False, True], [False, False]]


def test_r2_with_missing_entries_is_that_of_every_column() -> None:
    scores = []
    for column in range(2):
        pairs = kept(column)
        mean = sum(truth for _, truth in pairs) / len(pairs)
        error = sum((truth - guess) ** 2 for guess, truth in pairs)
        scores.append(1 - error / sum((truth - mean) ** 2 for _, truth in pairs))
    found = evaluate(Given(), scored(TARGETS), Task("node", 2, metric="r2"))
    assert found == pytest.approx(sum(scores) / 2, rel=1e-6)


def test_flags_per_entry_leave_entries_out() -> None:
    targets = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0], [8.0, 9.0]]
    flags = [[True, False], [False, False], [True, True], [False, True], [True, False]]
    graphs = scored(targets, mask=torch.tensor(flags))
    pairs = [(GUESSES[r][c], targets[r][c]) for r in range(5) for c in range(2) if flags[r][c]]
    prediction, target = collect(Given(), graphs, Task("node", 2, metric="mae"))
    assert list(zip(prediction.tolist(), target.tolist(), strict=True)) == pairs
    rows = scored(targets, mask=torch.tensor([row[0] for row in flags]))
    prediction, target = collect(Given(), rows, Task("node", 2, metric="mae"))
    assert target.tolist() == [targets[row] for row in (0, 2, 4)], "whole rows stay rows"


@pytest.mark.parametrize("missing", [-1, math.nan])
def test_rows_without_a_class_do_not_enter_a_score(missing: float) -> None:
    graphs = scored([[0.0, 0.0]] * 5)
    for data, labels in zip(graphs, [[1, missing], [0, 1, missing]], strict=True):
        data.y = torch.tensor(labels)
    task = Task("node", 2, loss="cross_entropy")
    prediction, target = collect(Given(), graphs, task)
    assert target.tolist() == [1, 0, 1]
    assert prediction.tolist() == [GUESSES[row] for row in (0, 2, 3)]
    # argmax of the three rows: 0, 1 and, where both are alike, the first
    assert evaluate(Given(), graphs, task) == pytest.approx(0 / 3)
    data = graphs[0]
    data.y = torch.tensor([0, missing])
    assert evaluate(Given(), graphs, task) == pytest.approx(1 / 3)


def test_whole_number_targets_are_not_broadcast() -> None:
    graphs = rings(2)
    for data in graphs:
        data.y = torch.arange(data.num_nodes)
    model = recurrent()
    errors = [
        abs(guess - truth)
        for data, part in zip(graphs, predict(model, graphs, NODE), strict=True)
        for guess, truth in zip(part.flatten().tolist(), data.y.tolist(), strict=True)
    ]
    assert len(errors) == 9
    assert evaluate(model, graphs, NODE) == pytest.approx(sum(errors) / 9, rel=1e-6)
