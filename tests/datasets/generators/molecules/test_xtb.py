import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdMolTransforms

from ghr.datasets.generators.molecules.embed import embed
from ghr.datasets.generators.molecules.smiles import parse
from ghr.datasets.generators.molecules.xtb import gfn2_xtb


def relaxed(smiles):
    return embed(Chem.AddHs(parse(smiles)), seed=0, relax=True)


def test_water_has_its_known_energy_and_symmetric_charges():
    energy, charges = gfn2_xtb(relaxed("O"))
    assert energy == pytest.approx(-5.070, abs=0.003)  # -5.0705 Hartree at the method's own minimum
    assert charges[0] == pytest.approx(-0.565, abs=0.02)
    assert charges[1] == pytest.approx(charges[2], abs=1e-3)


@pytest.mark.parametrize(("smiles", "charge"), [("CCO", 0), ("[NH4+]", 1), ("CC(=O)[O-]", -1), ("[CH3]", 0)])
def test_charges_add_up_to_that_of_the_molecule(smiles, charge):
    energy, charges = gfn2_xtb(relaxed(smiles))
    assert charges.shape == (Chem.AddHs(parse(smiles)).GetNumAtoms(),)
    assert charges.sum() == pytest.approx(charge, abs=1e-6)
    assert energy < 0


def test_turning_changes_nothing():
    molecule = relaxed("CC(=O)N")
    before = gfn2_xtb(molecule)
    turn = np.eye(4)
    turn[:3, :3] = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    turn[:3, 3] = [1, 2, 3]
    rdMolTransforms.TransformConformer(molecule.GetConformer(), turn)
    after = gfn2_xtb(molecule)
    assert after[0] == pytest.approx(before[0], abs=1e-6)
    assert after[1] == pytest.approx(before[1], abs=1e-5)


def test_elements_without_parameters_are_refused():
    with pytest.raises(ValueError, match="GFN2-xTB gave no result"):
        gfn2_xtb(embed(parse("[U]"), seed=0))
