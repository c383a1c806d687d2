import sys

import pytest

from ghr.datasets.generators.molecules.needs import need


def test_module_is_returned():
    assert need("rdkit.Chem").MolFromSmiles("C").GetNumAtoms() == 1


def test_missing_package_is_said_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "tblite.interface", None)
    with pytest.raises(ImportError, match=r"Molecules need tblite, .* pip install tblite\."):
        need("tblite.interface")
