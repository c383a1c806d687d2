import hashlib
import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
import torch
from rdkit import Chem
from torch_geometric.datasets import LRGBDataset
from torch_geometric.loader import DataLoader

from ghr.datasets import PeptidesStruct, peptides
from ghr.datasets.generators.molecules.features import ogb_graph
from ghr.datasets.generators.molecules.given import GivenFile
from ghr.datasets.generators.molecules.label import peptide
from ghr.datasets.generators.molecules.shape import REFERENCE
from ghr.datasets.generators.molecules.smiles import parse
from ghr.experiment import BenchmarkGraphs
from ghr.hierarchy import Coarsen, Graclus
from ghr.testing import assert_quotient
from ghr.transforms import LaplacianEncoding
from local_server import Site, serving

SEQUENCES = ["AG", "GGG", "KF", "SV", "AC", "PG", "DE", "WG"]
SMILES = [Chem.MolToSmiles(Chem.MolFromSequence(sequence)) for sequence in SEQUENCES]
SMILES[3] += ".CC(=O)O"  # in two pieces
SPLIT = {"train": [0, 2, 3, 7], "val": [1, 5], "test": [4, 6]}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("peptides")
    lines = "".join(f"{number},{smiles}\n" for number, smiles in enumerate(SMILES))
    (folder / "a.csv").write_text(f",smiles\n{lines}")
    (folder / "a.json").write_text(json.dumps(SPLIT))
    (folder / "a.pickle").write_bytes(pickle.dumps({name: np.array(rows) for name, rows in SPLIT.items()}, 4))
    return folder


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("root")


def rebuilt(root, files, split="train", **options):
    given = {"smiles": files / "a.csv", "split_file": files / "a.json"}
    return PeptidesStruct(root, split, "generate", **(given | options))


def test_splits_hold_their_molecules_with_targets_normalised_together(root, files):
    raw = np.stack([peptide(smiles, 0)["targets"] for smiles in SMILES])
    wanted = (raw - raw.mean(axis=0)) / raw.std(axis=0, ddof=1)
    for split, rows in SPLIT.items():
        dataset = rebuilt(root, files, split)
        assert len(dataset) == len(rows)
        for row, data in zip(rows, dataset, strict=True):
            graph = ogb_graph(parse(SMILES[row]))
            assert np.array_equal(data.x, graph.x)
            assert np.array_equal(data.edge_index, graph.edge_index)
            assert np.array_equal(data.edge_attr, graph.edge_attr)
            assert data.y.shape == (1, 11)
            assert data.y[0].tolist() == pytest.approx(wanted[row], rel=1e-4, abs=1e-5)


def test_pickled_split_gives_the_same(root, files):
    one, two = rebuilt(root, files), rebuilt(root, files, split_file=files / "a.pickle")
    assert one.key != two.key
    assert all(torch.equal(a.y, b.y) for a, b in zip(one, two, strict=True))


def test_hierarchies_and_encodings_are_stored_and_batched(root, files):
    class Both:
        def __call__(self, data):
            return Coarsen(Graclus(rounds=1), codes=PeptidesStruct.edge_codes)(LaplacianEncoding(16)(data))

        def __repr__(self):
            return "Both()"

    dataset = rebuilt(root, files, pre_transform=Both())
    for data in dataset:
        assert_quotient(data)
    batch = next(iter(DataLoader(dataset, batch_size=4)))
    nodes = sum(data.num_nodes for data in dataset)
    assert (batch.y.shape, batch.laplacian.shape, batch.x.shape) == ((4, 11), (nodes, 16), (nodes, 9))
    assert batch.levels[1].num_nodes == sum(data.levels[1].num_nodes for data in dataset)


def test_coarse_bonds_of_different_width_are_said(root, files):
    with pytest.raises(ValueError, match="'level1_edge_attr' must have the same type and width in all graphs"):
        rebuilt(root, files, pre_transform=Coarsen(Graclus(rounds=1)))  # as wide as the codes that occur in a graph


def test_without_a_split_file_the_split_is_drawn(root, files):
    parts = [rebuilt(root, files, split, split_file=None) for split in SPLIT]
    assert [len(part) for part in parts] == [6, 1, 1]
    again = rebuilt(root, files, "train", split_file=None, seed=1)
    assert [data.num_nodes for data in again] != [data.num_nodes for data in parts[0]]


def test_without_molecules_random_peptides_are_taken(root, monkeypatch):
    monkeypatch.setattr("ghr.datasets.generators.molecules.sequences.RESIDUES", (2, 4))
    drawn = {split: PeptidesStruct(root, split, "generate", num_graphs=2) for split in SPLIT}
    assert [len(part) for part in drawn.values()] == [2, 2, 2]
    assert len({tuple(part[0].x.flatten().tolist()) for part in drawn.values()}) == 3
    longer = PeptidesStruct(root, "val", "generate", num_graphs=3)
    assert len(longer) == 3
    for short, same in zip(drawn["val"], longer, strict=False):
        assert torch.equal(short.x, same.x)
        assert torch.equal(short.y, same.y)


