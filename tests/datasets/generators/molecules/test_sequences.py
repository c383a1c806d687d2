import numpy as np

from ghr.datasets.generators.molecules.sequences import draw_peptide
from ghr.datasets.generators.molecules.smiles import parse


def test_peptides_are_chains_of_amino_acids():
    smiles = [draw_peptide(np.random.default_rng([0, index])) for index in range(120)]
    assert smiles[:5] == [draw_peptide(np.random.default_rng([0, index])) for index in range(5)]
    atoms = [parse(each).GetNumAtoms() for each in smiles]
    bonds = [len(parse(each).GetSubstructMatches(parse("NCC(=O)N"))) for each in smiles]
    assert min(atoms) >= 9
    assert 120 < sum(atoms) / len(atoms) < 185
    assert min(bonds) >= 1
