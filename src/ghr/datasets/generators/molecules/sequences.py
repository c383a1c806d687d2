"""Random peptides, for when there is no list of real ones."""

import numpy as np

from ghr.datasets.generators.molecules.needs import need

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
RESIDUES = (2, 36)  # about 150 heavy atoms on average, as the published peptides have


def draw_peptide(rng: np.random.Generator) -> str:
    """Return the SMILES of a chain of 2 to 36 natural amino acids, every length and every acid equally likely."""
    chem = need("rdkit.Chem")
    length = int(rng.integers(*RESIDUES, endpoint=True))
    sequence = "".join(AMINO_ACIDS[index] for index in rng.integers(len(AMINO_ACIDS), size=length))
    return str(chem.MolToSmiles(chem.MolFromSequence(sequence)))
