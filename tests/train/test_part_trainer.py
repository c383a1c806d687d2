import socket
from dataclasses import replace
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest
import torch
from part_training import SPREAD, TASK, large_graph, part_process, small_model, train_parts
from tiny_training import read_lines

import ghr
from ghr import GHR, DeepGNN, Task
from ghr.ops import using
from ghr.train import TrainConfig, evaluate, predict, train

ALL = 1000  # hops
WHOLE = TrainConfig(epochs=3, batch_size=4, lr=1e-2, jitter=False)


@pytest.fixture(autouse=True)
def plain_backend():
    with using("torch"):  # nothing shall wait for kernels
        yield


def differ(one: GHR, other: GHR) -> float:
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return max(float((a - b).abs().max()) for a, b in pairs)


@pytest.mark.parametrize("log10", [False, True])
def test_all_parts_in_a_batch_with_everything_in_the_halo_train_as_the_whole_graph(tmp_path: Path, log10: bool) -> None:
    config = replace(WHOLE, log10=log10)
    models = [
        train_parts(tmp_path / str(parts), replace(config, parts=parts, halo=ALL if parts > 1 else 4))
        for parts in (1, 4)
    ]
    assert differ(*models) < 1e-9
    whole, ours = (read_lines(tmp_path / str(parts)) for parts in (1, 4))
    for name in ("train_loss", "val"):
        assert [line[name] for line in ours] == pytest.approx([line[name] for line in whole], rel=1e-9)
    assert differ(models[0], small_model()) > 1e-3, "they have learned something"


def test_a_short_halo_and_small_batches_learn_too(tmp_path: Path) -> None:
    train_parts(tmp_path, TrainConfig(epochs=8, batch_size=1, lr=1e-2, parts=4, halo=1))
    losses = [line["train_loss"] for line in read_lines(tmp_path)]
    assert losses[-1] < 0.5 * losses[0]


def test_a_killed_training_goes_on_bit_for_bit(tmp_path: Path) -> None:
    config = TrainConfig(epochs=3, batch_size=2, lr=1e-2, parts=4, halo=1)

    def stop(line: dict[str, float]) -> None:
        if line["epoch"] == 2:
            raise KeyboardInterrupt

    graph, path = large_graph(), tmp_path / "killed"
    with pytest.raises(KeyboardInterrupt):
        train(small_model(), [graph], [graph], config, path, task=TASK, callback=stop, quiet=True)
    assert len(read_lines(path)) == 2
    assert differ(train_parts(path, config), train_parts(tmp_path / "not", config)) == 0


def test_two_processes_train_as_one(workers: ForkServerContext, tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    processes = [workers.Process(target=part_process, args=(rank, 2, port, tmp_path)) for rank in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    for name, config in SPREAD.items():
        alone = train_parts(tmp_path / f"{name}-alone", config)
        for rank in range(2):
            found = small_model()
            found.load_state_dict(torch.load(tmp_path / f"{name}-{rank}.pt"))
            assert differ(found, alone) < 1e-9, name


def test_other_graphs_choose_the_best_model_in_parts_too(tmp_path: Path) -> None:
    graph, other, model = large_graph(), large_graph(40), small_model()
    train(model, [graph], [other], replace(WHOLE, epochs=1, parts=3), tmp_path, task=TASK, quiet=True)
    line = read_lines(tmp_path)[0]
    view = ghr.datasets.splits.view_split(other, TASK, "val")
    assert line["val"] == pytest.approx(evaluate(model, [view], TASK), rel=1e-9)


def test_predictions_in_parts_are_those_of_the_whole_graph() -> None:
    graph, model = large_graph(), small_model()
    for loops in ({}, {"steps": 3, "t_high": 2, "t_low": 2}):
        (whole,), (ours,) = (predict(model, [graph], TASK, parts=parts, **loops) for parts in (1, 4))
        assert torch.allclose(whole, ours, rtol=1e-9)
    tiny = large_graph(9)
    assert torch.allclose(predict(model, [tiny], TASK, parts=500)[0], predict(model, [tiny], TASK)[0])


def test_fit_takes_parts_and_the_run_remembers_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = large_graph().clone()
    plain = ghr.models.inputs.Data(x=graph.x.float(), edge_index=graph.edge_index, y=graph.y.float())
    run = ghr.fit(plain, TASK, out=tmp_path, parts=3, halo=2, epochs=2, hidden_channels=4, quiet=True)
    assert (run.config["train"]["parts"], run.config["train"]["halo"]) == (3, 2)
    whole = run.predict(plain, parts=1)[0]
    monkeypatch.setattr(GHR, "forward", None)  # nothing predicts the whole graph
    assert torch.allclose(run.predict(plain)[0], whole, atol=1e-5)


def test_a_run_in_one_part_says_nothing_of_parts() -> None:
    assert {"parts", "halo"}.isdisjoint(TrainConfig().describe())
    assert TrainConfig(parts=2).describe()["halo"] == 4
    for wrong in ({"parts": 0}, {"halo": -1}, {"parts": 1.5}):
        with pytest.raises(ValueError, match="must be a whole number"):
            TrainConfig(**wrong)


def test_what_cannot_be_trained_in_parts_leaves_nothing_on_disk(tmp_path: Path) -> None:
    graph, config = large_graph(), replace(WHOLE, parts=3)
    flat = DeepGNN(2, 4, 1, edge_dim=1, layers=1).double()
    for model, graphs, task, sentence in (
        (flat, [graph], TASK, "Only GHR runs in parts"),
        (small_model(), [graph, graph], TASK, "parts=3 divide one large graph, but there are 2 to train on; leave"),
        (small_model(), [graph], Task("graph"), "parts=3 divide the nodes of a graph, but the task is on graphs"),
    ):
        if task.level == "graph":
            graphs = [graph.clone()]
            graphs[0].y = torch.zeros(1, 1)
            del graphs[0].train_mask, graphs[0].val_mask
        with pytest.raises(ValueError, match=sentence):
            train(model, graphs, graphs, config, tmp_path / "run", task=task, quiet=True)
    with pytest.raises(ValueError, match="parts=1000 are more than the"):
        train_parts(tmp_path / "run", replace(config, parts=1000))
    assert list(tmp_path.iterdir()) == []
