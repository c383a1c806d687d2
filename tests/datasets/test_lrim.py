import pickle

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from ghr import Coarsen, GridBlocks, HierarchicalData
from ghr.datasets import LRIM, lrim
from ghr.datasets.generators.ising import couplings, hop_oracle, local_energies
from ghr.datasets.lrim import SIZES, find_place, lattice_edges
from ghr.datasets.storage import sourced
from ghr.testing import assert_quotient
from local_server import Site, serving

# Published log10 MSE of the r-hop oracle on the training and test graphs of lrim_16_0.6_10k, r = 1 .. 15.
ORACLE = [
    (0.988121, 0.976467),
    (0.570904, 0.557903),
    (0.24956, 0.236009),
    (-0.0336221, -0.0474552),
    (-0.303459, -0.317345),
    (-0.577583, -0.591414),
    (-0.874087, -0.887681),
    (-1.20516, -1.21837),
    (-1.56789, -1.58059),
    (-1.96206, -1.97404),
    (-2.40159, -2.41271),
    (-2.90922, -2.91895),
    (-3.52615, -3.53386),
    (-4.33753, -4.34226),
    (-5.47875, -5.47875),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("lrim")


def lattices(dataset):
    return dataset.x.view(len(dataset), dataset.size, dataset.size).numpy()


def small(root, **options):
    return LRIM(root, **({"size": 4, "temperature": 6.0, "num_graphs": 16} | options))


def test_generated_set_has_the_published_oracle_curve(root):
    dataset = LRIM(root, num_graphs=2000)
    spins, coupling = lattices(dataset), couplings(16, 0.6)
    y = dataset.y.view(spins.shape)
    for hops, published in enumerate(ORACLE, start=1):
        found = dataset.metric(torch.from_numpy(hop_oracle(spins, coupling, hops)), y)
        assert found == pytest.approx(published[0], abs=0.05)
        assert found == pytest.approx(published[1], abs=0.05)
    assert dataset.metric(torch.from_numpy(hop_oracle(spins, coupling, 16)), y) < -12
    assert float(y.mean()) == pytest.approx(-2.79, abs=0.15)
    assert float(y.std()) == pytest.approx(4.66, abs=0.1)
    assert np.abs(spins.mean((1, 2))).mean() == pytest.approx(0.43, abs=0.03)


def test_graphs_are_independent(root):
    """Magnetisations of successive graphs are not correlated, and neither sign is preferred."""
    magnetisation = lattices(LRIM(root, num_graphs=2000)).mean((1, 2))
    for series in (magnetisation, np.abs(magnetisation)):
        correlation = np.corrcoef(series[:-1], series[1:])[0, 1]
        assert abs(correlation) < 4 / np.sqrt(len(series))
    assert abs(magnetisation.mean()) < 4 * magnetisation.std() / np.sqrt(len(magnetisation))


def test_labels_are_the_energies_of_the_spins(root):
    for data in small(root, sigma=1.5):
        wanted = local_energies(data.x.view(4, 4).numpy(), couplings(4, 1.5))
        assert torch.allclose(data.y.view(4, 4).double(), torch.from_numpy(wanted), atol=1e-5)
        assert set(data.x.flatten().tolist()) <= {-1.0, 1.0}


@pytest.mark.parametrize("size", [3, 4, 7])
def test_edges_are_a_row_major_torus_in_both_directions(size):
    edges = set(map(tuple, lattice_edges(size).T.tolist()))
    wanted = set()
    for row in range(size):
        for column in range(size):
            for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                other = (row + down) % size * size + (column + right) % size
                wanted.add((row * size + column, other))
    assert edges == wanted
    assert lattice_edges(size).shape == (2, 4 * size * size)
    assert lattice_edges(size).T.tolist() == sorted(map(list, edges))


def test_the_full_set_is_the_published_division():
    places = [find_place(split, number) for split in SIZES for number in range(SIZES[split])]
    assert places == list(range(10_000))


def test_no_graph_is_in_two_splits_whatever_their_sizes():
    places = [find_place(split, number) for split in SIZES for number in range(20_000)]
    assert len(set(places)) == len(places)


def test_splits_have_graphs_of_their_own(root, monkeypatch):
    monkeypatch.setattr(lrim, "PLACES", {"train": range(4), "val": range(4, 5), "test": range(5, 6)})
    monkeypatch.setattr(lrim, "NUM_GRAPHS", 6)
    drawn = {split: small(root / "own", split=split, num_graphs=6, seed=3) for split in SIZES}
    seen = {tuple(data.x.flatten().tolist()) for dataset in drawn.values() for data in dataset}
    assert len(seen) == 18
    short = small(root / "own", split="val", num_graphs=3, seed=3)
    assert all(torch.equal(one.x, other.x) for one, other in zip(short, drawn["val"], strict=False))


@pytest.mark.parametrize("count", [1, 5])
def test_num_graphs_counts_the_split_asked_for(root, count):
    for split in SIZES:
        dataset = small(root, split=split, num_graphs=count)
        assert (len(dataset), dataset.num_graphs) == (count, count)


@pytest.mark.parametrize("change", [{"seed": 1}, {"sigma": 1.5}, {"temperature": 7.0}])
def test_other_options_give_other_graphs(root, change):
    assert small(root).key != small(root, **change).key
    assert not torch.equal(small(root).x, small(root, **change).x)


def test_number_of_workers_does_not_matter(root, tmp_path, monkeypatch):
    def elsewhere(function, indices, *, workers, description):
        assert workers == 3
        known_by_name = pickle.loads(pickle.dumps(function))
        return [pickle.loads(pickle.dumps(known_by_name(index))) for index in indices]

    alone = small(root)
    monkeypatch.setattr(lrim, "in_order", elsewhere)
    together = small(tmp_path, workers=3)
    assert (alone.key, alone.digest) == (together.key, together.digest)


def test_blocks_of_a_batch_are_those_of_its_lattices(root):
    coarsen = Coarsen(GridBlocks(block=2))
    dataset = small(root, transform=coarsen)
    batch = next(iter(DataLoader(dataset, batch_size=5)))
    assert isinstance(batch, HierarchicalData)
    assert_quotient(batch)
    assert batch.levels[1].num_nodes == 5 * 4
    stored = small(root, pre_transform=coarsen)
    assert torch.equal(next(iter(DataLoader(stored, batch_size=5))).level1_edge_index, batch.level1_edge_index)


def test_metric_is_pooled_over_all_nodes(root):
    target, dataset = torch.zeros(4, 1), small(root)
    assert (dataset.task.level, dataset.task.loss, str(dataset.task.score)) == ("node", "mse", "log10 MSE")
    assert dataset.metric(torch.tensor([[1.0], [1.0], [1.0], [3.0]]), target) == pytest.approx(np.log10(3.0))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"size": 17}, r"Unknown \(size, sigma\) \(17, 0.6\); known are \(16, 0.6\)"),
        ({"sigma": 0.7}, r"Unknown \(size, sigma\)"),
        ({"sigma": -1.0, "temperature": 3.0}, "sigma must be a finite number above 0"),
        ({"temperature": 0.0}, "temperature must be a finite number above 0"),
        ({"split": "dev"}, "Unknown split 'dev'"),
        ({"source": "web"}, "Unknown source 'web'; known are hub, generate"),
        ({"num_graphs": 0}, "num_graphs must be a whole number of at least 1"),
        ({"workers": 0}, "workers must be a whole number of at least 1"),
        ({"source": "hub", "seed": 3}, "no choice of seed"),
        ({"source": "hub", "temperature": 3.0}, "no choice of temperature"),
    ],
)
def test_wrong_options_are_said(tmp_path, options, words):
    with pytest.raises(ValueError, match=words):
        LRIM(tmp_path, **options)


