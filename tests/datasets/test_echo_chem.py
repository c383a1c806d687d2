import json

import numpy as np
import pytest
import torch
from rdkit import Chem
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from ghr.datasets import ECHOChem, echo_chem
from ghr.datasets.echo_chem import accept
from ghr.datasets.generators.molecules.label import charges_and_energy
from ghr.datasets.generators.molecules.smiles import diameter, parse
from ghr.datasets.generators.molecules.split import choose_split
from ghr.hierarchy import Coarsen, Graclus
from ghr.testing import assert_quotient

# Long and yet of few atoms, so that they are computed fast.
LONG = [
    f"{first}{'C#C' * triples}{last}" for triples in (8, 9) for first in ("", "F", "N#C") for last in ("", "F", "C#N")
]
OTHERS = ["CCO", "C1CC", "CCCCCCCCCCCCCCCCCC.O", "C" * 60, LONG[0]]


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    path = tmp_path_factory.mktemp("molecules") / "a.smi"
    path.write_text("\n".join(OTHERS + LONG))
    return path


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("root")


def of_split(split):
    found = dict.fromkeys(filter(None, map(accept, OTHERS + LONG)))
    return [smiles for smiles in found if choose_split(smiles, 0) == split]


def test_filter_keeps_connected_molecules_of_the_right_diameter():
    assert [accept(smiles) for smiles in OTHERS[:4]] == [None] * 4
    assert accept("OCC" * 6) == Chem.MolToSmiles(parse("OCC" * 6))
    for smiles in LONG:
        assert (accept(smiles) is None) == (not 17 <= diameter(Chem.AddHs(parse(smiles))) <= 40)


@pytest.mark.parametrize("task", ["charge", "energy"])
def test_listed_molecules_carry_their_labels(root, listed, task):
    dataset = ECHOChem(root, task, "train", "generate", smiles=listed, num_graphs=4, workers=2)
    assert dataset.task.level == {"charge": "node", "energy": "graph"}[task]
    wanted = of_split("train")[:4]
    assert len(dataset) == len(wanted) == 4
    for smiles, data in zip(wanted, dataset, strict=True):
        arrays = charges_and_energy(smiles, 0)
        assert np.allclose(data.x, arrays["x"])
        assert np.array_equal(data.edge_index, arrays["edge_index"])
        assert np.allclose(data.edge_attr, arrays["edge_attr"])
        if task == "charge":
            assert data.y.shape == (data.num_nodes, 1)
            assert np.allclose(data.y[:, 0], arrays["charge"], atol=1e-6)
        else:
            assert data.y.shape == (1, 1)
            assert 10 ** data.y.double().item() == pytest.approx(-arrays["energy"][0], rel=1e-5)


def test_hierarchies_are_stored_and_batched(root, listed):
    coarsen = Coarsen(Graclus(rounds=1))
    dataset = ECHOChem(root, "charge", "train", "generate", smiles=listed, num_graphs=4, pre_transform=coarsen)
    for data in dataset:
        assert_quotient(data)
    batch = next(iter(DataLoader(dataset, batch_size=4)))
    assert batch.y.shape == (batch.num_nodes, 1)
    assert batch.levels[1].num_nodes == sum(data.levels[1].num_nodes for data in dataset)


def test_every_molecule_is_in_one_split(root, listed):
    splits = [set(of_split(split)) for split in ("train", "val", "test")]
    assert sum(map(len, splits)) == len(set.union(*splits)) == len(set(filter(None, map(accept, LONG))))


def test_drawn_molecules_belong_to_their_split_and_work(root, monkeypatch):
    monkeypatch.setattr(echo_chem, "DIAMETERS", (17, 19))
    dataset = ECHOChem(root, "energy", "val", "generate", num_graphs=2, seed=3)
    assert len(dataset) == 2
    assert torch.isfinite(torch.cat([data.y for data in dataset])).all()
    drawn = dataset._draw()
    assert drawn == dataset._draw()
    assert all(choose_split(smiles, 3) == "val" for smiles in drawn)
    assert [data.num_nodes for data in dataset] == [Chem.AddHs(parse(smiles)).GetNumAtoms() for smiles in drawn]


