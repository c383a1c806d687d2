import hashlib

import pytest

from ghr.datasets.generators.molecules.given import GivenFile

FILE = GivenFile("peptides/a.csv", hashlib.sha256(b"smiles\nCC\n").hexdigest(), "the peptides of somebody")


@pytest.fixture
def place(tmp_path):
    (tmp_path / "peptides").mkdir()
    return tmp_path / "peptides" / "a.csv"


def test_a_file_is_found_in_its_place(tmp_path, place):
    place.write_bytes(b"smiles\nCC\n")
    assert FILE.find(tmp_path) == place


def test_where_it_is_missing_a_sentence_says_what_to_put_where(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        FILE.find(tmp_path)
    assert f"{tmp_path / 'peptides' / 'a.csv'} is missing: put the peptides of somebody there" in str(error.value)
    assert FILE.sha256 in str(error.value)


def test_another_file_in_its_place_is_refused(tmp_path, place):
    place.write_bytes(b"smiles\nCCC\n")
    found = hashlib.sha256(b"smiles\nCCC\n").hexdigest()
    with pytest.raises(ValueError, match=f"is another file than the peptides of somebody: its SHA-256 is {found}"):
        FILE.find(tmp_path)
