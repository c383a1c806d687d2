import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdForceFieldHelpers

from ghr.datasets.generators.molecules.embed import embed
from ghr.datasets.generators.molecules.smiles import parse

PEPTIDE = Chem.MolToSmiles(Chem.MolFromSequence("AKFLG"))


def positions(molecule):
    return molecule.GetConformer().GetPositions()


def test_seed_decides_the_conformation():
    molecule = parse(PEPTIDE)
    first, again, other = (positions(embed(molecule, seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)
    assert molecule.GetNumConformers() == 0


def test_bonds_have_the_length_of_bonds():
    molecule = embed(parse(PEPTIDE), seed=3)
    place = positions(molecule)
    assert place.shape == (parse(PEPTIDE).GetNumAtoms(), 3)
    for bond in molecule.GetBonds():
        length = np.linalg.norm(place[bond.GetBeginAtomIdx()] - place[bond.GetEndAtomIdx()])
        assert 1.1 < length < 1.7


def test_handedness_is_that_of_the_smiles():
    for smiles in ("N[C@@H](C)C(=O)O", "N[C@H](C)C(=O)O"):
        molecule = embed(Chem.AddHs(parse(smiles)), seed=0)
        Chem.AssignStereochemistryFrom3D(molecule)
        assert Chem.MolToSmiles(Chem.RemoveHs(molecule)) == Chem.MolToSmiles(parse(smiles))


def test_relaxing_lowers_the_energy_of_the_force_field():
    def energy(molecule):
        properties = rdForceFieldHelpers.MMFFGetMoleculeProperties(molecule)
        return rdForceFieldHelpers.MMFFGetMoleculeForceField(molecule, properties).CalcEnergy()

    molecule = Chem.AddHs(parse("CC(=O)NCCO"))
    assert energy(embed(molecule, seed=0, relax=True)) < energy(embed(molecule, seed=0)) - 1


def test_elements_without_parameters_fall_back_or_are_refused():
    assert embed(Chem.AddHs(parse("C[Se]C")), seed=0, relax=True).GetNumConformers() == 1
    with pytest.raises(ValueError, match="no force field has parameters"):
        embed(parse("*C"), seed=0, relax=True)


@pytest.mark.parametrize("smiles", ["C", "[Na+].[Cl-]", "CCO.N[C@@H](C)C(=O)O"])
def test_tiny_molecules_and_pieces_work(smiles):
    assert np.isfinite(positions(embed(parse(smiles), seed=0))).all()


def test_impossible_molecules_are_refused():
    with pytest.raises(ValueError, match="no conformation was found"):
        embed(parse("C1C[C@H]2C[C@H]1CC2"), seed=0)  # one bridgehead would have to point into the cage
