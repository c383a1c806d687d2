import gzip

import pytest
from rdkit import Chem

from ghr.datasets.generators.molecules.smiles import diameter, file_digest, parse, read_smiles


def written(path, text):
    opened = gzip.open if path.name.endswith(".gz") else open
    with opened(path, "wt") as file:
        file.write(text)
    return path


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_both_kinds_of_file_are_read(tmp_path, ending):
    table = written(tmp_path / f"a.csv{ending}", 'id,SMILES,labels\n1,CCO,"[0, 1]"\n2,C.C,x\n')
    assert read_smiles(table) == ["CCO", "C.C"]
    lines = written(tmp_path / f"a.smi{ending}", "CCO ethanol\n\nC.C\n")
    assert read_smiles(lines) == ["CCO", "C.C"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "id,name\n1,CCO\n", "needs a column named smiles; it has id, name"),
        ("a.csv", "", "needs a column named smiles; it has none"),
        ("a.smi", "\n\n", "has no SMILES"),
    ],
)
def test_other_files_are_refused(tmp_path, name, text, message):
    with pytest.raises(ValueError, match=message):
        read_smiles(written(tmp_path / name, text))


def test_what_is_no_text_is_refused(tmp_path):
    (tmp_path / "a.smi.gz").write_bytes(b"not compressed")
    (tmp_path / "a.smi").write_bytes(b"\xff\xfe\x00")
    for name in ("a.smi", "a.smi.gz"):
        with pytest.raises(ValueError, match="not a readable text file"):
            read_smiles(tmp_path / name)


@pytest.mark.parametrize("smiles", ["", "C1CC", "not a molecule", "C(C)(C)(C)(C)C"])
def test_wrong_smiles_are_refused_in_silence(smiles, capfd):
    with pytest.raises(ValueError, match="RDKit does not accept"):
        parse(smiles)
    assert capfd.readouterr() == ("", "")


def test_diameter_counts_bonds():
    assert diameter(parse("CCCCC")) == 4
    assert diameter(Chem.AddHs(parse("CCCCC"))) == 6
    assert diameter(parse("C1CCCCC1")) == 3
    assert diameter(parse("C")) == 0
    assert diameter(parse("CC.C")) is None


def test_digest_is_that_of_the_content(tmp_path):
    one, two, three = (written(tmp_path / name, text) for name, text in (("a", "C"), ("b", "C"), ("c", "N")))
    assert file_digest(one) == file_digest(two) != file_digest(three)
