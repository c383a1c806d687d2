"""Atoms and bonds as the categories of the Open Graph Benchmark."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Values in the order of their codes. Where "other" is the last entry, it stands for every value that is not listed.
OTHER = "other"
CHIRALITIES = ("CHI_UNSPECIFIED", "CHI_TETRAHEDRAL_CW", "CHI_TETRAHEDRAL_CCW", "CHI_OTHER", OTHER)
HYBRIDIZATIONS = ("SP", "SP2", "SP3", "SP3D", "SP3D2", OTHER)
BOND_TYPES = ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC", OTHER)
BOND_STEREO = ("STEREONONE", "STEREOZ", "STEREOE", "STEREOCIS", "STEREOTRANS", "STEREOANY")

# Number of codes of every column: what an embedding of the column needs.
ATOM_CODES = (119, 5, 12, 12, 10, 6, 6, 2, 2)
BOND_CODES = (5, 6, 2)


class MoleculeGraph(NamedTuple):
    """A molecule as arrays: one row per atom and two directed edges per bond."""

    x: NDArray[np.int64]
    edge_index: NDArray[np.int64]
    edge_attr: NDArray[np.int64]


def ogb_graph(molecule: Any) -> MoleculeGraph:
    r"""Return atoms and bonds with the 9 and 3 integer columns that the Open Graph Benchmark uses.

    Atoms: atomic number less 1, chirality, degree with hydrogens, formal charge plus 5, hydrogens, radical electrons,
    hybridization, aromatic, in a ring. Bonds: type, stereo, conjugated. Values beyond the lists share the last code.
    Hydrogens are nodes only where the molecule has them explicitly. Both directions of a bond follow each other.

    Args:
        molecule: A molecule of RDKit.

    Shapes:
        - **x:** :math:`(N, 9)`, codes below ``ATOM_CODES``
        - **edge_index:** :math:`(2, 2B)` for :math:`B` bonds
        - **edge_attr:** :math:`(2B, 3)`, codes below ``BOND_CODES``
    """
    atoms = [_atom(atom) for atom in molecule.GetAtoms()]
    edges, bonds = [], []
    for bond in molecule.GetBonds():
        i, j = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        edges += [(i, j), (j, i)]
        bonds += [_bond(bond)] * 2
    return MoleculeGraph(
        np.array(atoms, dtype=np.int64).reshape(-1, len(ATOM_CODES)),
        np.array(edges, dtype=np.int64).reshape(-1, 2).T.copy(),
        np.array(bonds, dtype=np.int64).reshape(-1, len(BOND_CODES)),
    )


def _atom(atom: Any) -> tuple[int, ...]:
    return (
        _ranged(atom.GetAtomicNum(), 1, 118),
        _listed(str(atom.GetChiralTag()), CHIRALITIES),
        _ranged(atom.GetTotalDegree(), 0, 10),
        _ranged(atom.GetFormalCharge(), -5, 5),
        _ranged(atom.GetTotalNumHs(), 0, 8),
        _ranged(atom.GetNumRadicalElectrons(), 0, 4),
        _listed(str(atom.GetHybridization()), HYBRIDIZATIONS),
        int(atom.GetIsAromatic()),
        int(atom.IsInRing()),
    )


def _bond(bond: Any) -> tuple[int, int, int]:
    stereo = str(bond.GetStereo())
    if stereo not in BOND_STEREO:
        raise ValueError(f"The bond stereo {stereo} has no code; known are {', '.join(BOND_STEREO)}.")
    return _listed(str(bond.GetBondType()), BOND_TYPES), BOND_STEREO.index(stereo), int(bond.GetIsConjugated())


def _ranged(value: int, low: int, high: int) -> int:
    return value - low if low <= value <= high else high - low + 1


def _listed(value: str, values: Sequence[str]) -> int:
    return values.index(value) if value in values else len(values) - 1
