import errno
import json
import math
import os
import time
from collections.abc import Mapping
from dataclasses import asdict
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_training import (
    FeedForward,
    Graphs,
    Recurrent,
    full_disk,
    read_lines,
    recurrent,
    rings,
    run,
    scripted,
    slow_run,
)
from torch import nn

from ghr import GHR, Metric, Task
from ghr.models import GraphModel
from ghr.testing import random_graph
from ghr.train import BusyError, TrainConfig, predict, train
from ghr.train.directory import FORMAT, RunDirectory

EXTRA = {"experiment": {"name": "rings"}}


def test_learns_and_writes_a_whole_run(tmp_path: Path) -> None:
    model, config = recurrent(), TrainConfig(epochs=4, batch_size=3, lr=1e-2, schedule="cosine", seed=7)

    def report(best: nn.Module) -> Mapping[str, Any]:
        assert not best.training
        rows = predict(best, rings(2), Task("node"))
        return {"rows": [len(part) for part in rows], "worst": torch.tensor(math.inf)}

    result = run(tmp_path, config, model, extra=EXTRA, report=report)

    lines = read_lines(tmp_path)
    assert [line["epoch"] for line in lines] == [1, 2, 3, 4]
    assert lines[-1]["train_loss"] < lines[0]["train_loss"]
    assert set(lines[0]) == {"epoch", "train_loss", "val", "lr", "seconds"}
    assert lines[0]["lr"] == 1e-2 > lines[1]["lr"]

    written = json.loads((tmp_path / "config.json").read_text())
    assert set(written) == {"format", "architecture", "task", "train", "data", "experiment"}
    assert written["format"] == FORMAT
    assert written["train"] == config.describe()
    assert written["experiment"] == EXTRA["experiment"]
    assert written["architecture"]["model"] == "Recurrent"
    assert Task.from_description(written["task"]).describe() == Graphs.task.describe()

    assert json.loads((tmp_path / "result.json").read_text()) == result
    best = min(lines, key=lambda line: line["val"])
    assert (result["best_epoch"], result["best_val"]) == (best["epoch"], best["val"])
    assert result["config"] == written
    assert result["epochs"] == 4
    assert result["seed"] == 7
    assert result["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    assert result["metrics"] == {"rows": [4, 5], "worst": None}
    assert result["seconds"] > 0
    assert result["cpu_seconds"] > 0
    assert result["processes"] == 1
    assert set(result["versions"]) == {"python", "torch", "torch_geometric", "numpy", "ghr"}
    assert set(result["machine"]) == {"cpu", "cores", "platform", "threads", "device"}
    assert str(tmp_path) not in (tmp_path / "result.json").read_text()

    state = torch.load(tmp_path / "last" / "epoch-0004" / "state.pt", weights_only=True)
    assert state["epoch"] == 4
    files = ["best.safetensors", "config.json", "last", "lock", "metrics.jsonl", "result.json"]
    assert sorted(os.listdir(tmp_path)) == files

    loaded = recurrent(seed=5)
    RunDirectory(tmp_path).load_best(loaded)
    for name, tensor in loaded.state_dict().items():
        assert torch.equal(tensor, model.state_dict()[name]), "train leaves the best weights in the model"
    assert not model.training


def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    config = TrainConfig(epochs=2, batch_size=4)
    first = recurrent()
    result = run(tmp_path, config, first, task=scripted([2.0, 1.0]))
    second = recurrent(seed=9)
    assert run(tmp_path, config, second, task=scripted([])) == result
    assert torch.equal(first.read.weight, second.read.weight)
    (tmp_path / "best.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match="There are no best weights at"):
        run(tmp_path, config, task=scripted([]))


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        run(tmp_path / name, TrainConfig(epochs=2, batch_size=3, seed=seed), recurrent(dropout=0.2))
    a, b, c = ((tmp_path / name / "best.safetensors").read_bytes() for name in "abc")
    assert a == b != c


# A directory belongs to one run

CONFIG = TrainConfig(epochs=1, batch_size=4)


def other_target() -> Graphs:
    graphs = rings(8)
    graphs[3].y[0] += 1e-3
    return graphs


def other_edges() -> Graphs:
    graphs = rings(8)
    graphs[3].edge_index = graphs[3].edge_index.flip(0)
    return graphs


class Twin(Recurrent):
    """The same weights as another class."""


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "config": ({"config": TrainConfig(epochs=1, batch_size=4, lr=0.1)}, r"train\.lr is 0\.001 there and 0\.1 now"),
    "seed": ({"config": TrainConfig(epochs=1, batch_size=4, seed=3)}, r"train\.seed is 0 there and 3 now"),
    "wider model": ({"model": recurrent(hidden=4)}, r"architecture\.parts is "),
    "class": ({"model": Twin()}, r"architecture\.model is 'Recurrent' there and 'Twin' now"),
    "precision": ({"model": recurrent(dtype=torch.float64)}, r"architecture\.dtype is 'float32' there and 'float64'"),
    "steps": ({"model": recurrent(steps=5)}, r"architecture\.parts is "),
    "dropout": ({"model": recurrent(dropout=0.5)}, r"architecture\.parts is "),
    "target": ({"train_set": other_target()}, r"data\.train is "),
    "edges": ({"train_set": other_edges()}, r"data\.train is "),
    "fewer graphs": ({"train_set": rings(7)}, r"data\.train is "),
    "validation": ({"val_set": rings(3, seed=2)}, r"data\.val is "),
    "loss": ({"task": Task("node", loss="l1")}, r"task\.loss is 'mse' there and 'l1' now"),
    "metric": ({"task": Task("node", metric="r2")}, r"task\.metric is 'mae' there and 'r2' now"),
    "extra": ({"extra": {"note": "other"}}, r"note is absent there and 'other' now"),
}


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("name", OTHERS)
def test_a_directory_of_another_run_is_refused_by_what_differs(tmp_path: Path, name: str, finished: bool) -> None:
    given = {"model": recurrent(), "train_set": rings(8), "val_set": rings(3, seed=1), "config": CONFIG}
    train(**given, run_dir=tmp_path, quiet=True)  # type: ignore[arg-type]
    if not finished:
        (tmp_path / "result.json").unlink()
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
    changes, sentence = OTHERS[name]
    with pytest.raises(ValueError, match=f"belongs to another run: .*{sentence}"):
        train(**{**given, **changes}, run_dir=tmp_path, quiet=True)  # type: ignore[arg-type]
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == before


def test_options_of_a_model_are_named_one_by_one(tmp_path: Path) -> None:
    graphs = [random_graph(6, 9, seed=seed) for seed in range(4)]
    for graph in graphs:
        graph.y = graph.x
    models = [GHR(1, 4, 1, levels=1, steps=1, t_low=t_low) for t_low in (1, 2)]
    train(models[0], graphs, graphs, CONFIG, tmp_path, task=Task("node"), quiet=True)
    with pytest.raises(ValueError, match=r"architecture\.config\.t_low is 1 there and 2 now"):
        train(models[1], graphs, graphs, CONFIG, tmp_path, task=Task("node"), quiet=True)


def test_a_directory_of_the_first_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"train": asdict(CONFIG)}))
    (tmp_path / "result.json").write_text(json.dumps({"best_val": 0.0}))
    with pytest.raises(ValueError, match=r"was written by version 0\.1\.0, which this version does not read"):
        run(tmp_path, CONFIG)