def test_fewer_graphs_are_the_first_of_the_split_in_a_fixed_unit(root, files):
    mean, deviation = np.array(REFERENCE)
    for split, rows in SPLIT.items():
        few = rebuilt(root, files, split, num_graphs=1)
        assert (len(few), few.num_graphs) == (1, 1)
        wanted = (peptide(SMILES[rows[0]], 0)["targets"] - mean) / deviation
        assert few[0].y[0].tolist() == pytest.approx(wanted, rel=1e-4, abs=1e-5)
        for short, same in zip(few, rebuilt(root, files, split, num_graphs=2), strict=False):
            assert torch.equal(short.y, same.y)


def test_the_fixed_unit_is_about_that_of_random_peptides():
    """All 300 of them take a quarter of an hour; those of 12 to 24 residues lie around the mean."""
    mean, deviation = np.array(REFERENCE)
    assert mean.shape == deviation.shape == (11,)
    scores = []
    for seed, sequence in enumerate(["ARNDCEQGHILKMFPS", "GAVLIPFMSTCYNQ", "KRHDEWYGASTLIVNQ"]):
        smiles = Chem.MolToSmiles(Chem.MolFromSequence(sequence))
        scores.append((peptide(smiles, seed)["targets"] - mean) / deviation)
    assert float(np.abs(np.mean(scores, axis=0)).max()) < 2


def test_codes_are_below_the_published_numbers_of_them(root, files):
    dataset = rebuilt(root, files)
    assert (dataset.node_codes, dataset.edge_codes) == ((119, 5, 12, 12, 10, 6, 6, 2, 2), (5, 6, 2))
    assert dataset.x.dtype == dataset.edge_attr.dtype == torch.long
    assert bool((dataset.x < torch.tensor(dataset.node_codes)).all())
    assert bool((dataset.edge_attr < torch.tensor(dataset.edge_codes)).all())


def test_molecules_that_fail_are_left_out_with_a_warning(tmp_path, caplog):
    (tmp_path / "a.smi").write_text("\n".join([*SMILES[:3], "C1CC"]))
    (tmp_path / "a.json").write_text(json.dumps({"train": [0, 1, 3], "val": [2], "test": []}))
    dataset = PeptidesStruct(tmp_path, "train", "generate", smiles=tmp_path / "a.smi", split_file=tmp_path / "a.json")
    assert len(dataset) == 2
    assert "1 of 4 peptides are left out" in caplog.text


@pytest.fixture
def given(tmp_path, files, monkeypatch):
    """A data folder with two files in the places of the published ones, by the hashes of theirs."""
    places = {"smiles": "peptides/p.csv", "split_file": "peptides/s.json"}
    (tmp_path / "peptides").mkdir()
    contents = {"smiles": (files / "a.csv").read_bytes(), "split_file": (files / "a.json").read_bytes()}
    for name, place in places.items():
        (tmp_path / place).write_bytes(contents[name])
    known = {
        name: GivenFile(place, hashlib.sha256(contents[name]).hexdigest(), "a file") for name, place in places.items()
    }
    monkeypatch.setattr(peptides, "GIVEN", {"lrgb": known})
    return tmp_path


def test_published_peptides_are_found_in_the_data_folder(given, root, files):
    named = PeptidesStruct(given, "train", "generate", molecules="lrgb", num_graphs=2)
    by_path = rebuilt(root, files, num_graphs=2)
    assert named.key == by_path.key, "files count by their content, not by their places"
    assert all(torch.equal(a.y, b.y) for a, b in zip(named, by_path, strict=True))
    for file in (given / "peptides").iterdir():
        file.unlink()
    assert len(PeptidesStruct(given, "train", "generate", molecules="lrgb", num_graphs=2)) == 2, "graphs need no file"
    with pytest.raises(FileNotFoundError, match=r"p\.csv is missing: put a file there"):
        PeptidesStruct(given, "val", "generate", molecules="lrgb", num_graphs=1)


def test_another_split_than_the_published_one_is_refused(given):
    (given / "peptides" / "s.json").write_text(json.dumps({"train": [0], "val": [1], "test": [2]}))
    with pytest.raises(ValueError, match=r"s\.json is another file than a file: its SHA-256 is"):
        PeptidesStruct(given, "train", "generate", molecules="lrgb", num_graphs=1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"molecules": "moon"}, "Unknown molecules 'moon'; known are lrgb"),
        ({"molecules": "lrgb", "smiles": "a.csv"}, "leave out smiles and split_file"),
        ({"molecules": "lrgb", "source": "hub"}, "no choice of molecules"),
    ],
)
def test_published_peptides_exclude_other_choices(tmp_path, options, words):
    with pytest.raises(ValueError, match=words):
        PeptidesStruct(tmp_path, **options)


def test_a_run_tells_which_files_its_graphs_came_from():
    described = BenchmarkGraphs("peptides-struct", options={"molecules": "lrgb"}).describe()
    assert described["files"] == {file.place: file.sha256 for file in peptides.GIVEN["lrgb"].values()}
    assert "files" not in BenchmarkGraphs("peptides-struct").describe()


