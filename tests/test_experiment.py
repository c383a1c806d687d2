import json
import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

import ghr
from ghr import Coarsen, Experiment, Graclus, GraphModel, Metric, Run, Task
from ghr.datasets import BENCHMARKS, Splits, make_splits
from ghr.experiment import TRAINING, BenchmarkGraphs, OwnGraphs, evaluate_split
from ghr.testing import random_graph
from ghr.train import TrainConfig

TINY: dict[str, Any] = {"hidden_channels": 4, "steps": 1, "t_high": 1, "t_low": 1, "epochs": 2, "quiet": True}


def make_graphs(task: Task, count: int = 10, *, nodes: int = 7) -> list[Data]:
    """Graphs whose targets are of the level and kind of a task."""
    graphs = []
    for seed in range(count):
        graph = random_graph(nodes + seed % 3, 12, in_channels=2, edge_dim=1, seed=seed)
        rows = {"node": graph.num_nodes, "edge": graph.num_edges, "graph": 1}[task.level]
        generator = torch.Generator().manual_seed(seed)
        if task.has_classes:
            graph.y = torch.randint(task.out_channels, (rows,), generator=generator)
        else:
            graph.y = torch.randn(rows, task.out_channels, generator=generator)
        graphs.append(graph)
    return graphs


def big_graph(task: Task, nodes: int = 40) -> Data:
    """One graph with masks: 20 nodes to train on, 10 to choose by, 10 for the test."""
    graph = make_graphs(task, 1, nodes=nodes)[0]
    node = torch.arange(nodes)
    graph.train_mask, graph.val_mask, graph.test_mask = node < 20, (node >= 20) & (node < 30), node >= 30
    return graph


