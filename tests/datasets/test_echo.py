import os

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from ghr import Coarsen, Graclus, HierarchicalData
from ghr.datasets import ECHOSynth
from ghr.datasets.echo import SIZES
from ghr.datasets.storage import sourced
from ghr.testing import assert_quotient
from local_server import Site, serving


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("echo")


def small(root, task="sssp", split="train", **options):
    return ECHOSynth(root, task, split, **({"num_graphs": {"train": 60, "val": 12, "test": 12}[split]} | options))


def all_distances(data):
    """Breadth-first search from every node, in plain lists."""
    table = [[] for _ in range(data.num_nodes)]
    for u, v in data.edge_index.T.tolist():
        table[u].append(v)
    result = []
    for source in range(data.num_nodes):
        hops, front = {source: 0}, [source]
        for node in front:
            for other in table[node]:
                if other not in hops:
                    hops[other] = hops[node] + 1
                    front.append(other)
        result.append([hops[node] for node in range(data.num_nodes)])
    return result


def test_targets_are_exact(root):
    sets = {task: small(root, task, "test") for task in ("sssp", "ecc", "diam")}
    for sssp, ecc, diam in zip(*sets.values(), strict=True):
        distance = all_distances(sssp)
        source = int(sssp.x[:, 0].argmax())
        farthest = [max(row) for row in distance]
        assert (40 * sssp.y).flatten().tolist() == pytest.approx(distance[source])
        assert (40 * ecc.y).flatten().tolist() == pytest.approx(farthest)
        assert 40 * diam.y.item() == pytest.approx(max(farthest))
        assert diam.y.shape == (1, 1)
        assert torch.equal(sssp.x, ecc.x)
        assert torch.equal(sssp.edge_index, diam.edge_index)
    assert [dataset.task.level for dataset in sets.values()] == ["node", "node", "graph"]
    assert [dataset.target for dataset in sets.values()] == ["sssp", "ecc", "diam"]


def test_a_graph_has_one_source_noise_and_sorted_edges_in_both_directions(root):
    for data in small(root):
        assert sorted(data.x[:, 0].tolist()) == [0.0] * (data.num_nodes - 1) + [1.0]
        assert bool((data.x[:, 1] >= 0).all() and (data.x[:, 1] < 1).all())
        edges = data.edge_index.T.tolist()
        assert edges == sorted(edges)
        assert {(u, v) for u, v in edges} == {(v, u) for u, v in edges}
        assert data.x.dtype == data.y.dtype == torch.float


def test_families_and_diameters_take_turns(root):
    assert sum(SIZES.values()) == 10_080
    diameters = (40 * small(root, "diam").y).round().flatten().tolist()
    assert diameters[:12] == [17] * 6 + [24] * 6
    cells = {(family, 7 * turn % 24) for turn in range(24) for family in range(6)}
    assert len(cells) == 144  # so 7,200 training graphs are 50 of each


def test_constant_predictors_score_as_on_the_published_set(root):
    """Every family and diameter once; the published set has about 5.3-5.5, 5.7 and 6.0 hops."""
    scores = {}
    for task in ("ecc", "sssp", "diam"):
        dataset = small(root, task, num_graphs=144)
        assert len(dataset) == 144
        y = dataset.y
        scores[task] = dataset.metric(torch.full_like(y, float(y.median())), y)
    assert scores["diam"] == pytest.approx(6.0, abs=1e-5)
    assert scores["ecc"] == pytest.approx(5.35, abs=0.3)
    assert scores["sssp"] == pytest.approx(5.75, abs=0.6)


def test_splits_and_seeds_give_other_graphs(root):
    first = small(root, split="test")[0].x
    for other in (small(root, split="val")[0].x, small(root, split="test", seed=1)[0].x):
        assert first.shape != other.shape or not torch.equal(first, other)


def test_first_graphs_of_a_longer_set_equal_a_shorter_set(root):
    short, long = small(root, split="val"), small(root, split="val", num_graphs=18)
    assert (len(short), len(long)) == (12, 18)
    assert all(torch.equal(short[i].x, long[i].x) for i in range(12))


@pytest.mark.parametrize("count", [1, 7])
def test_num_graphs_counts_the_split_asked_for(root, count):
    for split in ("train", "val", "test"):
        dataset = small(root, split=split, num_graphs=count)
        assert (len(dataset), dataset.num_graphs) == (count, count)