def test_the_smiles_of_all_graphs_are_known(root, files, tmp_path, caplog):
    assert rebuilt(root, files).list_smiles() == [SMILES[row] for row in SPLIT["train"]]
    assert rebuilt(root, files, "test", num_graphs=1).list_smiles() == [SMILES[4]]
    assert rebuilt(root, files).index_select([3, 0]).list_smiles() == [SMILES[7], SMILES[0]]
    (tmp_path / "a.smi").write_text("\n".join(["C1CC", SMILES[0], "C1CC", SMILES[1]]))
    (tmp_path / "a.json").write_text(json.dumps({"train": [0, 1, 2, 3], "val": [], "test": []}))
    options = {"smiles": tmp_path / "a.smi", "split_file": tmp_path / "a.json"}
    assert PeptidesStruct(tmp_path, "train", "generate", **options).list_smiles() == SMILES[:2]
    assert "2 of 4 peptides are left out" in caplog.text


def test_smiles_of_other_graphs_are_refused(root, files, monkeypatch):
    dataset = rebuilt(root, files)
    monkeypatch.setattr(dataset, "_name_molecules", lambda: [SMILES[0], SMILES[1]])
    with pytest.raises(ValueError, match="Graph 1 of the split 'train' belongs to none of its molecules"):
        dataset.list_smiles()


def published(graphs, folder="peptidesstruct"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for split in SPLIT:
            inner = io.BytesIO()
            torch.save(graphs, inner)
            archive.writestr(f"{folder}/{split}.pt", inner.getvalue())
    return buffer.getvalue()


def graphs(count=3):
    return [
        (
            torch.randint(2, (4, 9)),
            torch.randint(2, (6, 3)),
            torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]),
            torch.randn(1, 11),
        )
        for _ in range(count)
    ]


def test_published_archive_is_read_like_pyg_reads_it(tmp_path, monkeypatch):
    wanted = graphs()
    with serving(Site({"/a.zip": published(wanted)})) as site:
        monkeypatch.setattr(PeptidesStruct, "address", f"{site.url}/a.zip")
        for split in SPLIT:
            dataset = PeptidesStruct(tmp_path, split, "hub")
            for data, (x, edge_attr, edge_index, y) in zip(dataset, wanted, strict=True):
                assert torch.equal(data.x, x)
                assert torch.equal(data.edge_attr, edge_attr)
                assert torch.equal(data.edge_index, edge_index)
                assert torch.equal(data.y, y)
            few = PeptidesStruct(tmp_path, split, "hub", num_graphs=2)
            assert [torch.equal(data.y, graph[3]) for data, graph in zip(few, wanted, strict=False)] == [True, True]
        assert len(site.asked) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([os.system], r"is refused: it asks for (posix|nt)\.system"),
        ([(1, 2)], "Graph 0 of the published file is not the four tensors x, edge_attr, edge_index, y"),
        ([(torch.ones(2, 9), torch.ones(1, 2), torch.ones(2, 1), torch.ones(1, 11))], r"'edge_attr' .* shape \(1, 2\)"),
    ],
)
def test_other_archives_are_refused(tmp_path, content, message):
    path = tmp_path / "hub" / "lrgb" / "peptidesstruct.zip"
    path.parent.mkdir(parents=True)
    path.write_bytes(published(content))
    with pytest.raises(ValueError, match=message):
        PeptidesStruct(tmp_path, source="hub")


def test_without_a_connection_the_way_out_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(PeptidesStruct, "address", "http://127.0.0.1:9/a.zip")
    with pytest.raises(
        ConnectionError, match=r"Without a connection, source='generate' rebuilds .* can also be put at"
    ):
        PeptidesStruct(tmp_path, source="hub")


def test_address_is_that_of_pyg():
    assert LRGBDataset.urls["peptides-struct"] == peptides.ADDRESS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "dev"}, "Unknown split 'dev'; known are train, val, test"),
        ({"source": "web"}, "Unknown source 'web'; known are hub, generate"),
        ({"source": "hub", "seed": 1}, "no choice of seed; leave it out"),
        ({"source": "hub", "smiles": "a.smi", "split_file": "a.json"}, "no choice of smiles and split_file"),
        ({"split_file": "a.json"}, r"a\.json needs the file of molecules"),
        ({"num_graphs": 0}, "num_graphs must be a whole number of at least 1; got 0"),
    ],
)
def test_wrong_arguments_are_named(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        PeptidesStruct(tmp_path, **options)


def test_metric_is_the_mean_over_molecules_and_targets(root, files):
    dataset = rebuilt(root, files)
    target = torch.zeros(3, 11)
    prediction = torch.arange(11.0).repeat(3, 1)
    assert dataset.metric(prediction, target) == 5.0
    assert (dataset.task.level, dataset.task.out_channels, dataset.task.loss) == ("graph", 11, "l1")
    assert str(dataset.task.score) == "MAE"
