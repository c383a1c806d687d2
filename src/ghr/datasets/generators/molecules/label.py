"""What is computed for every molecule of a rebuilt benchmark; runs in worker processes."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ghr.datasets.generators.molecules.embed import embed
from ghr.datasets.generators.molecules.features import ogb_graph
from ghr.datasets.generators.molecules.needs import need
from ghr.datasets.generators.molecules.shape import shape_targets
from ghr.datasets.generators.molecules.smiles import parse
from ghr.datasets.generators.molecules.xtb import gfn2_xtb

Arrays = dict[str, NDArray[Any]]


def peptide(smiles: str, seed: int) -> Arrays:
    """Return the graph of heavy atoms with OGB's columns, and the 11 shape targets of one conformation.

    Args:
        smiles: The molecule.
        seed: Seed of the set; the conformation depends on it and on the SMILES alone.
    """
    molecule = parse(smiles)
    graph = ogb_graph(molecule)
    targets = shape_targets(embed(molecule, seed=_seed(smiles, seed)))
    return {"x": graph.x, "edge_index": graph.edge_index, "edge_attr": graph.edge_attr, "targets": targets}


def charges_and_energy(smiles: str, seed: int) -> Arrays:
    """Return the graph of all atoms with distances, and charges and energy by GFN2-xTB after relaxation by MMFF.

    Args:
        smiles: The molecule.
        seed: Seed of the set; the conformation depends on it and on the SMILES alone.
    """
    molecule = embed(need("rdkit.Chem").AddHs(parse(smiles)), seed=_seed(smiles, seed), relax=True)
    energy, charges = gfn2_xtb(molecule)
    positions = molecule.GetConformer().GetPositions()
    numbers = [atom.GetAtomicNum() for atom in molecule.GetAtoms()]
    from_centre = np.linalg.norm(positions - positions.mean(axis=0), axis=1)
    pairs, orders = [], []
    for bond in molecule.GetBonds():
        i, j = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        pairs += [(i, j), (j, i)]
        orders += [bond.GetBondTypeAsDouble()] * 2
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
    lengths = np.linalg.norm(positions[edges[0]] - positions[edges[1]], axis=1)
    return {
        "x": np.stack([numbers, from_centre], axis=1).astype(np.float32),
        "edge_index": edges,
        "edge_attr": np.stack([orders, lengths], axis=1).astype(np.float32),
        "charge": charges,
        "energy": np.array([energy]),
    }


def _seed(smiles: str, seed: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed} {smiles}".encode()).digest()[:4], "big") >> 1  # RDKit takes 31 bits
