import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem
from rdkit.Chem import rdMolTransforms

from ghr.datasets.generators.molecules.embed import embed
from ghr.datasets.generators.molecules.shape import TARGETS, shape_targets
from ghr.datasets.generators.molecules.smiles import parse


def placed(smiles, positions):
    molecule = parse(smiles)
    conformer = Chem.Conformer(molecule.GetNumAtoms())
    for index, position in enumerate(positions):
        conformer.SetAtomPosition(index, [float(value) for value in position])
    molecule.AddConformer(conformer)
    return molecule


def slow_moments(positions, weights):
    centre = [sum(w * p[k] for w, p in zip(weights, positions, strict=True)) / sum(weights) for k in range(3)]
    tensor = np.zeros((3, 3))
    for weight, position in zip(weights, positions, strict=True):
        q = [position[k] - centre[k] for k in range(3)]
        for a in range(3):
            for b in range(3):
                tensor[a, b] += weight * ((sum(v * v for v in q) if a == b else 0.0) - q[a] * q[b])
    return sorted(np.linalg.eigvals(tensor).real, reverse=True)


def slow_targets(molecule):
    angstrom = molecule.GetConformer().GetPositions()
    positions = (angstrom / 10).tolist()
    masses = [atom.GetMass() / Chem.Atom("C").GetMass() + 1e-6 for atom in molecule.GetAtoms()]
    hydrogens = [atom.GetTotalNumHs() + 1e-6 for atom in molecule.GetAtoms()]
    centred = angstrom - angstrom.mean(axis=0)
    _, singular, axes = np.linalg.svd(centred)
    lengths = [max(centred @ axis) - min(centred @ axis) for axis in axes]
    variance = np.zeros(3)
    variance[: len(singular)] = singular**2
    plane = np.abs(centred @ axes[2]).mean()
    return [
        *slow_moments(positions, masses),
        *slow_moments(positions, hydrogens),
        *[length / 10 for length in lengths],
        3 * variance[2] / variance.sum(),
        plane,
    ]


@pytest.mark.parametrize("smiles", ["CC(=O)NCC(=O)O", "c1ccccc1CCN", "CCO.CCN", "N[C@@H](CO)C(=O)NCC(=O)O"])
def test_targets_equal_a_slow_version(smiles):
    molecule = embed(parse(smiles), seed=1)
    assert len(TARGETS) == 11
    assert shape_targets(molecule) == pytest.approx(slow_targets(molecule), rel=1e-6, abs=1e-9)


def test_three_atoms_in_a_row_by_hand():
    found = dict(zip(TARGETS, shape_targets(placed("CCC", [(0, 0, 0), (10, 0, 0), (20, 0, 0)])), strict=True))
    assert found["inertia_mass_a"] == found["inertia_mass_b"] == pytest.approx(2, rel=1e-5)
    assert found["inertia_mass_c"] == pytest.approx(0, abs=1e-12)
    assert found["inertia_valence_a"] == pytest.approx(6, rel=1e-5)
    assert [found[f"length_{axis}"] for axis in "abc"] == pytest.approx([2, 0, 0], abs=1e-12)
    assert (found["spherocity"], found["plane_best_fit"]) == pytest.approx((0, 0), abs=1e-9)


@given(st.integers(0, 10**6))
def test_turning_and_moving_change_nothing(seed):
    rng = np.random.default_rng(seed)
    before = rng.normal(size=(6, 3)) * 3
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    targets = [shape_targets(placed("CCNCCO", place)) for place in (before, before @ turn + rng.normal(size=3))]
    assert targets[0] == pytest.approx(targets[1], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("smiles", ["C", "CC", "[Na+].[Cl-]", "O=C=O"])
def test_molecules_without_extent_give_finite_numbers(smiles):
    assert np.isfinite(shape_targets(embed(parse(smiles), seed=0))).all()


def test_moments_agree_with_rdkit():
    molecule = embed(parse("CC(C)Cc1ccccc1"), seed=2)
    _, moments = rdMolTransforms.ComputePrincipalAxesAndMomentsFromGyrationMatrix(
        molecule.GetConformer(), weights=[atom.GetMass() for atom in molecule.GetAtoms()]
    )
    total = sum(atom.GetMass() for atom in molecule.GetAtoms())
    spread = sorted(np.array(moments) * total / 12.011 / 100)
    inertia = sorted((sum(spread) - value for value in spread), reverse=True)
    assert shape_targets(molecule)[:3] == pytest.approx(inertia, rel=1e-4)
