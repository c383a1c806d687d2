import numpy as np
import pytest

from ghr.datasets.generators.molecules.features import ATOM_CODES, BOND_CODES, ogb_graph
from ghr.datasets.generators.molecules.smiles import parse

SP, SP2, SP3 = 0, 1, 2


def graph(smiles):
    return ogb_graph(parse(smiles))


# Derived by hand from OGB's lists: number - 1, chirality, degree, charge + 5, hydrogens, radicals, hybridization,
# aromatic, in a ring.
@pytest.mark.parametrize(
    ("smiles", "atoms"),
    [
        ("CCO", [[5, 0, 4, 5, 3, 0, SP3, 0, 0], [5, 0, 4, 5, 2, 0, SP3, 0, 0], [7, 0, 2, 5, 1, 0, SP3, 0, 0]]),
        ("c1ccccc1", [[5, 0, 3, 5, 1, 0, SP2, 1, 1]] * 6),
        ("CC#N", [[5, 0, 4, 5, 3, 0, SP3, 0, 0], [5, 0, 2, 5, 0, 0, SP, 0, 0], [6, 0, 1, 5, 0, 0, SP, 0, 0]]),
        ("[NH4+]", [[6, 0, 4, 6, 4, 0, SP3, 0, 0]]),
        ("C1CC1", [[5, 0, 4, 5, 2, 0, SP3, 0, 1]] * 3),
    ],
)
def test_atoms_have_the_codes_derived_by_hand(smiles, atoms):
    assert graph(smiles).x.tolist() == atoms


def test_amino_acid_by_hand():
    x = graph("N[C@@H](C)C(=O)[O-]").x
    assert x[:, 1].tolist() == [0, 1, 0, 0, 0, 0]
    assert graph("N[C@H](C)C(=O)[O-]").x[:, 1].tolist() == [0, 2, 0, 0, 0, 0]
    assert x[:, 3].tolist() == [5, 5, 5, 5, 5, 4]
    assert x[:, 4].tolist() == [2, 1, 3, 0, 0, 0]


def test_values_beyond_the_lists_share_the_last_code():
    assert graph("*C").x[0, 0] == 118
    assert graph("[Fe+6]").x[0, 3] == 11
    assert graph("[CH2]").x[0, 5] == 2
    assert graph("[NH3]->[Fe]").edge_attr[:, 0].tolist() == [4, 4]


@pytest.mark.parametrize(
    ("smiles", "bonds"),
    [
        ("CC", [[0, 0, 0]]),
        ("c1ccccc1", [[3, 0, 1]] * 6),
        ("CC#N", [[0, 0, 0], [2, 0, 0]]),
        ("C/C=C/C", [[0, 0, 0], [1, 2, 0], [0, 0, 0]]),
        ("C/C=C\\C", [[0, 0, 0], [1, 1, 0], [0, 0, 0]]),
        ("C=CC=O", [[1, 0, 1], [0, 0, 1], [1, 0, 1]]),
    ],
)
def test_bonds_have_the_codes_derived_by_hand(smiles, bonds):
    found = graph(smiles)
    assert found.edge_attr[::2].tolist() == bonds
    assert found.edge_attr[1::2].tolist() == bonds
    assert np.array_equal(found.edge_index[:, ::2], found.edge_index[::-1, 1::2])


def test_molecules_in_pieces_and_without_bonds():
    salt = graph("[Na+].[Cl-]")
    assert (salt.x.shape, salt.edge_index.shape, salt.edge_attr.shape) == ((2, 9), (2, 0), (0, 3))
    pieces = graph("CCO.CC")
    assert pieces.edge_index.T.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1], [3, 4], [4, 3]]


def test_codes_stay_below_their_number():
    for smiles in ("N[C@@H](Cc1c[nH]cn1)C(=O)O", "O=S(=O)(F)Cl", "FS(F)(F)(F)(F)F", "[Fe+6]", "*", "[O-][N+](=O)C#C"):
        found = graph(smiles)
        assert (found.x >= 0).all()
        assert (found.x < np.array(ATOM_CODES)).all()
        assert (found.edge_attr < np.array(BOND_CODES)).all()