def read_lines(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        del line["seconds"]
    return lines


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


# Graphs of a user


def test_numbers_of_nodes_of_many_graphs(tmp_path: Path) -> None:
    task = Task("node", metric="mae")
    graphs = make_graphs(task)
    seen: list[dict[str, Any]] = []
    run = ghr.fit(graphs, task, out=tmp_path, callback=seen.append, **TINY)
    assert [line["epoch"] for line in seen] == [1, 2]
    assert run.result is not None
    assert run.result["epochs"] == 2
    splits = make_splits(graphs, task)
    assert [len(part) for part in splits.named().values()] == [8, 1, 1]
    assert run.evaluate(splits.test) == pytest.approx(run.result["metrics"]["mae"], rel=1e-5)
    assert run.evaluate(splits.val) == pytest.approx(run.result["best_val"], rel=1e-5)
    new = [random_graph(5, 8, in_channels=2, edge_dim=1, seed=seed) for seed in range(3)]
    assert [tuple(part.shape) for part in run.predict(new)] == [(5, 1)] * 3
    again = Run(tmp_path)
    assert again.evaluate(graphs) == run.evaluate(graphs)
    assert again.task.score.name == "MAE"


def test_classes_of_one_graph_by_its_masks(tmp_path: Path) -> None:
    task = Task("node", out_channels=3, loss="cross_entropy", class_weight=(1.0, 2.0, 1.0))
    graph = big_graph(task)
    run = ghr.fit(graph, task, out=tmp_path, **TINY)
    assert run.result is not None
    scores = run.predict(graph)[0]
    assert scores.shape == (40, 3)
    right = scores.argmax(dim=1) == graph.y
    assert run.result["metrics"]["accuracy"] == pytest.approx(right[30:].float().mean().item())
    assert run.result["best_val"] == pytest.approx(right[20:30].float().mean().item())
    assert run.evaluate(graph) == pytest.approx(right[30:].float().mean().item())


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_what_is_to_be_tested_enters_neither_loss_nor_choice(tmp_path: Path, kind: str) -> None:
    """Other targets at the test nodes change no bit of the weights, nor which epoch is the best."""
    task = Task("node") if kind == "numbers" else Task("node", 3, loss="cross_entropy")
    settings = {**TINY, "epochs": 4, "lr": 0.1}

    def outcome(name: str, rows: slice) -> tuple[bytes, list[dict[str, Any]], dict[str, Any]]:
        graph = big_graph(task)
        graph.y = graph.y.clone()
        graph.y[rows] = 100 * graph.y[rows] - 7 if kind == "numbers" else (graph.y[rows] + 2) % 3
        run = ghr.fit(graph, task, out=tmp_path / name, **settings)
        assert run.result is not None
        last = (tmp_path / name / "last" / "epoch-0004" / "model.safetensors").read_bytes()
        return last + (tmp_path / name / "best.safetensors").read_bytes(), read_lines(tmp_path / name), run.result

    weights, lines, result = outcome("as it is", slice(0, 0))
    tested = outcome("other test", slice(30, 40))
    assert tested[:2] == (weights, lines)
    assert tested[2]["best_epoch"] == result["best_epoch"]
    assert tested[2]["metrics"] != result["metrics"], "the test itself does see them"
    assert outcome("other choice", slice(20, 30))[1] != lines
    assert outcome("other training", slice(0, 20))[0] != weights


def test_one_graph_without_masks_is_divided(tmp_path: Path) -> None:
    task = Task("node")
    graph = make_graphs(task, 1, nodes=40)[0]
    run = ghr.fit(graph, task, out=tmp_path, **TINY)
    assert run.result is not None
    assert run.config["experiment"]["data"]["divided"] == "nodes at random"
    splits = make_splits(graph, task)
    (test,) = splits.test
    errors = (run.predict(graph)[0] - graph.y).abs()[test.mask]
    assert len(errors) == 4
    assert run.result["metrics"]["mae"] == pytest.approx(errors.mean().item(), rel=1e-5)


@pytest.mark.parametrize("metric", ["mae", "r2"])
def test_several_numbers_of_a_graph_some_of_them_unknown(tmp_path: Path, metric: str) -> None:
    task = Task("graph", out_channels=3, loss="l1", metric=metric)
    graphs = make_graphs(task, 20)
    for number, graph in enumerate(graphs):
        graph.y[0, number % 3] = math.nan
    run = ghr.fit(graphs, task, out=tmp_path, **TINY)
    assert run.result is not None
    assert math.isfinite(run.result["best_val"])
    assert math.isfinite(run.result["metrics"][metric])
    assert [tuple(part.shape) for part in run.predict(graphs[:2])] == [(1, 3)] * 2


@pytest.mark.parametrize("single", [False, True])
def test_edges(tmp_path: Path, single: bool) -> None:
    task = Task("edge", out_channels=1, loss="bce", metric="accuracy")
    graphs = make_graphs(task, 1 if single else 10, nodes=30 if single else 7)
    for graph in graphs:
        graph.y = (graph.y > 0).long()
    run = ghr.fit(graphs[0] if single else graphs, task, out=tmp_path, **TINY)
    assert run.result is not None
    assert 0 <= run.result["metrics"]["accuracy"] <= 1
    assert run.predict(graphs[0])[0].shape == (graphs[0].num_edges, 1)


@pytest.mark.parametrize("model", ["deep-gine", "recurrent-gine", "gps", "min-plus"])
def test_other_models_by_their_names(tmp_path: Path, model: str) -> None:
    task = Task("node")
    graphs = make_graphs(task)
    for graph in graphs:
        graph.x, graph.edge_attr = torch.eye(graph.num_nodes)[:, :1], graph.edge_attr.abs()
    small = {"layers": 1} if model in ("deep-gine", "gps") else {"t_low": 1}
    run = ghr.fit(graphs, task, out=tmp_path, model=model, hidden_channels=4, epochs=1, quiet=True, **small)
    assert run.config["experiment"]["model"] == model
    assert type(run.model) is ghr.MODELS[model].build
    assert torch.equal(Run(tmp_path).predict(graphs[0])[0], run.predict(graphs[0])[0])


class Mine(GraphModel):
    """A class of a user, with an option and a part of its own."""

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        shift: float = 0.0,
        activation: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.map = nn.Sequential(nn.Linear(in_channels, hidden_channels), nn.Linear(hidden_channels, out_channels))
        self.activation = nn.Identity() if activation is None else activation
        self.shift = shift
        self.remember(
            in_channels=in_channels,
            hidden_channels=hidden_channels,
            out_channels=out_channels,
            shift=shift,
            activation=activation,
        )

    def rollout(self, data: Data, **loops: Any) -> list[Tensor]:
        self.check_loops(loops)
        return [self.activation(self.map(data.x)) + self.shift]


def test_a_class_of_one_s_own(tmp_path: Path) -> None:
    task = Task("node")
    graphs = make_graphs(task)
    run = ghr.fit(graphs, task, out=tmp_path, model=Mine, shift=3.0, epochs=1, hidden_channels=4, quiet=True)
    assert run.config["experiment"] == {**run.config["experiment"], "model": "Mine"}
    assert run.config["architecture"]["config"]["shift"] == 3.0
    assert run.predict(graphs[0])[0].shape == (7, 1)
    assert isinstance(run.model, Mine)
    with pytest.raises(ValueError, match=r"Mine .*has no option 'steps'; known are activation, .*lr"):
        ghr.fit(graphs, task, out=tmp_path / "other", model=Mine, steps=3)
    again = Run(tmp_path, model=Mine(2, 4, 1, shift=3.0))
    assert torch.equal(again.predict(graphs[0])[0], run.predict(graphs[0])[0])


def test_parts_of_one_s_own(tmp_path: Path) -> None:
    """What no file holds is named there, and the run that fit returns has it."""
    task = Task("node")
    graphs = make_graphs(task)
    settings = {"model": Mine, "activation": nn.Tanh(), "hidden_channels": 4, "epochs": 1, "quiet": True}
    run = ghr.fit(graphs, task, out=tmp_path, **settings)
    assert run.config["experiment"]["options"]["activation"] == {"own": "Tanh"}
    assert float(run.predict(graphs[0])[0].abs().max()) <= 1
    lines = (tmp_path / "metrics.jsonl").read_bytes()
    ghr.fit(graphs, task, out=tmp_path, **{**settings, "activation": nn.Tanh()})
    assert (tmp_path / "metrics.jsonl").read_bytes() == lines
    with pytest.raises(ValueError, match=r"activation\.own is 'Tanh' there and 'ReLU' now"):
        ghr.fit(graphs, task, out=tmp_path, **{**settings, "activation": nn.ReLU()})


def test_a_partition_of_one_s_own(tmp_path: Path) -> None:
    def halves(edge_index: Tensor, num_nodes: int) -> Tensor:
        return torch.arange(num_nodes) // 2

    task = Task("node")
    graphs = make_graphs(task)
    run = ghr.fit(graphs, task, out=tmp_path, coarsen=Coarsen(halves), **TINY)
    assert run.model.prepare(graphs[0]).levels[1].num_nodes == 4
    with pytest.raises(ValueError, match="saved with a coarsen of its own"):
        _ = Run(tmp_path).model


def test_the_same_again_returns_at_once(tmp_path: Path) -> None:
    task = Task("node")
    graphs = make_graphs(task)
    first = ghr.fit(graphs, task, out=tmp_path, **TINY)
    files = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*") if file.is_file() and file.name != "lock"}
    seen: list[dict[str, Any]] = []
    second = ghr.fit(graphs, task, out=tmp_path, callback=seen.append, **TINY)
    assert seen == []
    assert second.result == first.result
    assert {file: file.stat().st_mtime_ns for file in files} == files
    assert torch.equal(second.predict(graphs[0])[0], first.predict(graphs[0])[0])
    longer = ghr.fit(graphs, task, out=tmp_path, callback=seen.append, **{**TINY, "epochs": 3})
    assert [line["epoch"] for line in seen] == [3]
    assert longer.result is not None
    assert longer.result["epochs"] == 3


def test_other_data_in_the_same_place_are_refused(tmp_path: Path) -> None:
    task = Task("node")
    graphs = make_graphs(task)
    ghr.fit(graphs, task, out=tmp_path, **TINY)
    graphs[0].x[0, 0] += 1
    with pytest.raises(ValueError, match=r"belongs to another run: data\.(train|val) is"):
        ghr.fit(graphs, task, out=tmp_path, **TINY)
    with pytest.raises(ValueError, match=r"train\.seed is 0 there and 1 now"):
        ghr.fit(graphs, task, out=tmp_path, seed=1, **TINY)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"stepz": 3}, r"ghr \(its training and its data included\) has no option 'stepz'; known are .*epochs.*steps"),
        ({"model": "gnn"}, "Unknown model 'gnn'; known are ghr, "),
        ({"model": nn.Linear}, "A model is built by a subclass of GraphModel"),
        ({"epochs": 0}, "epochs must be a whole number of at least 1; got 0"),
        ({"lr": "fast"}, "lr must be a finite number above 0; got 'fast'"),
        ({"conv": "gin"}, "Unknown conv 'gin'; known are gine"),
        ({"steps": 0}, "steps must be a whole number of at least 1; got 0"),
        ({"rounds": 0}, "rounds"),
        ({"seed": -1}, "seed must be a whole number of at least 0; got -1"),
        ({"task": None}, "Nothing says what is asked of the graphs; pass a task"),
        ({"task": "node"}, "pass a task, .*; got 'node'"),
        ({"task": Task("node", 2)}, r"y must have the shape \(7, 2\)"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_on_disk(
    tmp_path: Path, settings: dict[str, Any], sentence: str
) -> None:
    given = {"task": Task("node"), "epochs": 1, "quiet": True, **settings}
    with pytest.raises(ValueError, match=sentence):
        ghr.fit(make_graphs(Task("node")), out=tmp_path / "run", **given)
    assert os.listdir(tmp_path) == []


def test_graphs_that_the_model_cannot_take_leave_nothing_on_disk(tmp_path: Path) -> None:
    graphs = make_graphs(Task("node"))
    for graph in graphs:
        graph.x = graph.x.double()
    with pytest.raises(ValueError, match=r"x holds torch\.float64, but the model computes with torch\.float32"):
        ghr.fit(graphs, Task("node"), out=tmp_path / "run", **TINY)
    assert os.listdir(tmp_path) == []


def test_targets_may_be_finer_than_the_model(tmp_path: Path) -> None:
    task = Task("node", loss="huber")
    graphs = make_graphs(task)
    for graph in graphs:
        graph.y = graph.y.double()
    run = ghr.fit(graphs, task, out=tmp_path, **TINY)
    assert run.result is not None
    assert math.isfinite(run.result["best_val"])


def test_codes_that_occur_in_the_test_alone_are_known_too(tmp_path: Path) -> None:
    task = Task("graph")
    graphs = make_graphs(task)
    for graph in graphs:
        graph.x, graph.edge_attr = graph.x.abs().long(), torch.zeros(graph.num_edges, 1, dtype=torch.long)
    test = make_graphs(task, 2)
    for graph in test:
        graph.x, graph.edge_attr = graph.x.abs().long() + 7, torch.full((graph.num_edges, 1), 5)
    run = ghr.fit(graphs, task, out=tmp_path, test=test, **TINY)
    assert run.result is not None
    assert run.model.config["edge_dim"] == [6]
    assert math.isfinite(run.result["metrics"]["mae"])


def test_validation_and_test_may_be_given(tmp_path: Path) -> None:
    task = Task("node")
    graphs = make_graphs(task, 12)
    run = ghr.fit(graphs[:6], task, out=tmp_path / "a", val=graphs[6:9], test=graphs[9:], **TINY)
    assert run.result is not None
    assert run.evaluate(graphs[6:9]) == pytest.approx(run.result["best_val"], rel=1e-5)
    assert run.evaluate(graphs[9:]) == pytest.approx(run.result["metrics"]["mae"], rel=1e-5)
    splits = Splits(task, graphs[:6], graphs[6:9], None)
    run = ghr.fit(splits, out=tmp_path / "b", **TINY)
    assert run.result is not None
    assert run.result["metrics"] == {}
    with pytest.raises(ValueError, match="Splits have their task, validation and test already; leave out"):
        ghr.fit(splits, task, out=tmp_path / "c")


def test_a_training_is_finished_also_where_the_test_has_no_score(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    task = Task("graph", loss="bce")
    graphs = make_graphs(task, 8)
    for number, graph in enumerate(graphs):
        graph.y = torch.tensor([[float(number % 2)]])
    run = ghr.fit(graphs[:4], task, out=tmp_path, val=graphs[4:7], test=graphs[7:], **TINY)
    assert run.result is not None
    assert run.result["metrics"] == {}
    assert "The test graphs have no score: The area under the ROC curve needs both answers" in caplog.text


def test_a_metric_of_one_s_own_has_its_own_name(tmp_path: Path) -> None:
    worst = Metric("Largest error", lambda prediction, target: (prediction - target).abs().max(), unit="m")
    run = ghr.fit(make_graphs(Task("node")), Task("node", metric=worst), out=tmp_path, **TINY)
    assert run.result is not None
    assert set(run.result["metrics"]) == {"largest_error"}


# The experiment as a value


def own(model: Any = "ghr", **options: Any) -> Experiment:
    task = Task("node")
    given = {"hidden_channels": 4, "steps": 1, **options}
    return Experiment(OwnGraphs(make_splits(make_graphs(task), task)), model, given, TrainConfig(epochs=1))


def test_the_seed_decides_the_weights() -> None:
    experiment = own()
    torch.manual_seed(1)
    first = experiment.build(experiment.data.load("nowhere"))
    torch.manual_seed(2)
    state = torch.random.get_rng_state()
    second = experiment.build(experiment.data.load("nowhere"))
    assert torch.equal(torch.random.get_rng_state(), state), "nobody else's random numbers move"
    for name, value in first.state_dict().items():
        assert torch.equal(value, second.state_dict()[name])
    other = replace(experiment, train=TrainConfig(epochs=1, seed=1))
    third = other.build(other.data.load("nowhere"))
    assert not torch.equal(first.node_encoder.weight, third.node_encoder.weight)


def test_own_graphs_suggest_what_suits_most(tmp_path: Path) -> None:
    experiment = replace(own(), options={})
    model = experiment.build(experiment.data.load(tmp_path))
    assert {name: model.config[name] for name in experiment.suggested} == dict(experiment.suggested)
    assert experiment.config()["train"]["epochs"] == 1
    assert json.loads(json.dumps(experiment.config()))["data"]["divided"] == "graphs at random"
    assert os.listdir(tmp_path) == [], "nothing of own graphs is kept"


def test_own_graphs_are_prepared_as_the_model_needs_them() -> None:
    data = own().data
    prepared = data.load("nowhere", Coarsen(Graclus(rounds=1)))
    assert all(part[0].num_levels == 2 for part in prepared.named().values())
    assert prepared.task is data.load("nowhere").task
    assert "level1_batch" not in data.load("nowhere").train[0]


def test_options_are_checked_when_the_value_is_made() -> None:
    with pytest.raises(ValueError, match="GHR has no option 'colour'; known are"):
        own(colour="red")
    with pytest.raises(ValueError, match="Unknown model 'gnn'"):
        own("gnn")
    with pytest.raises(ValueError, match="Unknown benchmark 'rgg'; known are rgg-sssp-small"):
        BenchmarkGraphs("rgg")
    with pytest.raises(ValueError, match=r"benchmark rgg-sssp-small has no option 'colour'; known are .*weighted"):
        BenchmarkGraphs("rgg-sssp-small", options={"colour": 1})


def test_settings_are_sorted_into_model_training_and_data() -> None:
    settings = {"steps": 2, "lr": 0.5, "weighted": True, "rounds": 1}
    experiment = Experiment.on("rgg-sssp-small", settings=settings, graphs=10, seed=3)
    assert experiment.options == {"steps": 2, "rounds": 1}
    assert (experiment.train.lr, experiment.train.seed) == (0.5, 3)
    recipe = BENCHMARKS["rgg-sssp-small"].training
    for name in set(recipe) - {"lr"}:
        assert getattr(experiment.train, name) == recipe[name]
    assert experiment.data == BenchmarkGraphs("rgg-sssp-small", 10, None, {"weighted": True})
    assert experiment.suggested == BENCHMARKS["rgg-sssp-small"].suggested
    with pytest.raises(ValueError, match=r"has no option 'wieghted'; known are .*max_distance"):
        Experiment.on("rgg-sssp-small", settings={"wieghted": True})
    with pytest.raises(ValueError, match="has no option 'seed'"):
        Experiment.on("rgg-sssp-small", settings={"seed": 3})
    assert "seed" not in TRAINING


def test_no_name_means_two_things() -> None:
    for benchmark in BENCHMARKS.values():
        for entry in ghr.MODELS.values():
            names = [*entry.build.option_names(), *TRAINING, *benchmark.options]
            assert len(names) == len(set(names))


def test_a_benchmark_by_its_recipe(tmp_path: Path) -> None:
    settings = {"hidden_channels": 4, "steps": 1, "t_low": 1, "t_high": 1, "epochs": 1}
    experiment = Experiment.on("rgg-sssp-small", settings=settings, graphs={"train": 4, "val": 2, "test": 3})
    run = experiment.run(tmp_path / "run", tmp_path / "data", quiet=True)
    assert run.result is not None
    metrics = run.result["metrics"]
    assert {"mae", "in_range", "out_of_range", "by_distance"} <= set(metrics)

    splits = experiment.data.load(tmp_path / "data", run.model.transform)
    by_distance: dict[int, list[float]] = {}
    for graph in splits.test:
        errors = (run.predict(graph)[0] - graph.y).abs().flatten().tolist()
        for error, hops, counts in zip(errors, graph.hops.tolist(), graph.mask.tolist(), strict=True):
            if counts:
                by_distance.setdefault(hops, []).append(error)
    everything = [error for errors in by_distance.values() for error in errors]
    assert metrics["mae"] == pytest.approx(sum(everything) / len(everything), rel=1e-4)
    near = [error for hops, errors in by_distance.items() if hops <= splits.in_range for error in errors]
    assert metrics["in_range"] == pytest.approx(sum(near) / len(near), rel=1e-4)
    counts = {int(hops): group["count"] for hops, group in metrics["by_distance"].items()}
    assert counts == {hops: len(errors) for hops, errors in by_distance.items()}

    assert evaluate_split(run.model, splits, "val")["mae"] == pytest.approx(run.result["best_val"], rel=1e-5)
    assert evaluate_split(run.model, splits, "test", steps=3)["mae"] != metrics["mae"]
    with pytest.raises(ValueError, match="Unknown split 'tset'; known are train, val, test"):
        evaluate_split(run.model, splits, "tset")

    again = Experiment.from_run(Run(tmp_path / "run"))
    assert again == experiment
    seen: list[dict[str, Any]] = []
    assert again.run(tmp_path / "run", tmp_path / "data", quiet=True, callback=seen.append).result == run.result
    assert seen == []


def test_a_run_on_own_graphs_needs_them_again(tmp_path: Path) -> None:
    task = Task("node")
    run = ghr.fit(make_graphs(task), task, out=tmp_path, **TINY)
    with pytest.raises(ValueError, match="was not trained on a benchmark, so its graphs must be given again"):
        Experiment.from_run(run)


def test_paths_among_the_options_of_data_are_kept(tmp_path: Path) -> None:
    data = BenchmarkGraphs("peptides-struct", options={"smiles": tmp_path / "list.smi"})
    assert data.describe()["options"] == {"smiles": str(tmp_path / "list.smi")}


# The unit of the targets


@pytest.mark.parametrize("name", ["ghr", "deep-gine", "gps"])
def test_own_graphs_are_predicted_in_their_unit_from_the_start(tmp_path: Path, name: str) -> None:
    task = Task("graph", out_channels=2)
    graphs = make_graphs(task)
    for graph in graphs:
        graph.y = torch.tensor([1e6, -3.0]) + torch.tensor([2e4, 0.1]) * graph.y
    splits = make_splits(graphs, task)
    model = Experiment(OwnGraphs(splits), name, {"hidden_channels": 4}).build(splits)
    target = torch.cat([splits.train[index].y for index in range(len(splits.train))]).double()
    unit = model.config["unit"]
    torch.testing.assert_close(torch.tensor(unit["shift"], dtype=torch.double), target.mean(0))
    torch.testing.assert_close(torch.tensor(unit["scale"], dtype=torch.double), target.std(0, correction=0))


def test_unknown_targets_do_not_count_for_the_unit_and_equal_ones_have_the_scale_one() -> None:
    task = Task("graph", out_channels=3)
    graphs = make_graphs(task)
    for number, graph in enumerate(graphs):
        graph.y = torch.tensor([[float(number % 2), math.nan if number > 3 else 5.0, math.nan]])
    splits = make_splits(graphs, task)
    unit = Experiment(OwnGraphs(splits), "deep-gine", {"hidden_channels": 4}).build(splits).config["unit"]
    assert unit["shift"][1:] == [5.0, 0.0]
    assert unit["scale"][1:] == [1.0, 1.0]


def test_classes_and_benchmarks_have_no_unit(tmp_path: Path) -> None:
    task = Task("graph", out_channels=3, loss="cross_entropy", metric="accuracy")
    splits = make_splits(make_graphs(task), task)
    assert "unit" not in Experiment(OwnGraphs(splits), "deep-gine", {"hidden_channels": 4}).build(splits).config
    experiment = Experiment.on("rgg-sssp-small", "deep-gine", {"hidden_channels": 4}, graphs=10)
    assert "unit" not in experiment.build(experiment.data.load(tmp_path)).config


@pytest.mark.parametrize(
    ("model", "options", "has"),
    [("ghr", {}, True), ("ghr", {"start": "paper"}, False), ("ghr-select", {}, False), ("gcn", {}, False)],
)
def test_on_a_benchmark_only_the_scaled_start_of_states_has_a_unit(
    tmp_path: Path, model: str, options: dict[str, Any], has: bool
) -> None:
    experiment = Experiment.on("rgg-sssp-small", model, {"hidden_channels": 4, **options}, graphs=10)
    assert ("unit" in experiment.build(experiment.data.load(tmp_path)).config) == has


@pytest.mark.parametrize("values", ["select", "sum"])
def test_values_are_scaled_but_never_shifted(values: str) -> None:
    task = Task("node")
    graphs = make_graphs(task)
    for graph in graphs:
        graph.y = 1e3 + 5 * graph.y
    splits = make_splits(graphs, task)
    unit = Experiment(OwnGraphs(splits), f"ghr-{values}", {"hidden_channels": 4}).build(splits).config["unit"]
    target = torch.cat([splits.train[index].y for index in range(len(splits.train))]).double()
    assert unit["shift"] == [0.0]
    assert unit["scale"] == pytest.approx([float(target.square().mean().sqrt())])
