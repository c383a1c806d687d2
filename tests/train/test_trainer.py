"""What happens within a run: steps, epochs, which of them is the best, and when it stops."""

import json
import logging
import math
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_training import FeedForward, Recurrent, read_lines, recurrent, rings, run, scripted
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr import Metric, Task
from ghr.train import NotFiniteError, TrainConfig, train
from ghr.train.directory import RunDirectory

RISING = [0.1, 0.5, 0.3, 0.5, 0.2]


@pytest.mark.parametrize(("higher", "best"), [(True, 2), (False, 1)])
def test_the_direction_of_the_metric_decides_which_epoch_is_kept(tmp_path: Path, higher: bool, best: int) -> None:
    weights: list[Tensor] = []
    model = recurrent()
    result = run(
        tmp_path,
        TrainConfig(epochs=5),
        model,
        task=scripted(RISING, higher_is_better=higher),
        callback=lambda _: weights.append(model.read.weight.detach().clone()),
    )
    assert [line["val"] for line in read_lines(tmp_path)] == RISING
    assert (result["best_epoch"], result["best_val"]) == (best, RISING[best - 1])
    kept = recurrent()
    RunDirectory(tmp_path).load_best(kept)
    assert torch.equal(kept.read.weight, weights[best - 1])
    assert torch.equal(model.read.weight, weights[best - 1])
    assert not torch.equal(weights[0], weights[1])


@pytest.mark.parametrize(
    ("higher", "values"),
    [
        (True, [0.5, 0.6, 0.6, 0.6, 0.7, 0.1]),
        (False, [0.5, 0.4, 0.4, 0.4, 0.3, 0.9]),
        (True, [-5.0, -4.0, -4.0, -4.0, -3.0, -9.0]),
        (False, [-5.0, -6.0, -6.0, -6.0, -7.0, -1.0]),
    ],
)
def test_the_plateau_schedule_knows_the_direction_of_the_metric(
    tmp_path: Path, higher: bool, values: list[float]
) -> None:
    config = TrainConfig(epochs=6, lr=0.08, schedule="plateau", plateau_patience=1, plateau_factor=0.5)
    run(tmp_path, config, task=scripted(values, higher_is_better=higher))
    assert [line["lr"] for line in read_lines(tmp_path)] == [0.08, 0.08, 0.08, 0.08, 0.04, 0.04]