def test_two_processes_do_not_work_in_one_directory(tmp_path: Path, workers: ForkServerContext) -> None:
    path, started, end = tmp_path / "run", tmp_path / "started", tmp_path / "end"
    other = workers.Process(target=slow_run, args=(path, started, end))
    other.start()
    patience = time.monotonic() + 120
    while not started.exists() and time.monotonic() < patience:
        assert other.exitcode is None
        time.sleep(0.02)
    config = TrainConfig(epochs=2, batch_size=4)
    with pytest.raises(BusyError, match=r"Another process works in .*run; wait for it, or choose another run"):
        run(path, config)
    assert isinstance(BusyError("busy"), ValueError)
    end.touch()
    other.join(120)
    assert other.exitcode == 0
    run(tmp_path / "alone", config)
    assert run(path, config)["epochs"] == 2
    for name in ("best.safetensors", "last/epoch-0002/model.safetensors"):
        assert (path / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()


# Trained for longer


def outcome(path: Path) -> tuple[list[dict[str, Any]], bytes, bytes, dict[str, Any]]:
    lines, result = read_lines(path), json.loads((path / "result.json").read_text())
    for timed in (*lines, result):
        del timed["seconds"]
    del result["cpu_seconds"]
    weights = (path / "last" / "epoch-0005" / "model.safetensors").read_bytes()
    return lines, (path / "best.safetensors").read_bytes(), weights, result


@pytest.mark.parametrize("schedule", ["constant", "plateau"])
def test_a_run_made_longer_ends_like_a_long_run(tmp_path: Path, schedule: Any) -> None:
    options = {"batch_size": 3, "lr": 1e-2, "optimizer": "adamw", "schedule": schedule, "plateau_patience": 0}
    for epochs in (2, 5):
        run(tmp_path / "longer", TrainConfig(epochs=epochs, **options), recurrent(dropout=0.1))
    run(tmp_path / "long", TrainConfig(epochs=5, **options), recurrent(dropout=0.1))
    assert outcome(tmp_path / "longer") == outcome(tmp_path / "long")


def test_a_cosine_made_longer_goes_on_as_the_longer_one_has_it(tmp_path: Path) -> None:
    for epochs in (2, 5):
        run(tmp_path / "longer", TrainConfig(epochs=epochs, lr=0.1, schedule="cosine"))
    run(tmp_path / "long", TrainConfig(epochs=5, lr=0.1, schedule="cosine"))
    longer, long = ([line["lr"] for line in read_lines(tmp_path / name)] for name in ("longer", "long"))
    assert longer[2:] == long[2:]
    assert longer[1] != long[1]


def test_more_patience_goes_on_where_a_run_had_stopped(tmp_path: Path) -> None:
    values = [3.0, 4.0, 4.0, 2.0, 5.0]
    run(tmp_path, TrainConfig(epochs=5, patience=2), task=scripted(values))
    result = run(tmp_path, TrainConfig(epochs=5, patience=4), task=scripted(values[3:]))
    assert (result["epochs"], result["best_epoch"]) == (5, 4)


# Damage


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
    assert [line["epoch"] for line in read_lines(tmp_path / "hurt")] == [1, 2, 3]


def test_damaged_best_weights_are_noticed_before_the_run_goes_on(tmp_path: Path) -> None:
    run(tmp_path, TrainConfig(epochs=3), task=scripted([1.0, 2.0, 3.0]))
    best = tmp_path / "best.safetensors"
    whole = best.read_bytes()
    best.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ValueError, match=r"best\.safetensors is damaged: it is not as epoch 1 of this run wrote it"):
        run(tmp_path, TrainConfig(epochs=9), task=scripted([]))
    assert (tmp_path / "result.json").exists(), "what is refused stays as it was"
    best.write_bytes(whole)
    result = run(tmp_path, TrainConfig(epochs=4), task=scripted([0.5]))
    assert (result["epochs"], result["best_epoch"]) == (4, 4)


