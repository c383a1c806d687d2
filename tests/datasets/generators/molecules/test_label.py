import numpy as np
import pytest
from rdkit import Chem

from ghr.datasets.generators.molecules.embed import embed
from ghr.datasets.generators.molecules.features import ogb_graph
from ghr.datasets.generators.molecules.label import charges_and_energy, peptide
from ghr.datasets.generators.molecules.smiles import parse


def test_peptide_is_graph_and_shape():
    arrays = peptide("NCC(=O)NCC(=O)O", 0)
    assert set(arrays) == {"x", "edge_index", "edge_attr", "targets"}
    assert np.array_equal(arrays["x"], ogb_graph(parse("NCC(=O)NCC(=O)O")).x)
    assert arrays["targets"].shape == (11,)
    assert np.array_equal(peptide("NCC(=O)NCC(=O)O", 0)["targets"], arrays["targets"])
    assert not np.array_equal(peptide("NCC(=O)NCC(=O)O", 1)["targets"], arrays["targets"])


def test_molecule_has_all_atoms_lengths_and_charges():
    arrays = charges_and_energy("CC=O", 0)
    full = Chem.AddHs(parse("CC=O"))
    assert arrays["x"][:, 0].tolist() == [atom.GetAtomicNum() for atom in full.GetAtoms()]
    assert arrays["edge_index"].shape == (2, 12)
    orders = {(1, 2): 2.0, (2, 1): 2.0}
    for (i, j), (order, length) in zip(arrays["edge_index"].T.tolist(), arrays["edge_attr"].tolist(), strict=True):
        assert order == orders.get((i, j), 1.0)
        assert {True: 1.0 < length < 1.2, False: 1.15 < length < 1.6}[max(i, j) > 2]
    assert arrays["charge"].sum() == pytest.approx(0, abs=1e-6)
    assert arrays["charge"][2] < -0.3  # oxygen draws electrons
    assert arrays["energy"][0] < -10


def test_distance_is_from_the_centroid_of_the_positions():
    arrays = charges_and_energy("O", 0)
    seeds = charges_and_energy("O", 1)
    assert arrays["x"][:, 1] == pytest.approx(seeds["x"][:, 1], abs=1e-2)  # one relaxed shape, whatever the start
    # Of water with bonds b and half angle a: the oxygen is 2/3 b cos(a) away.
    bond, angle = 0.969, np.deg2rad(103.98) / 2
    assert arrays["x"][0, 1] == pytest.approx(2 / 3 * bond * np.cos(angle), abs=0.01)


def test_aromatic_bonds_are_one_and_a_half():
    arrays = charges_and_energy("c1ccccc1", 3)
    assert sorted(set(arrays["edge_attr"][:, 0].tolist())) == [1.0, 1.5]
    assert arrays["edge_index"].shape == (2, 24)


def test_failures_are_sentences():
    with pytest.raises(ValueError, match="does not accept"):
        peptide("C1CC", 0)
    assert embed(parse("C"), seed=0).GetNumAtoms() == 1
