import logging
import os

import pytest
import torch

from ghr.datasets.generators.molecules.label import peptide
from ghr.datasets.storage import resumable
from ghr.datasets.storage.resumable import compute

SMILES = ["CCO", "C1CC", "CCN", "CC.CC", "CCC(=O)O", "C", "not one", "CCCC"]
ITEMS = [{"smiles": smiles, "seed": 0} for smiles in SMILES]
DYING = """
import os
from ghr.datasets.generators.molecules import worker
def fatal(smiles, seed):
    if smiles == "CCN":
        os._exit(1)
    print("noise on the standard output")
    return worker.peptide(smiles, seed)
worker.FUNCTIONS["fatal"] = fatal
serve()
"""


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(resumable, "PART", 3)


def assert_right(outcome, failed=(1, 6)):
    assert set(outcome.failures) == set(failed)
    for index, (item, found) in enumerate(zip(ITEMS, outcome.results, strict=True)):
        if index in failed:
            assert found is None
            continue
        wanted = peptide(**item)
        assert set(found) == set(wanted)
        assert all(torch.equal(found[name], torch.from_numpy(wanted[name])) for name in wanted)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def nobody():
    raise AssertionError("a process was started")


def test_number_of_processes_changes_nothing(tmp_path):
    for workers in (1, 4):
        assert_right(compute("peptide", ITEMS, tmp_path / str(workers), workers=workers))
    assert contents(tmp_path / "1") == contents(tmp_path / "4")
    assert len(contents(tmp_path / "1")) == 3
    assert compute("peptide", [], tmp_path).results == []


def test_parts_are_found_again_and_damaged_ones_computed_again(tmp_path, monkeypatch, caplog):
    compute("peptide", ITEMS, tmp_path)
    before = contents(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(resumable, "_start", nobody)
        assert_right(compute("peptide", ITEMS, tmp_path, workers=2))
        with pytest.raises(AssertionError, match="a process was started"):
            compute("peptide", [{**item, "seed": 1} for item in ITEMS], tmp_path)
    first, second, _ = sorted(before)
    os.truncate(tmp_path / first, 100)
    (tmp_path / second).write_bytes(before[first])
    with caplog.at_level(logging.WARNING):
        assert_right(compute("peptide", ITEMS, tmp_path))
    assert caplog.text.count("cannot be used and is computed again") == 2
    assert contents(tmp_path) == before


def test_a_molecule_that_kills_its_process_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(resumable, "BEGIN", resumable.BEGIN.replace("serve()\n", DYING))
    outcome = compute("fatal", ITEMS, tmp_path, workers=2)
    assert_right(outcome, failed=(1, 2, 6))
    assert outcome.failures[2] == "its process died"


def test_stopped_work_goes_on_where_it_was(tmp_path, monkeypatch):
    def interrupted(items, description):
        yield items[0]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(resumable, "track", interrupted)
        with pytest.raises(KeyboardInterrupt):
            compute("peptide", ITEMS, tmp_path)
    kept = contents(tmp_path)
    assert 1 <= len(kept) <= 3
    assert not any(name.startswith(".tmp") for name in kept)
    assert_right(compute("peptide", ITEMS, tmp_path))
    assert contents(tmp_path).items() >= kept.items()


def test_parts_that_another_program_makes_meanwhile_are_taken_from_it(tmp_path, monkeypatch):
    compute("peptide", ITEMS, tmp_path / "other")
    asked, ask = [], resumable._Worker.ask

    def beside_another(worker, function, item):
        for name, content in contents(tmp_path / "other").items():
            (tmp_path / "own" / name).write_bytes(content)
        asked.append(item)
        return ask(worker, function, item)

    monkeypatch.setattr(resumable._Worker, "ask", beside_another)
    assert_right(compute("peptide", ITEMS, tmp_path / "own"))
    assert len(asked) <= 3  # of one part


def test_programs_begin_with_different_parts(tmp_path, monkeypatch):
    made, write = [], resumable.write_bytes
    monkeypatch.setattr(resumable, "PART", 1)
    monkeypatch.setattr(resumable, "write_bytes", lambda path, data: (made.append(path.name), write(path, data)))
    for folder in "abcd":
        compute("peptide", ITEMS, tmp_path / folder)
    assert len({tuple(made[start : start + 8]) for start in range(0, 32, 8)}) > 1


def test_missing_packages_are_said_once(tmp_path, monkeypatch):
    without = resumable.BEGIN.replace("serve()\n", "sys.modules['rdkit'] = None\nserve()\n")
    monkeypatch.setattr(resumable, "BEGIN", without)
    with pytest.raises(ImportError, match="pip install rdkit"):
        compute("peptide", ITEMS, tmp_path)
    assert contents(tmp_path) == {}


def test_what_is_left_out_is_reported(tmp_path, caplog):
    outcome = compute("peptide", ITEMS, tmp_path)
    with caplog.at_level(logging.WARNING):
        outcome.report("molecules", SMILES)
    assert caplog.messages == [
        "2 of 8 molecules are left out: 2 because RDKit does not accept the SMILES. The first is C1CC."
    ]
    outcome.write(tmp_path / "report.json", SMILES)
    assert '"not one": "RDKit does not accept the SMILES"' in (tmp_path / "report.json").read_text()
    caplog.clear()
    fine = compute("peptide", ITEMS[:1], tmp_path)
    fine.report("molecules", SMILES)
    fine.write(tmp_path / "nothing.json", SMILES)
    assert caplog.messages == []
    assert not (tmp_path / "nothing.json").exists()
