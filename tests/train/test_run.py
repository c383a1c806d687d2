import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

import ghr
from ghr import GHR, Coarsen, Graclus, GraphModel, Metric, Run, Task
from ghr.testing import random_graph
from ghr.train import TrainConfig, train

CONFIG = TrainConfig(epochs=1, batch_size=4)


def graphs_with(task: Task, count: int = 4) -> list[Data]:
    """Graphs of 6 to 9 nodes with targets of the level and kind of a task."""
    graphs = []
    for seed in range(count):
        graph = random_graph(6 + seed, 9, in_channels=2, edge_dim=1, seed=seed)
        rows = {"node": graph.num_nodes, "edge": graph.num_edges, "graph": 1}[task.level]
        generator = torch.Generator().manual_seed(seed)
        if task.has_classes:
            graph.y = torch.randint(task.out_channels, (rows,), generator=generator)
        else:
            graph.y = torch.randn(rows, task.out_channels, generator=generator)
        graphs.append(graph)
    return graphs


def trained(path: Path, task: Task, model: GraphModel | None = None) -> tuple[Run, GraphModel, list[Data]]:
    """A run of one epoch, the model it left, and its graphs as they were before the model prepared them."""
    torch.manual_seed(0)
    graphs = graphs_with(task)
    if model is None:
        model = GHR.for_data(graphs, task, hidden_channels=4, steps=1)
    prepared = [model.prepare(graph) for graph in graphs]
    train(model, prepared, prepared, CONFIG, path, task=task, quiet=True)
    return Run(path), model, graphs


def test_has_all_of_a_run(tmp_path: Path) -> None:
    run, model, _ = trained(tmp_path, Task("node"))
    assert run.path == tmp_path
    assert run.config == json.loads((tmp_path / "config.json").read_text())
    assert run.result == json.loads((tmp_path / "result.json").read_text())
    assert run.task.describe() == Task("node").describe()
    assert run.model.config == model.config
    assert all(torch.equal(run.model.state_dict()[name], value) for name, value in model.state_dict().items())
    assert not run.model.training
    assert repr(run.model.transform) == repr(model.transform)
    assert repr(run) == f"Run({str(tmp_path)!r}, finished)"


def test_a_run_that_is_not_finished_has_no_result_yet(tmp_path: Path) -> None:
    run, *_ = trained(tmp_path, Task("node"))
    (tmp_path / "result.json").unlink()
    assert run.result is None
    assert "not finished" in repr(run)
    assert run.model.num_parameters > 0
    (tmp_path / "best.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"no best weights at .* the end of its first epoch"):
        _ = Run(tmp_path).model


def test_ghr_load_takes_the_directory_of_a_run(tmp_path: Path) -> None:
    run, _, graphs = trained(tmp_path, Task("node"))
    model = ghr.load(tmp_path)
    assert torch.equal(model(model.prepare(graphs[0])), run.predict(graphs[0])[0])


@pytest.mark.parametrize("level", ["node", "edge", "graph"])
def test_predicts_raw_and_prepared_graphs_alike_and_without_targets(tmp_path: Path, level: Any) -> None:
    task = Task(level, out_channels=2)
    run, model, graphs = trained(tmp_path, task)
    for graph in graphs:
        del graph.y
    raw = run.predict(graphs, batch_size=3)
    prepared = run.predict([model.prepare(graph) for graph in graphs])
    rows = {"node": lambda g: g.num_nodes, "edge": lambda g: g.num_edges, "graph": lambda g: 1}[level]
    assert [tuple(part.shape) for part in raw] == [(rows(graph), 2) for graph in graphs]
    for one, other, graph in zip(raw, prepared, graphs, strict=True):
        torch.testing.assert_close(one, other)
        torch.testing.assert_close(one, run.predict(graph)[0])


def test_graphs_coarsened_in_another_way_are_taken_as_they_are(tmp_path: Path) -> None:
    run, model, graphs = trained(tmp_path, Task("node"))
    other = Coarsen(Graclus(rounds=1, seed=5))(graphs[0])
    torch.testing.assert_close(run.predict(other)[0], model(other).detach())
    assert not torch.allclose(run.predict(other)[0], run.predict(graphs[0])[0])


def test_evaluates_raw_and_prepared_graphs_alike(tmp_path: Path) -> None:
    run, model, graphs = trained(tmp_path, Task("node"))
    errors = torch.cat([(part - graph.y).abs() for part, graph in zip(run.predict(graphs), graphs, strict=True)])
    assert run.evaluate(graphs) == pytest.approx(errors.mean().item(), rel=1e-5)
    assert run.evaluate([model.prepare(graph) for graph in graphs]) == pytest.approx(run.evaluate(graphs))
    assert run.evaluate(graphs[1]) == pytest.approx((run.predict(graphs[1])[0] - graphs[1].y).abs().mean().item())


def test_loops_may_be_others_at_inference(tmp_path: Path) -> None:
    run, model, graphs = trained(tmp_path, Task("node"))
    expected = model(model.prepare(graphs[0]), steps=3, t_low=2).detach()
    torch.testing.assert_close(run.predict(graphs[0], steps=3, t_low=2)[0], expected)
    assert run.evaluate(graphs, steps=3) != run.evaluate(graphs)


@pytest.mark.parametrize("coarsened", [False, True])
def test_of_a_graph_with_a_test_mask_only_the_test_rows_count(tmp_path: Path, coarsened: bool) -> None:
    run, model, (_, _, graph, _) = trained(tmp_path, Task("node"))
    graph.train_mask, graph.test_mask = (torch.arange(8) < 5, torch.arange(8) >= 6)
    given = model.prepare(graph) if coarsened else graph
    errors = (run.predict(graph)[0] - graph.y).abs()
    assert run.evaluate(given) == pytest.approx(errors[6:].mean().item(), rel=1e-5)
    assert run.evaluate(given) != pytest.approx(errors.mean().item(), rel=1e-3)
    assert len(run.predict(given)[0]) == 8, "predictions are for all rows"
    assert "test_mask" in given
    assert not given.y.isnan().any(), "the graph of the user stays as it was"


def test_classes(tmp_path: Path) -> None:
    task = Task("graph", out_channels=3, loss="cross_entropy", classes=("a", "b", "c"))
    run, _, graphs = trained(tmp_path, task)
    assert run.task.classes == ("a", "b", "c")
    right = [int(part.argmax()) == int(graph.y) for part, graph in zip(run.predict(graphs), graphs, strict=True)]
    assert run.evaluate(graphs) == pytest.approx(sum(right) / len(right))


class Squares(nn.Module):
    def forward(self, prediction: Tensor, target: Tensor) -> Tensor:
        return (prediction - target).square().mean()


def test_a_task_with_parts_of_one_s_own_is_given_again(tmp_path: Path) -> None:
    own = Task("node", loss=Squares(), metric=Metric("largest", lambda p, t: (p - t).abs().max()))
    run, _, graphs = trained(tmp_path, own)
    with pytest.raises(
        ValueError, match=r"has a loss of its own, 'Squares.*', which no file holds; pass the task again"
    ):
        run.evaluate(graphs)
    again = Run(tmp_path, task=own)
    errors = [(part - graph.y).abs().max().item() for part, graph in zip(again.predict(graphs), graphs, strict=True)]
    assert again.evaluate(graphs) == pytest.approx(max(errors), rel=1e-5)


class Mine(GraphModel):
    """A model of a user, in no map."""

    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int, *, head: nn.Module | None = None):
        super().__init__()
        self.head = nn.Linear(in_channels, out_channels) if head is None else head
        self.remember(in_channels=in_channels, hidden_channels=hidden_channels, out_channels=out_channels, head=head)

    def rollout(self, data: Data, **loops: Any) -> list[Tensor]:
        self.check_loops(loops)
        return [self.head(data.x)]


