"""What holds for every benchmark in the list, whichever are in it."""

from dataclasses import fields

import pytest
import torch
from torch_geometric.data import Data

from ghr import MODELS
from ghr.datasets import BENCHMARKS, LRIM, RGGSSSP, ECHOChem, ECHOSynth, PeptidesStruct, Task
from ghr.datasets.lrim import TEMPERATURES
from ghr.train import TrainConfig

LONE = Data(x=torch.zeros(1, 1), edge_index=torch.zeros(2, 0, dtype=torch.long), y=torch.zeros(1, 1))
REBUILT = {name: benchmark for name, benchmark in BENCHMARKS.items() if "generate" in benchmark.sources}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_says_what_it_is(name):
    benchmark = BENCHMARKS[name]
    assert benchmark.title
    assert benchmark.summary
    assert benchmark.comparable
    assert list(benchmark.sizes) == ["train", "val", "test"]
    assert set(benchmark.sources) <= {"generate", "hub"}
    assert benchmark.one_graph == name.startswith("city")
    assert benchmark.in_range is None or benchmark.distance is not None


@pytest.mark.parametrize("name", BENCHMARKS)
def test_how_it_is_trained_is_a_configuration(name):
    training = BENCHMARKS[name].training
    assert set(training) <= {field.name for field in fields(TrainConfig)}
    assert "seed" not in training
    config = TrainConfig(**training)
    assert config.patience is not None
    assert config.clip == 1.0


def test_every_published_value_has_a_mark():
    for benchmark in BENCHMARKS.values():
        for value in benchmark.published.values():
            assert value.endswith(("[S]", "[V]", "[I]", "[2]", "[?]"))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("rgg-sssp-small", (300, 32, 1e-3, 0.8, False, True, 4, 2, 2)),
        ("rgg-sssp-large", (300, 32, 1e-3, 0.8, False, True, 4, 3, 6)),
        ("echo-sssp", (500, 128, 1e-3, 0.1, True, False, 4, 3, 6)),
        ("echo-ecc", (500, 256, 1e-3, 0.1, True, False, 4, 3, 2)),
        ("echo-diam", (500, 128, 1.8327e-3, 0.1, True, False, 4, 2, 2)),
        ("echo-charge", (500, 128, 3.4076e-4, 0.1, True, False, 4, 1, 3)),
        ("echo-energy", (500, 128, 3.0004e-4, 0.1, True, False, 4, 1, 3)),
        ("peptides-struct", (200, 64, 1e-3, 0.8, False, False, 5, 2, 2)),
        ("lrim-16-hard", (500, 32, 3e-4, 0.8, False, False, 3, 3, 3)),
        ("city-paris", (300, 1, 1e-3, 0.8, False, False, 4, 2, 3)),
    ],
)
def test_published_recipes(name, values):
    benchmark = BENCHMARKS[name]
    config, suggested = TrainConfig(**benchmark.training), benchmark.suggested
    trained = (config.epochs, config.batch_size, config.lr, config.gamma, config.log10, config.jitter)
    assert (*trained, suggested["steps"], suggested["t_high"], suggested["t_low"]) == values
    assert suggested["hidden_channels"] == (256 if name.startswith("lrim") else 32)
    assert suggested["pool"] == (
        "sum" if name in ("echo-charge", "echo-energy", "peptides-struct", "lrim-16-hard") else "max"
    )


@pytest.mark.parametrize(("size", "batch"), [(16, 32), (32, 32), (64, 4), (128, 1), (256, 1)])
def test_lattices_larger_than_the_paper_trains_on_are_trained_in_little_memory(size, batch):
    for level in ("hard", "easy"):
        benchmark = BENCHMARKS[f"lrim-{size}-{level}"]
        assert benchmark.training["batch_size"] == batch
        model = MODELS["ghr"].for_data(LONE, Task("node"), {"partition": "graclus"}, benchmark.suggested)
        assert model.config["checkpoint"] == (size > 32)


@pytest.mark.parametrize(
    ("name", "kind", "level", "score"),
    [
        ("rgg-sssp-small", RGGSSSP, "node", "MAE, hops"),
        ("rgg-sssp-large", RGGSSSP, "node", "MAE, hops"),
        ("rgg-sssp-huge", RGGSSSP, "node", "MAE, hops"),
        ("echo-sssp", ECHOSynth, "node", "MAE, hops"),
        ("echo-ecc", ECHOSynth, "node", "MAE, hops"),
        ("echo-diam", ECHOSynth, "graph", "MAE, hops"),
        ("echo-charge", ECHOChem, "node", "MAE, 1e-3 e"),
        ("echo-energy", ECHOChem, "graph", "MAE after 10**"),
        ("peptides-struct", PeptidesStruct, "graph", "MAE"),
        *((name, LRIM, "node", "log10 MSE") for name in BENCHMARKS if name.startswith("lrim")),
    ],
)
def test_a_name_gives_its_dataset(tmp_path, monkeypatch, name, kind, level, score):
    seen = []

    def rebuild(self):
        seen.append(self)
        return [Data(x=torch.ones(1, 1))] * 2

    monkeypatch.setattr(kind, "rebuild", rebuild)
    splits = REBUILT[name].splits(tmp_path, graphs=40)
    sizes = REBUILT[name].sizes
    assert [dataset.num_graphs for dataset in seen] == [round(40 * size / sizes["train"]) for size in sizes.values()]
    assert [dataset.split for dataset in seen] == ["train", "val", "test"]
    assert all(type(dataset) is kind for dataset in seen)
    assert isinstance(splits.task, Task)
    assert (splits.task.level, str(splits.task.score)) == (level, score)
    assert REBUILT[name].task.describe() == splits.task.describe()
    assert len({dataset.key for dataset in seen}) == 3
    if kind is LRIM:
        size, hardness = name.split("-")[1:]
        assert (seen[0].size, seen[0].sigma) == (int(size), {"hard": 0.6, "easy": 1.5}[hardness])
        assert (seen[0].size, seen[0].sigma) in TEMPERATURES


def test_every_rebuilt_benchmark_is_in_the_list_above():
    names = {argument[0] for mark in test_a_name_gives_its_dataset.pytestmark for argument in mark.args[1]}
    assert names == set(REBUILT)


def test_distances_of_echo_are_whole_hops(tmp_path):
    splits = BENCHMARKS["echo-sssp"].splits(tmp_path, graphs={"train": 2, "val": 1, "test": 1})
    hops = splits.distance(splits.train[0])
    assert hops.dtype == torch.long
    assert torch.allclose(hops / 40, splits.train[0].y.flatten())
    assert splits.in_range is None
    quiet = BENCHMARKS["echo-sssp"].splits(tmp_path, graphs={"train": 2, "val": 1, "test": 1}, noise=False)
    assert bool((quiet.train[0].x[:, 1] == 1).all())
