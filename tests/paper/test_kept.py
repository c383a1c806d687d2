import json

from ghr.paper.kept import bring, is_kept, keep
from ghr.paper.runs import RowRun
from tiny_rows import GHR_ROW, pretend


def test_finished_runs_are_kept_and_brought_back(tmp_path):
    run, results = RowRun(GHR_ROW, 3, tmp_path / "runs"), tmp_path / "results"
    assert keep([run], results) == 0
    assert not is_kept(run, results)
    pretend(run, 0.5)
    (run.path / "best.safetensors").write_bytes(b"weights")
    assert (keep([run], results), keep([run], results)) == (1, 0)
    assert is_kept(run, results)
    assert not (results / GHR_ROW.name / "seed-3" / "best.safetensors").exists()
    other = RowRun(GHR_ROW, 3, tmp_path / "others")
    assert (bring([other], results), bring([other], results)) == (1, 0)
    assert other.result() == run.result()
    assert not other.unfinished


def test_a_finished_run_stays_and_what_changed_is_kept(tmp_path):
    run, results = RowRun(GHR_ROW, 3, tmp_path / "runs"), tmp_path / "results"
    pretend(run, 0.5)
    keep([run], results)
    changed = json.dumps({"a": 1})
    (run.path / "tests.json").write_text(changed)
    assert bring([run], results) == 0
    assert keep([run], results) == 1
    assert (results / GHR_ROW.name / "seed-3" / "tests.json").read_text() == changed