def test_stops_early(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    values = [5.0, 4.0, 4.0, 3.0, 3.5, 3.0, 3.1, 1.0]
    config = TrainConfig(epochs=8, patience=3)
    with caplog.at_level(logging.INFO, logger="ghr.train"):
        result = run(tmp_path, config, task=scripted(values))
    assert [line["val"] for line in read_lines(tmp_path)] == values[:7]
    assert (result["epochs"], result["best_epoch"], result["best_val"]) == (7, 4, 3.0)
    assert "Stopped early after epoch 7" in caplog.text
    (tmp_path / "result.json").unlink()
    assert run(tmp_path, config, task=scripted([]))["epochs"] == 7, "a run killed after stopping stays stopped"


def test_higher_is_better_also_for_patience(tmp_path: Path) -> None:
    result = run(tmp_path, TrainConfig(epochs=9, patience=2), task=scripted(RISING, higher_is_better=True))
    assert (result["epochs"], result["best_epoch"]) == (4, 2)


def test_a_callback_gets_every_line(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []
    run(tmp_path, TrainConfig(epochs=3, batch_size=4), callback=seen.append)
    assert seen == read_lines(tmp_path)
    assert [line["epoch"] for line in seen] == [1, 2, 3]
    (tmp_path / "result.json").unlink()
    run(tmp_path, TrainConfig(epochs=5, batch_size=4), callback=seen.append)
    assert [line["epoch"] for line in seen] == [1, 2, 3, 4, 5], "a run that goes on gives the new lines only"


@pytest.mark.parametrize(("jitter", "drawn"), [(True, {2, 3, 4}), (False, {None})])
def test_jitter_reaches_the_model(tmp_path: Path, jitter: bool, drawn: set[int | None]) -> None:
    seen: set[int | None] = set()

    class Listening(Recurrent):
        def rollout(self, data: Data, steps: int | None = None) -> list[Tensor]:
            if self.training:
                seen.add(steps)
            return super().rollout(data, steps)

    run(tmp_path, TrainConfig(epochs=6, batch_size=1, jitter=jitter), Listening(steps=3))
    assert seen == drawn


def test_feed_forward_models_have_no_steps_to_jitter(tmp_path: Path) -> None:
    assert run(tmp_path, TrainConfig(epochs=1), FeedForward())["epochs"] == 1


@pytest.mark.parametrize("optimizer", ["adam", "adamw"])
def test_optimizers(tmp_path: Path, optimizer: Any) -> None:
    config = TrainConfig(epochs=1, optimizer=optimizer, weight_decay=0.1, log10=True)
    assert math.isfinite(run(tmp_path, config, task=Task("node", loss="l1"))["best_val"])


def test_graphs_without_targets_are_passed_over(tmp_path: Path) -> None:
    graphs = rings(4)
    for data in graphs:
        data.mask = torch.zeros(data.num_nodes, dtype=torch.bool)
    graphs[2].mask[0] = True
    model = FeedForward()
    start = model(graphs[2]).detach()
    train(model, graphs, rings(1), TrainConfig(epochs=1, batch_size=1), tmp_path, quiet=True)
    expected = (start[0] - graphs[2].y[0]).square().item()
    assert read_lines(tmp_path)[0]["train_loss"] == pytest.approx(expected, rel=1e-5)


class Exploding(Recurrent):
    """Fine for so many batches, then not."""

    def __init__(self, good: int, *, value: float = math.nan, gradient: bool = False) -> None:
        super().__init__()
        self.good, self.value, self.gradient = good, value, gradient

    def rollout(self, data: Data, steps: int | None = None) -> list[Tensor]:
        predictions = super().rollout(data, steps)
        if self.training:
            self.good -= 1
        if self.good >= 0:
            return predictions
        if self.gradient:
            # The square root has an infinite slope at zero, though its value is harmless.
            return [prediction + (prediction - prediction.detach()).abs().sqrt() for prediction in predictions]
        return [prediction * self.value for prediction in predictions]


@pytest.mark.parametrize("clip", [None, 1.0])
@pytest.mark.parametrize(
    ("options", "what"),
    [({}, "The loss became nan"), ({"value": math.inf}, "The loss became"), ({"gradient": True}, "gradient became")],
)
def test_not_finite_stops_and_keeps_the_last_good_state(
    tmp_path: Path, clip: float | None, options: dict[str, Any], what: str
) -> None:
    config = TrainConfig(epochs=5, batch_size=4, clip=clip)
    with pytest.raises(ValueError, match=what) as caught:
        run(tmp_path, config, Exploding(5, **options))
    assert isinstance(caught.value, NotFiniteError | FloatingPointError)
    assert "epoch 3, batch 2" in str(caught.value)
    for advice in ("smaller learning rate (lr is 0.001)", f"clip is {clip}", "fewer steps", "after epoch 2"):
        assert advice in str(caught.value)
    assert [line["epoch"] for line in read_lines(tmp_path)] == [1, 2]
    assert sorted(os.listdir(tmp_path / "last")) == ["epoch-0001", "epoch-0002"]
    again = run(tmp_path, config, Exploding(100, **options))
    assert again["epochs"] == 5, "with the cause gone the run goes on"


@pytest.mark.parametrize(("value", "higher"), [(math.nan, False), (math.inf, False), (-math.inf, True)])
def test_a_validation_metric_that_is_no_score_stops_too(tmp_path: Path, value: float, higher: bool) -> None:
    task = scripted([1.0, value], higher_is_better=higher)
    with pytest.raises(NotFiniteError, match=f"The validation metric became {value} in epoch 2"):
        run(tmp_path, TrainConfig(epochs=3), task=task)
    assert [line["epoch"] for line in read_lines(tmp_path)] == [1]


def test_an_error_of_minus_infinity_is_the_best(tmp_path: Path) -> None:
    """The log10 MSE of an exact model."""
    config = TrainConfig(epochs=4, schedule="plateau", plateau_patience=0)
    result = run(tmp_path, config, task=scripted([1.0, -math.inf, 0.5, -math.inf]))
    assert (result["best_epoch"], result["best_val"]) == (2, None)
    assert [line["val"] for line in read_lines(tmp_path)] == [1.0, None, 0.5, None]


@pytest.mark.parametrize("log10", [False, True])
def test_a_perfect_model_has_nothing_left_to_learn(tmp_path: Path, log10: bool) -> None:
    graphs, model = rings(4), FeedForward()
    for data in graphs:
        data.y = data.x.clone()
    with torch.no_grad():
        model.read.weight.fill_(1)
        model.read.bias.fill_(0)
    task = Task("node", metric="log10_mse")
    result = train(model, graphs, graphs, TrainConfig(epochs=2, log10=log10), tmp_path, task=task, quiet=True)
    assert (result["epochs"], result["best_epoch"], result["best_val"]) == (2, 1, None)
    assert read_lines(tmp_path)[0]["train_loss"] == (None if log10 else 0.0)
    assert model.read.weight.item() == 1


def test_a_penalty_of_the_model_is_minimised_too(tmp_path: Path) -> None:
    class Shrinking(Recurrent):
        def penalty(self, data: Data) -> Tensor:
            return 10 * self.message.weight.abs().sum()

    norms = {}
    for kind in (Recurrent, Shrinking):
        torch.manual_seed(0)
        model = kind()
        run(tmp_path / kind.__name__, TrainConfig(epochs=10, lr=1e-2), model)
        norms[kind.__name__] = model.message.weight.abs().sum().item()
    assert norms["Shrinking"] < 0.9 * norms["Recurrent"]


# Every loss, against a loop over single numbers

NAN = math.nan


class Cubes(nn.Module):
    """A loss of one's own."""

    def forward(self, prediction: Tensor, target: Tensor) -> Tensor:
        return (prediction - target).abs().pow(3).mean()


def bce(logit: float, answer: float) -> float:
    yes = 1 / (1 + math.exp(-logit))
    return -math.log(yes if answer == 1 else 1 - yes)


ENTRY_LOSSES = {
    "mse": lambda guess, truth: (guess - truth) ** 2,
    "l1": lambda guess, truth: abs(guess - truth),
    "huber": lambda guess, truth: 0.5 * (guess - truth) ** 2 if abs(guess - truth) < 1 else abs(guess - truth) - 0.5,
    "bce": bce,
    "own": lambda guess, truth: abs(guess - truth) ** 3,
}
NUMBERS = [[0.5, 2.0], [NAN, -3.0], [1.0, NAN], [NAN, NAN], [0.0, 4.0]]
ANSWERS = [[1.0, 0.0], [NAN, 1.0], [0.0, NAN], [NAN, NAN], [1.0, 1.0]]


def targets_of(name: str, dtype: torch.dtype) -> Tensor:
    return torch.tensor(ANSWERS if name == "bce" else NUMBERS, dtype=dtype)


def first_loss(path: Path, task: Task, graphs: list[Data], model: nn.Module) -> float:
    config = TrainConfig(epochs=1, batch_size=len(graphs), gamma=1.0)
    train(model, graphs, graphs, config, path, task=task, quiet=True)
    loss = json.loads((path / "metrics.jsonl").read_text())["train_loss"]
    assert isinstance(loss, float)
    return loss


def two_graphs(target: Tensor, **attributes: Tensor) -> list[Data]:
    """Five nodes with three features in two graphs, so that batching is part of the test."""
    x = torch.linspace(-1.5, 2.0, 15).reshape(5, 3)
    edges = torch.tensor([[0, 1], [1, 0]])
    return [
        Data(x=x[part], edge_index=edges, y=target[part], **{name: value[part] for name, value in attributes.items()})
        for part in (slice(0, 3), slice(3, 5))
    ]


def wide_model(width: int) -> tuple[FeedForward, list[list[float]]]:
    """A model and what it predicts for the nodes of `two_graphs` before it learns."""
    torch.manual_seed(0)
    model = FeedForward(3, width)
    return model, model.read(torch.linspace(-1.5, 2.0, 15).reshape(5, 3)).tolist()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ENTRY_LOSSES)
def test_missing_entries_are_left_out_one_by_one(tmp_path: Path, name: str, dtype: torch.dtype) -> None:
    target = targets_of(name, dtype)
    loss = Cubes() if name == "own" else name
    task = Task("node", out_channels=2, loss=loss, metric=Metric("error", lambda p, t: (p - t).abs().mean()))
    model, guesses = wide_model(2)
    losses = [
        ENTRY_LOSSES[name](guess, truth)
        for row, wanted in zip(guesses, target.tolist(), strict=True)
        for guess, truth in zip(row, wanted, strict=True)
        if not math.isnan(truth)
    ]
    assert len(losses) == 6
    expected = sum(losses) / len(losses)
    assert first_loss(tmp_path, task, two_graphs(target), model) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", ENTRY_LOSSES)
@pytest.mark.parametrize("by", ["rows", "entries"])
def test_masks_leave_out_rows_or_entries(tmp_path: Path, name: str, by: str) -> None:
    target = targets_of(name, torch.float32)
    flags = [[True, False], [False, True], [True, True], [True, False], [True, True]]
    mask = torch.tensor(flags) if by == "entries" else torch.tensor([row[0] for row in flags])
    task = Task("node", 2, loss=Cubes() if name == "own" else name, metric=Metric("none", lambda p, t: 1.0))
    model, guesses = wide_model(2)
    losses = [
        ENTRY_LOSSES[name](guesses[row][column], target[row, column].item())
        for row in range(5)
        for column in range(2)
        if not target[row, column].isnan() and flags[row][column if by == "entries" else 0]
    ]
    expected = sum(losses) / len(losses)
    assert first_loss(tmp_path, task, two_graphs(target, mask=mask), model) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("shape", [(5,), (5, 1)])
@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.float64])
def test_targets_without_a_column_are_not_broadcast(tmp_path: Path, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    truth = [3, 0, 7, 1, 2]
    task = Task("node", loss="mse")
    model, guesses = wide_model(1)
    expected = sum((guesses[row][0] - truth[row]) ** 2 for row in range(5)) / 5
    graphs = two_graphs(torch.tensor(truth, dtype=dtype).reshape(shape))
    assert first_loss(tmp_path, task, graphs, model) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("weights", [None, (0.5, 2.0, 3.0), (0.0, 1.0, 2.0)])
@pytest.mark.parametrize("missing", [-1, NAN])
def test_classes_without_a_class_are_left_out(
    tmp_path: Path, weights: tuple[float, ...] | None, missing: float
) -> None:
    truth = [2, missing, 0, 1, missing]
    task = Task("node", out_channels=3, loss="cross_entropy", class_weight=weights)
    model, guesses = wide_model(3)
    total = counted = 0.0
    for row, label in enumerate(truth):
        if label not in (0, 1, 2):
            continue
        weight = 1.0 if weights is None else weights[int(label)]
        likelihood = math.exp(guesses[row][int(label)]) / sum(math.exp(score) for score in guesses[row])
        total, counted = total - weight * math.log(likelihood), counted + weight
    graphs = two_graphs(torch.tensor(truth))
    assert first_loss(tmp_path, task, graphs, model) == pytest.approx(total / counted, rel=1e-5)


def test_a_batch_of_classes_that_weigh_nothing_is_passed_over(tmp_path: Path) -> None:
    task = Task("node", out_channels=3, loss="cross_entropy", class_weight=(0.0, 1.0, 1.0))
    graphs = two_graphs(torch.tensor([1, 2, 1, 0, 0]))
    model, _ = wide_model(3)
    train(model, graphs, graphs, TrainConfig(epochs=2, batch_size=1), tmp_path, task=task, quiet=True)
    assert all(math.isfinite(line["train_loss"]) for line in read_lines(tmp_path))


def test_later_steps_weigh_more(tmp_path: Path) -> None:
    model, graphs = recurrent(steps=3), rings(2)
    errors = [
        sum((p - data.y).square().sum().item() for data, p in zip(graphs, step, strict=True))
        for step in zip(*(model.rollout(data) for data in graphs), strict=True)
    ]
    expected = (0.5**2 * errors[0] + 0.5 * errors[1] + errors[2]) / sum(data.num_nodes for data in graphs)
    train(model, graphs, graphs, TrainConfig(epochs=1, gamma=0.5, jitter=False), tmp_path, quiet=True)
    assert read_lines(tmp_path)[0]["train_loss"] == pytest.approx(expected, rel=1e-5)


def test_the_model_is_told_how_far_the_training_is_and_may_change_its_batches(tmp_path: Path) -> None:
    class Watching(Recurrent):
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[float] = []
            self.batches = 0

        def anneal(self, progress: float) -> None:
            self.seen.append(progress)

        def augment(self, data: Data) -> Data:
            self.batches += 1
            return data

    model = Watching()
    run(tmp_path, TrainConfig(epochs=2, batch_size=2), model)  # eight rings
    assert model.seen == [number / 8 for number in range(8)]
    assert model.batches == 8
