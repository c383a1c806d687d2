import json

import pytest
import torch
from torch_geometric.data import Data

from ghr.datasets import Benchmark, CachedDataset, Task


class Numbers(CachedDataset):
    """Single nodes whose target is the number of the graph."""

    task = Task("node")

    def __init__(self, root, *, split, source, num_graphs, workers, pre_transform=None, shift=0, kind=None):
        self.split, self.source, self.workers, self.shift, self.kind = split, source, workers, shift, kind
        self.num_graphs = {"train": 70, "val": 15, "test": 15}[split] if num_graphs is None else num_graphs
        super().__init__(root, pre_transform=pre_transform)

    def options(self):
        return {"split": self.split, "source": self.source, "num_graphs": self.num_graphs, "shift": self.shift}

    def generate(self):
        edges = torch.empty(2, 0, dtype=torch.long)
        return [
            Data(x=torch.ones(1, 1), edge_index=edges, y=torch.tensor([[float(number + self.shift)]]))
            for number in range(self.num_graphs)
        ]


def benchmark(**changes):
    given = {
        "title": "Numbers",
        "summary": "the number of the graph",
        "task": Numbers.task,
        "dataset": Numbers,
        "sizes": {"train": 70, "val": 15, "test": 15},
        "comparable": "no",
        "options": ("shift", "kind"),
    }
    return Benchmark(**given | changes)


def test_a_split_is_loaded_with_what_was_asked(tmp_path):
    dataset = benchmark().load(tmp_path, "val", num_graphs=4, workers=3, shift=5)
    assert (dataset.split, dataset.source, dataset.workers) == ("val", "generate", 3)
    assert dataset.y.flatten().tolist() == [5, 6, 7, 8]
    assert benchmark().load(tmp_path, "test", source="hub").source == "hub"
    assert len(benchmark().load(tmp_path, "test")) == 15


@pytest.mark.parametrize(
    ("graphs", "sizes"),
    [
        (None, [70, 15, 15]),
        (10, [10, 2, 2]),
        (28, [28, 6, 6]),
        (700, [700, 150, 150]),
        ({"train": 3, "val": 1, "test": 2}, [3, 1, 2]),
        ({"train": 3}, [3, 15, 15]),
    ],
)
def test_graphs_are_shared_out(tmp_path, graphs, sizes):
    splits = benchmark().splits(tmp_path, graphs=graphs)
    assert [len(examples) for examples in splits.named().values()] == sizes
    assert splits.task is Numbers.task


def test_small_shares_are_one_graph(tmp_path):
    tiny = benchmark(sizes={"train": 7000, "val": 15, "test": 15})
    assert tiny.share_out(10) == {"train": 10, "val": 1, "test": 1}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"graphs": 9}, "graphs, the number of training graphs, must be a whole number of at least 10; got 9"),
        ({"graphs": "many"}, "must be a whole number of at least 10; got 'many'"),
        ({"graphs": True}, "must be a whole number of at least 10; got True"),
        ({"graphs": {"train": 0}}, "The number of train graphs must be a whole number of at least 1; got 0"),
        ({"graphs": {"dev": 3}}, "Numbers has no option 'dev'; known are test, train, val"),
        ({"source": "web"}, "Numbers has no source 'web'; it has generate, hub"),
        ({"shfit": 3}, "Numbers has no option 'shfit'; known are kind, shift"),
    ],
)
def test_wrong_options_are_said(tmp_path, options, words):
    with pytest.raises(ValueError, match=words):
        benchmark().splits(tmp_path, **options)


def test_an_unknown_split_is_said(tmp_path):
    with pytest.raises(ValueError, match="Unknown split 'dev'; known are train, val, test"):
        benchmark().load(tmp_path, "dev")


def test_the_description_is_json(tmp_path):
    splits = benchmark().splits(tmp_path, graphs=10, source="hub", shift=2, kind=tmp_path / "a.smi")
    assert json.loads(json.dumps(splits.description)) == {
        "title": "Numbers",
        "source": "hub",
        "graphs": {"train": 10, "val": 2, "test": 2},
        "options": {"shift": 2, "kind": str(tmp_path / "a.smi")},
    }


def test_distances_go_with_the_splits(tmp_path):
    capped = benchmark(distance=lambda data: data.y.long(), in_range=lambda options: 5 + options.get("shift", 0))
    splits = capped.splits(tmp_path, shift=3)
    assert splits.in_range == 8
    assert int(splits.distance(splits.val[1])) == 4
    plain = benchmark().splits(tmp_path)
    assert (plain.distance, plain.in_range) == (None, None)


class Double:
    def __call__(self, data):
        data.x = 2 * data.x
        return data

    def __repr__(self):
        return "Double()"


def test_graphs_are_prepared(tmp_path):
    for examples in benchmark().splits(tmp_path, graphs=10, pre_transform=Double()).named().values():
        assert float(examples[0].x) == 2.0


class City(Numbers):
    """One graph with masks."""

    def generate(self):
        mask = torch.arange(10) < 6
        edges = torch.empty(2, 0, dtype=torch.long)
        return [Data(x=torch.ones(10, 1), edge_index=edges, y=torch.ones(10), train_mask=mask, test_mask=~mask)]


def test_one_graph_is_split_by_its_masks(tmp_path):
    city = benchmark(dataset=City, sizes={"train": 1, "val": 1, "test": 1}, one_graph=True)
    splits = city.splits(tmp_path)
    assert [int(examples[0].mask.sum()) for examples in splits.named().values()] == [5, 1, 4]
    assert splits.description == {"title": "Numbers", "source": "generate", "graphs": {}, "options": {}}
    assert len(city.load(tmp_path, "val")) == 1
    with pytest.raises(ValueError, match="Numbers is a single graph; the number of graphs cannot be chosen"):
        city.splits(tmp_path, graphs=10)
    with pytest.raises(ValueError, match="Numbers is a single graph; its number cannot be chosen"):
        city.load(tmp_path, "train", num_graphs=1)