def test_what_cannot_be_computed_is_listed(tmp_path, caplog):
    without_parameters = [f"[U]{'C#C' * triples}" for triples in range(8, 18)]
    (tmp_path / "a.smi").write_text("\n".join(without_parameters + LONG))
    wanted = [s for s in map(accept, without_parameters) if s and choose_split(s, 0) == "train"]
    count = len(wanted) + 1
    dataset = ECHOChem(tmp_path, "energy", "train", "generate", smiles=tmp_path / "a.smi", num_graphs=count)
    assert len(dataset) == 1
    assert f"{len(wanted)} of {count} molecules are left out" in caplog.text
    report = json.loads((tmp_path / "ECHOChem" / f"{dataset.key}.left_out.json").read_text())
    assert report["asked"] == count
    assert set(report["left_out"]) == set(wanted)


def put(root, graphs, task="charge", split="train"):
    path = root / "hub" / "lucamiglior" / "echo-benchmark" / "echo-chem" / task / f"{split}_data.pt"
    path.parent.mkdir(parents=True)
    torch.save(graphs, path)


@pytest.mark.parametrize(("task", "rows"), [("charge", 3), ("energy", 1)])
def test_published_graphs_are_read(tmp_path, task, rows):
    edges = torch.tensor([[0, 1], [1, 0]])
    graph = Data(x=torch.ones(3, 2).double(), edge_index=edges, edge_attr=torch.ones(2, 2), y=torch.ones(rows, 1))
    put(tmp_path, [graph, graph], task)
    first, second = ECHOChem(tmp_path, task, "train", "hub")
    assert set(first.keys()) == {"x", "edge_index", "edge_attr", "y"}
    assert first.x.dtype == torch.float32
    assert second.y.shape == (rows, 1)
    assert len(ECHOChem(tmp_path, task, "train", "hub", num_graphs=1)) == 1


def test_other_published_graphs_are_refused(tmp_path):
    edges = torch.tensor([[0, 1], [1, 0]])
    put(tmp_path, [Data(x=torch.ones(3, 2), edge_index=edges, edge_attr=torch.ones(2, 2), y=torch.ones(1, 1))])
    with pytest.raises(ValueError, match="Graph 0 of the published file has 1 targets, not 3"):
        ECHOChem(tmp_path, "charge", source="hub")


def test_every_option_changes_the_key(root, listed, monkeypatch):
    monkeypatch.setattr(ECHOChem, "generate", lambda self: [Data(x=torch.ones(1, 2))])
    changes = [{}, {"task": "energy"}, {"split": "val"}, {"smiles": listed}, {"num_graphs": 3}, {"seed": 1}]
    assert len({ECHOChem(root, **change).key for change in changes}) == len(changes)
    assert ECHOChem(root, num_graphs=800, workers=3).key == ECHOChem(root).key


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "spin"}, "Unknown task 'spin'; known are charge, energy"),
        ({"split": "dev"}, "Unknown split 'dev'"),
        ({"source": "hub", "smiles": "a.smi"}, "no choice of smiles; leave it out"),
        ({"source": "hub", "smiles": "a.smi", "num_graphs": 3}, "no choice of smiles"),
    ],
)
def test_wrong_arguments_are_named(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        ECHOChem(tmp_path, **options)


def test_a_file_without_suitable_molecules_is_refused(tmp_path):
    (tmp_path / "a.smi").write_text("CCO\n")
    with pytest.raises(ValueError, match=r"no molecule for the split 'train' .* 17 to 40 bonds across"):
        ECHOChem(tmp_path, smiles=tmp_path / "a.smi")


def test_metrics_are_the_published_ones(root, monkeypatch):
    monkeypatch.setattr(ECHOChem, "generate", lambda self: [Data(x=torch.ones(1, 2))])
    charge, energy = ECHOChem(root, "charge", seed=9), ECHOChem(root, "energy", seed=9)
    assert charge.metric(torch.tensor([[0.1], [0.2]]), torch.tensor([[0.1], [0.25]])) == pytest.approx(25, rel=1e-5)
    prediction, target = torch.tensor([[2.0], [3.0]]), torch.tensor([[1.0], [3.0]])
    assert energy.metric(prediction, target) == pytest.approx((90 + 0) / 2)
    assert [str(dataset.task.score) for dataset in (charge, energy)] == ["MAE, 1e-3 e", "MAE after 10**"]
    assert [dataset.target_scale for dataset in (charge, energy)] == [1000, 1]
    assert [dataset.task.loss for dataset in (charge, energy)] == ["mse", "mse"]
    assert (charge.node_codes, charge.edge_codes) == (None, None)