def test_a_full_disk_is_a_sentence_and_leaves_no_half_files(tmp_path: Path, workers: ForkServerContext) -> None:
    # Each limit stops another write: the config, the weights, the state of the optimiser, a line of metrics.
    limits = {200: "config.json", 1300: "last/epoch-0000", 2500: "last/epoch-0001", 8000: "metrics.jsonl"}
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


# Masks


def divided(*, test: float = 0.0) -> Graphs:
    """One ring whose nodes are for training, for validation and for the test, with other targets for the test."""
    graphs = Graphs(rings(5)[4:])
    (data,) = graphs
    node = torch.arange(data.num_nodes)
    data.train_mask, data.val_mask, data.test_mask = node < 4, (node == 4) | (node == 5), node > 5
    data.y[data.test_mask] += test
    return graphs


def test_masks_of_a_graph_keep_its_test_nodes_out(tmp_path: Path) -> None:
    outcomes = []
    for name, graphs in (("as it is", divided()), ("other test", divided(test=100.0))):
        config = TrainConfig(epochs=3, jitter=False)
        train(recurrent(), graphs, graphs, config, tmp_path / name, quiet=True)
        lines = [{**line, "seconds": 0} for line in read_lines(tmp_path / name)]
        outcomes.append((lines, (tmp_path / name / "last" / "epoch-0003" / "model.safetensors").read_bytes()))
        assert lines[0]["val"] < 50
    assert outcomes[0] == outcomes[1]