def test_default_sizes(root, monkeypatch):
    monkeypatch.setattr(ECHOSynth, "rebuild", lambda self: [Data(x=torch.ones(len(self.numbers()), 1))])
    assert [ECHOSynth(root, split=split).x.size(0) for split in ("train", "val", "test")] == [7200, 1440, 1440]


def test_noise_may_be_replaced_by_a_constant(root):
    noisy, plain = small(root), small(root, noise=False)
    assert noisy.key != plain.key
    for one, other in zip(noisy, plain, strict=True):
        assert torch.equal(one.x[:, 0], other.x[:, 0])
        assert torch.equal(other.x[:, 1], torch.ones(other.num_nodes))
        assert torch.equal(one.y, other.y)
    with pytest.raises(ValueError, match="noise must be True or False; got 'no'"):
        ECHOSynth(root, noise="no")


def test_number_of_workers_changes_nothing(root, tmp_path):
    alone, together = small(root, split="val"), small(tmp_path, split="val", workers=2)
    assert alone.key == together.key
    for name in ("x", "edge_index", "y"):
        assert torch.equal(alone._data[name], together._data[name])


def test_hierarchies_batch_like_the_graphs_they_stand_on(root):
    coarsen = Coarsen(Graclus(rounds=1))
    dataset = small(root, split="test", transform=coarsen)
    batch = next(iter(DataLoader(dataset, batch_size=12)))
    assert isinstance(batch, HierarchicalData)
    assert_quotient(batch)
    assert batch.levels[1].num_nodes == sum(data.levels[1].num_nodes for data in dataset)
    assert batch.y.shape == (batch.num_nodes, 1)
    graphs = next(iter(DataLoader(small(root, "diam", "test", pre_transform=coarsen), batch_size=12)))
    assert graphs.y.shape == (12, 1)
    assert_quotient(graphs)


def test_metric_is_in_hops(root):
    dataset = small(root)
    assert dataset.metric(torch.tensor([[0.5], [0.25]]), torch.tensor([[0.25], [0.25]])) == pytest.approx(5.0)
    assert (str(dataset.task.score), dataset.task.loss, dataset.task.score.higher_is_better) == (
        "MAE, hops",
        "mse",
        False,
    )
    assert dataset.target_scale == 40


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"task": "charge"}, "Unknown task 'charge'; known are ecc, diam, sssp"),
        ({"split": "dev"}, "Unknown split 'dev'"),
        ({"source": "disk"}, "Unknown source 'disk'"),
        ({"num_graphs": 0}, "num_graphs must be a whole number of at least 1; got 0"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"source": "hub", "seed": 1}, "no choice of seed"),
    ],
)
def test_wrong_options_are_explained(tmp_path, options, words):
    with pytest.raises(ValueError, match=words):
        ECHOSynth(tmp_path, **options)


def published():
    graphs = []
    for size in (3, 5):
        x = torch.rand(size, 2)
        edge_index = torch.stack([torch.arange(size - 1), torch.arange(1, size)])
        both = torch.cat([edge_index, edge_index.flip(0)], dim=1)
        graphs.append(Data(x=x, edge_index=both, y=torch.arange(3.0 * size).view(size, 3) / 40))
    return graphs


def test_published_files_serve_all_three_tasks(tmp_path, monkeypatch):
    graphs = published()
    torch.save(graphs, tmp_path / "file.pt")
    with serving(Site({"/echo-synth/val_data.pt": (tmp_path / "file.pt").read_bytes()})) as site:
        monkeypatch.setattr(sourced, "hub_address", lambda repository, file: f"{site.url}/{file}")
        sets = {task: ECHOSynth(tmp_path, task, "val", "hub") for task in ("ecc", "diam", "sssp")}
    assert len(site.asked) == 1
    for index, wanted in enumerate(graphs):
        assert torch.equal(sets["ecc"][index].y, wanted.y[:, :1])
        assert torch.equal(sets["diam"][index].y, wanted.y[:1, 1:2])
        assert torch.equal(sets["sssp"][index].y, wanted.y[:, 2:])
        assert torch.equal(sets["sssp"][index].x, wanted.x)
        assert sets["sssp"][index].edge_index.T.tolist() == sorted(wanted.edge_index.T.tolist())
    assert os.path.exists(tmp_path / "hub" / "lucamiglior" / "echo-benchmark" / "echo-synth" / "val_data.pt")