def test_a_model_of_one_s_own_is_given_again(tmp_path: Path) -> None:
    run, model, graphs = trained(tmp_path, Task("node"), Mine(2, 4, 1))
    with pytest.raises(ValueError, match=r"No model of ghr\.MODELS is a Mine; add yours before loading it"):
        _ = run.model
    fresh = Mine(2, 4, 1)
    again = Run(tmp_path, model=fresh)
    torch.testing.assert_close(again.predict(graphs[0])[0], model(graphs[0]).detach())
    assert again.model is fresh
    with pytest.raises(ValueError, match="do not fit Mine"):
        _ = Run(tmp_path, model=Mine(3, 4, 1)).model


def test_a_model_in_the_map_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, model, graphs = trained(tmp_path, Task("node"), Mine(2, 4, 1))
    monkeypatch.setitem(ghr.MODELS, "mine", ghr.Entry(Mine))
    torch.testing.assert_close(run.predict(graphs[0])[0], model(graphs[0]).detach())


def test_parts_of_one_s_own_are_asked_for_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ghr.MODELS, "mine", ghr.Entry(Mine))
    run, model, graphs = trained(tmp_path, Task("node"), Mine(2, 4, 1, head=nn.Linear(2, 1)))
    with pytest.raises(ValueError, match="was saved with a head of its own, Linear; pass it"):
        _ = run.model
    again = ghr.load(tmp_path, head=nn.Linear(2, 1))
    torch.testing.assert_close(again(graphs[0]), model(graphs[0]))


def test_what_is_no_run_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing is not a run directory: it has no config\.json"):
        Run(tmp_path / "nothing")
    (tmp_path / "config.json").write_text(json.dumps({"train": {}, "model": {}}))
    with pytest.raises(ValueError, match=r"written by version 0\.1\.0, which this version does not read"):
        Run(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ValueError, match=r"config\.json is not JSON"):
        Run(tmp_path)
    assert os.listdir(tmp_path) == ["config.json"]


def test_a_run_shows_itself_alone_or_beside_another(tmp_path: Path) -> None:
    run, model, graphs = trained(tmp_path / "one", Task("node"))
    other, *_ = trained(tmp_path / "two", Task("node"), GraphModel.cut(model, 1))
    page = run.view(graphs[1], nodes=(0,), steps=3)
    assert page.text.count('"name":"one"') == 1
    assert '["training","1 epochs' in page.text
    assert "3, trained with 1" in page.text
    both = run.view(graphs[1], beside=other, title="both")
    assert both.title == "both"
    assert '"name":"two"' in both.text
    with pytest.raises(ValueError, match="has the loops steps, t_high, t_low, but layers=2 was given"):
        run.view(graphs[1], layers=2)