# What cannot be trained leaves nothing on disk


def without_mask(name: str) -> Graphs:
    graphs = divided()
    del graphs[0][name]
    return graphs


def without_targets(graphs: Graphs) -> Graphs:
    for data in graphs:
        del data.y
    return graphs


def masked_out(graphs: Graphs) -> Graphs:
    for data in graphs:
        data.mask = torch.zeros(data.num_nodes, dtype=torch.bool)
    return graphs


class Forgetful(GraphModel):
    """Does not remember its arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.read = nn.Linear(1, 1)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no rollout": ({"model": nn.Linear(1, 1)}, "Linear cannot be trained: it has no method rollout"),
    "frozen": ({"model": recurrent().requires_grad_(False)}, "none of its parameters takes a gradient"),
    "forgetful": ({"model": Forgetful()}, r"Forgetful could not be loaded again: .* self\.remember"),
    "wide": ({"model": FeedForward(1, 3)}, r"asks for predictions of shape \(4, 1\).*the model gave \(4, 3\)"),
    "precision": ({"train_set": rings(2, dtype=torch.float64)}, "dtype"),
    "no graphs": ({"train_set": Graphs()}, "training set has no graphs"),
    "no validation": ({"val_set": Graphs()}, "validation set has no graphs"),
    "no task": ({"train_set": [*rings(2)], "val_set": [*rings(1)]}, "Nothing says what is asked of the graphs; pass"),
    "no such task": ({"task": "node"}, "pass a task, .*; got 'node'"),
    "no targets": ({"train_set": without_targets(rings(2))}, "The graph has no y"),
    "validation without targets": ({"val_set": without_targets(rings(2))}, "The graph has no y"),
    "masked out": ({"train_set": masked_out(rings(2))}, "leave no target in any training graph"),
    "validation masked out": ({"val_set": masked_out(rings(2))}, "leave no target in any validation graph"),
    "no train_mask": ({"train_set": without_mask("train_mask")}, "Graph 0 has masks .*, but no train_mask; give it"),
    "no val_mask": ({"val_set": without_mask("val_mask")}, "Graph 0 has masks .*, but no val_mask; give it one"),
    "no graph": ({"train_set": [1, 2], "task": Task("node")}, "Graphs must be Data of PyTorch Geometric; got int"),
    "extra": ({"extra": {"train": 1}}, "must not have the key 'train'"),
    "extra that is no JSON": ({"extra": {"path": Path("x")}}, "JSON cannot hold"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_trained_leaves_nothing_on_disk(tmp_path: Path, name: str) -> None:
    changes, sentence = REFUSED[name]
    given = {"model": recurrent(), "train_set": rings(2), "val_set": rings(1), **changes}
    with pytest.raises((TypeError, ValueError, RuntimeError), match=sentence):
        train(**given, config=CONFIG, run_dir=tmp_path / "run", quiet=True)
    assert os.listdir(tmp_path) == []


def test_a_bare_function_is_no_metric() -> None:
    def mae(prediction: torch.Tensor, target: torch.Tensor) -> float:
        return 0.0

    with pytest.raises(ValueError, match="'mae' is a bare function, and nobody knows whether higher or lower is"):
        Task("node", metric=mae)  # type: ignore[arg-type]


def test_a_metric_of_one_s_own_chooses_the_best_epoch(tmp_path: Path) -> None:
    largest = Metric("largest", lambda prediction, target: prediction.max(), higher_is_better=True)
    result = run(tmp_path, TrainConfig(epochs=5, lr=0.05), task=Task("node", metric=largest))
    values = [line["val"] for line in read_lines(tmp_path)]
    assert result["best_val"] == max(values) != min(values)


def test_progress_goes_to_stderr_unless_quiet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path / "quiet", TrainConfig(epochs=1))
    assert capsys.readouterr() == ("", "")
    train(recurrent(), rings(4), rings(1), TrainConfig(epochs=2, batch_size=2), tmp_path / "loud")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "4/4" in captured.err
    assert "loss=" in captured.err
