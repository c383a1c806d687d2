import errno
import json
import logging
import math
import os
from collections.abc import Mapping
from dataclasses import asdict
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_training import FeedForward, Graphs, Recurrent, full_disk, recurrent, rings
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.train import NotFiniteError, TrainConfig, load_best, predict, train

EXTRA = {"model": {"hidden": 8}, "data": {"name": "rings"}}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]


def run(path: Path, config: TrainConfig, model: nn.Module | None = None) -> dict[str, Any]:
    return train(recurrent() if model is None else model, rings(8), rings(3, seed=1), config, path, quiet=True)


class Scripted(Graphs):
    """Validation metrics by a script, whatever the model predicts."""

    def __init__(self, metrics: list[float]) -> None:
        super().__init__(rings(1))
        self.metrics = iter(metrics)

    def metric(self, prediction: Tensor, target: Tensor) -> float:
        return next(self.metrics)


def test_learns_and_writes_a_whole_run(tmp_path: Path) -> None:
    model, config = recurrent(), TrainConfig(epochs=4, batch_size=3, lr=1e-2, schedule="cosine", seed=7)

    def report(best: nn.Module) -> Mapping[str, Any]:
        assert not best.training
        return {"rows": predict(best, rings(2))[0].shape[0], "worst": torch.tensor(math.inf)}

    result = train(model, rings(8), rings(3, seed=1), config, tmp_path, extra=EXTRA, report=report, quiet=True)

    lines = rows(tmp_path)
    assert [line["epoch"] for line in lines] == [1, 2, 3, 4]
    assert lines[-1]["train_loss"] < lines[0]["train_loss"]
    assert set(lines[0]) == {"epoch", "train_loss", "val", "lr", "seconds"}
    assert lines[0]["lr"] == 1e-2 > lines[1]["lr"]

    assert json.loads((tmp_path / "config.json").read_text()) == {"train": asdict(config), **EXTRA}
    assert json.loads((tmp_path / "result.json").read_text()) == result
    best = min(lines, key=lambda line: line["val"])
    assert (result["best_epoch"], result["best_val"]) == (best["epoch"], best["val"])
    assert result["config"] == {"train": asdict(config), **EXTRA}
    assert result["epochs"] == 4
    assert result["seed"] == 7
    assert result["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    assert result["metrics"] == {"rows": 9, "worst": None}
    assert result["seconds"] > 0
    assert result["processes"] == 1
    assert set(result["versions"]) == {"python", "torch", "torch_geometric", "numpy", "ghr"}
    assert set(result["machine"]) == {"cpu", "cores", "platform", "threads", "device"}
    assert str(tmp_path) not in (tmp_path / "result.json").read_text()

    state = torch.load(tmp_path / "last" / "epoch-0004" / "state.pt", weights_only=True)
    assert state["epoch"] == 4
    assert sorted(os.listdir(tmp_path)) == ["best.safetensors", "config.json", "last", "metrics.jsonl", "result.json"]

    loaded = recurrent(seed=5)
    load_best(loaded, tmp_path)
    for name, tensor in loaded.state_dict().items():
        assert torch.equal(tensor, model.state_dict()[name]), "train leaves the best weights in the model"


def test_a_finished_run_is_not_run_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = TrainConfig(epochs=2, batch_size=4)
    first = recurrent()
    result = run(tmp_path, config, first)
    second = recurrent(seed=9)
    assert train(second, rings(8), Scripted([]), config, tmp_path, quiet=True) == result
    assert torch.equal(first.read.weight, second.read.weight)
    (tmp_path / "best.safetensors").unlink()
    assert run(tmp_path, config) == result
    assert "has no best weights" in caplog.text


def test_another_config_is_refused_by_name(tmp_path: Path) -> None:
    run(tmp_path, TrainConfig(epochs=1))
    with pytest.raises(
        ValueError, match=r"train\.gamma is 0\.8 there and 1\.0 now; train\.lr is 0\.001 there and 0\.1 now"
    ):
        run(tmp_path, TrainConfig(epochs=1, lr=0.1, gamma=1.0))


def test_the_model_of_another_run_is_refused(tmp_path: Path) -> None:
    config = TrainConfig(epochs=1)
    run(tmp_path, config)
    (tmp_path / "result.json").unlink()
    with pytest.raises(ValueError, match="do not fit Recurrent"):
        run(tmp_path, config, recurrent(hidden=4))


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        run(tmp_path / name, TrainConfig(epochs=2, batch_size=3, seed=seed), recurrent(dropout=0.2))
    a, b, c = ((tmp_path / name / "best.safetensors").read_bytes() for name in "abc")
    assert a == b != c


def test_stops_early(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    vals = [5.0, 4.0, 4.0, 3.0, 3.5, 3.0, 3.1, 1.0]
    config = TrainConfig(epochs=8, patience=3)
    with caplog.at_level(logging.INFO, logger="ghr.train"):
        result = train(recurrent(), rings(4), Scripted(vals), config, tmp_path, quiet=True)
    assert [line["val"] for line in rows(tmp_path)] == vals[:7]
    assert (result["epochs"], result["best_epoch"], result["best_val"]) == (7, 4, 3.0)
    assert "Stopped early after epoch 7" in caplog.text
    (tmp_path / "result.json").unlink()
    again = train(recurrent(), rings(4), Scripted([]), config, tmp_path, quiet=True)
    assert again["epochs"] == 7, "a run killed after stopping stays stopped"


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
    result = run(tmp_path, TrainConfig(epochs=1, optimizer=optimizer, weight_decay=0.1, criterion="l1", log10=True))
    assert math.isfinite(result["best_val"])


def test_graphs_without_counted_rows_are_passed_over(tmp_path: Path) -> None:
    graphs = rings(4)
    for data in graphs:
        data.mask = torch.zeros(data.num_nodes, dtype=torch.bool)
    with pytest.raises(ValueError, match="leave no row in any graph"):
        train(recurrent(), graphs, rings(1), TrainConfig(epochs=1, batch_size=1), tmp_path / "none", quiet=True)
    graphs[2].mask[0] = True
    train(recurrent(), graphs, rings(1), TrainConfig(epochs=1, batch_size=1), tmp_path / "one", quiet=True)
    assert math.isfinite(rows(tmp_path / "one")[0]["train_loss"])


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
    assert [line["epoch"] for line in rows(tmp_path)] == [1, 2]
    assert sorted(os.listdir(tmp_path / "last")) == ["epoch-0001", "epoch-0002"]
    assert run(tmp_path, config)["epochs"] == 5, "with the cause gone the run goes on"


def test_a_validation_metric_that_is_not_finite_stops_too(tmp_path: Path) -> None:
    with pytest.raises(NotFiniteError, match="The validation metric became nan in epoch 2"):
        train(recurrent(), rings(4), Scripted([1.0, math.nan]), TrainConfig(epochs=3), tmp_path, quiet=True)
    assert [line["epoch"] for line in rows(tmp_path)] == [1]


def test_a_damaged_checkpoint_costs_one_epoch(tmp_path: Path) -> None:
    config = TrainConfig(epochs=3, batch_size=4)
    run(tmp_path / "whole", config)
    run(tmp_path / "hurt", config)
    (tmp_path / "hurt" / "result.json").unlink()
    state = tmp_path / "hurt" / "last" / "epoch-0003" / "state.pt"
    state.write_bytes(state.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"epoch-0003/state\.pt is damaged .* go on from epoch-0002"):
        run(tmp_path / "hurt", config)
    for file in state.parent.iterdir():
        file.unlink()
    state.parent.rmdir()
    run(tmp_path / "hurt", config)
    for name in ("best.safetensors", "last/epoch-0003/model.safetensors"):
        assert (tmp_path / "hurt" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert [line["epoch"] for line in rows(tmp_path / "hurt")] == [1, 2, 3]


def test_a_full_disk_is_a_sentence_and_leaves_no_half_files(tmp_path: Path, workers: ForkServerContext) -> None:
    # Each limit stops another write: the config, the weights, the state of the optimiser, a line of metrics.
    limits = {200: "config.json", 1000: "last/epoch-0000", 2500: "last/epoch-0001", 8000: "metrics.jsonl"}
    processes = {}
    for limit in limits:
        (tmp_path / str(limit)).mkdir()
        processes[limit] = workers.Process(target=full_disk, args=(tmp_path / str(limit), limit))
        processes[limit].start()
    for limit, victim in limits.items():
        processes[limit].join()
        folder = tmp_path / str(limit)
        message = (folder / "error.txt").read_text()
        assert message.startswith(f"{errno.EFBIG} ")
        assert f"Could not write {folder / 'run' / victim}: File too large." in message
        assert [path for path in folder.rglob("*") if "tmp" in path.name] == []
        for path in (folder / "run").glob("*.json*"):
            for text in path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]:
                json.loads(text)


def test_models_and_data_that_cannot_be_trained_are_refused(tmp_path: Path) -> None:
    config = TrainConfig(epochs=1)
    with pytest.raises(TypeError, match="Linear cannot be trained: it has no method rollout"):
        run(tmp_path, config, nn.Linear(1, 1))
    with pytest.raises(ValueError, match="none of its parameters takes a gradient"):
        run(tmp_path, config, recurrent().requires_grad_(False))
    with pytest.raises(ValueError, match="training set has no graphs"):
        train(recurrent(), Graphs(), rings(1), config, tmp_path, quiet=True)
    with pytest.raises(ValueError, match="must not have the key 'train'"):
        train(recurrent(), rings(1), rings(1), config, tmp_path, extra={"train": 1}, quiet=True)
    assert os.listdir(tmp_path) == []


def test_progress_goes_to_stderr_unless_quiet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path / "quiet", TrainConfig(epochs=1))
    assert capsys.readouterr() == ("", "")
    train(recurrent(), rings(4), rings(1), TrainConfig(epochs=2, batch_size=2), tmp_path / "loud")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "4/4" in captured.err
    assert "loss=" in captured.err


def test_a_penalty_of_the_model_is_minimised_too(tmp_path: Path) -> None:
    class Shrinking(Recurrent):
        def penalty(self) -> Tensor:
            return 10 * self.message.weight.abs().sum()

    norms = {}
    for kind in (Recurrent, Shrinking):
        torch.manual_seed(0)
        model = kind()
        train(model, rings(8), rings(2, seed=1), TrainConfig(epochs=10, lr=1e-2), tmp_path / kind.__name__, quiet=True)
        norms[kind.__name__] = model.message.weight.abs().sum().item()
    assert norms["Shrinking"] < 0.9 * norms["Recurrent"]
