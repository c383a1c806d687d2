import io
import json

import numpy as np
from safetensors.numpy import load

from ghr.datasets.generators.molecules.label import peptide
from ghr.datasets.generators.molecules.worker import FUNCTIONS, serve_from


def answers(*requests):
    out = io.BytesIO()
    serve_from(io.StringIO("".join(json.dumps(request) + "\n" for request in requests)), out)
    out.seek(0)
    found = []
    while size := out.read(8):
        found.append(out.read(int.from_bytes(size, "big")))
    return found


def says(answer):
    return json.loads(answer[8 : 8 + int.from_bytes(answer[:8], "little")]).get("__metadata__") or {}


def ask(smiles, function="peptide"):
    return {"function": function, "item": {"smiles": smiles, "seed": 0}}


def test_every_request_gets_its_answer():
    good, bad, again = answers(ask("CCO"), ask("C1CC"), ask("CCO"))
    assert good == again
    arrays, wanted = load(good), peptide("CCO", 0)
    assert set(arrays) == set(wanted)
    assert all(np.array_equal(arrays[name], wanted[name]) for name in wanted)
    assert says(bad) == {"failure": "RDKit does not accept the SMILES"}


def test_what_goes_wrong_is_said(monkeypatch):
    def missing(smiles, seed):
        raise ImportError("no rdkit")

    def surprising(smiles, seed):
        raise RuntimeError("Pre-condition Violation\nat line 5")

    monkeypatch.setitem(FUNCTIONS, "missing", missing)
    monkeypatch.setitem(FUNCTIONS, "surprising", surprising)
    monkeypatch.setitem(FUNCTIONS, "infinite", lambda smiles, seed: {"x": np.array([np.nan])})
    found = [says(answer) for answer in answers(*(ask("C", name) for name in ("missing", "surprising", "infinite")))]
    assert found == [
        {"missing": "no rdkit"},
        {"failure": "RuntimeError in its libraries"},
        {"failure": "a result is not a finite number"},
    ]
