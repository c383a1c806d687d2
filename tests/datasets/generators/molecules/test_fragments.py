import numpy as np
import pytest
from rdkit import Chem

from ghr.datasets.generators.molecules import fragments
from ghr.datasets.generators.molecules.fragments import ENDS, FIRST_ENDS, LINKS, RINGS, draw_molecule
from ghr.datasets.generators.molecules.smiles import diameter, parse


def drawn(count, diameters=(17, 40)):
    return [draw_molecule(np.random.default_rng([0, index]), diameters) for index in range(count)]


def test_every_piece_fits_every_other():
    for middle in LINKS + RINGS:
        for piece in (*LINKS, *RINGS):
            assert Chem.MolFromSmiles(f"C{middle}{piece}C") is not None, middle + piece
    for first in FIRST_ENDS:
        assert Chem.MolFromSmiles(f"{first}C") is not None, first
    for end in ENDS:
        assert Chem.MolFromSmiles(f"C{end}") is not None, end


def test_diameters_are_in_range_and_spread():
    found = [diameter(Chem.AddHs(parse(smiles))) for smiles in drawn(60)]
    assert min(found) >= 17
    assert max(found) <= 40
    assert max(found) - min(found) > 15


def test_same_stream_same_molecule():
    first = drawn(20)
    assert first == drawn(20)
    assert len(set(first)) == 20
    assert all(Chem.MolToSmiles(parse(smiles)) == smiles for smiles in first)


def test_impossible_ranges_are_given_up(monkeypatch):
    monkeypatch.setattr(fragments, "MAX_DRAWS", 5)
    with pytest.raises(ValueError, match="diameter of 1 to 1 was found in 5 draws"):
        draw_molecule(np.random.default_rng(0), (1, 1))