def published(size=16, count=12, edges=None):
    """Graphs as the published files have them: edges in one direction, and more attributes than needed."""
    node = torch.arange(size * size).view(size, size)
    right = torch.stack([node.flatten(), node.roll(-1, 1).flatten()])
    down = torch.stack([node.roll(-1, 0).flatten(), node.flatten()])
    edge_index = torch.cat([right, down], 1) if edges is None else edges
    graphs = []
    for index in range(count):
        x = torch.randn(size * size, 1, generator=torch.Generator().manual_seed(index)).sign()
        graphs.append(Data(x=x, edge_index=edge_index, y=x.double().squeeze(1) * index, pos=torch.ones(3, 2)))
    return graphs


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A function that serves graphs as the file of LRIM-16-hard, in place of the hub; ten are all that there are."""
    monkeypatch.setattr(lrim, "PLACES", {"train": range(8), "val": range(8, 9), "test": range(9, 10)})
    monkeypatch.setattr(lrim, "NUM_GRAPHS", 10)

    def serve(graphs):
        torch.save(graphs, tmp_path / "published.pt")
        return serving(Site({"/lrim_16_0.6_10k.pt": (tmp_path / "published.pt").read_bytes()}))

    return serve


def test_published_graphs_are_read(hub, tmp_path, monkeypatch):
    with hub(published(count=10)) as site:
        monkeypatch.setattr(sourced, "hub_address", lambda repository, file: f"{site.url}/{file}")
        parts = [LRIM(tmp_path, split=split, source="hub") for split in ("train", "val", "test")]
    assert [len(part) for part in parts] == [8, 1, 1]
    assert len(site.asked) == 1
    assert (tmp_path / "hub" / "jmathys" / "lrim_graph_benchmark" / "lrim_16_0.6_10k.pt").exists()
    for index, data in enumerate([data for part in parts for data in part]):
        wanted = published()[index]
        assert set(data.keys()) == {"x", "edge_index", "y"}
        assert torch.equal(data.x, wanted.x)
        assert torch.equal(data.y, wanted.y.float().unsqueeze(1))
        assert torch.equal(data.edge_index, lattice_edges(16))
    few = LRIM(tmp_path, source="hub", num_graphs=3)  # without the server
    assert [torch.equal(few[index].x, published()[index].x) for index in range(3)] == [True] * 3
    with pytest.raises(ValueError, match="num_graphs is 2, but the split 'val' has 1 published graphs"):
        LRIM(tmp_path, split="val", source="hub", num_graphs=2)


@pytest.mark.parametrize(
    ("graphs", "split", "words"),
    [
        (published(count=9), "train", "The published file has 9 graphs instead of 10"),
        (published(count=10, edges=torch.tensor([[0], [1]])), "val", "Graph 8 of the published file is no periodic"),
        ([Data(x=torch.ones(256, 1), edge_index=lattice_edges(16))] * 10, "train", "has no 'y', only edge_index, x"),
        (
            [Data(x=torch.ones(256, 2), edge_index=lattice_edges(16), y=torch.ones(256))] * 10,
            "test",
            r"'x' of graph 9 of the published file has the shape \(256, 2\)",
        ),
    ],
)
def test_other_content_than_published_is_refused(hub, tmp_path, monkeypatch, graphs, split, words):
    with hub(graphs) as site:
        monkeypatch.setattr(sourced, "hub_address", lambda repository, file: f"{site.url}/{file}")
        with pytest.raises(ValueError, match=words):
            LRIM(tmp_path, split=split, source="hub")
