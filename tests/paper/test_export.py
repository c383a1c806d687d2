from dataclasses import replace

import pytest
import torch

import ghr
from ghr.paper.export import export_best
from ghr.paper.runs import list_runs, work_on
from tiny_rows import DEEP_ROW, GHR_ROW, pretend


def test_the_best_run_is_loaded_again_with_its_weights(tmp_path):
    runs = list_runs([GHR_ROW], tmp_path / "runs")
    work_on(runs, tmp_path / "data", quiet=True)
    best = export_best(runs, tmp_path / "model")
    assert best.result()["best_val"] == min(run.result()["best_val"] for run in runs)
    model = ghr.load(tmp_path / "model")
    graph = model.prepare(GHR_ROW.experiment().data.load(tmp_path / "data").test[0])
    with torch.no_grad():
        assert torch.equal(model(graph), best.open().model(graph))


def test_any_model_can_be_exported(tmp_path):
    runs = list_runs([DEEP_ROW], tmp_path / "runs")
    work_on(runs, tmp_path / "data", quiet=True)
    export_best(runs, tmp_path / "model")
    assert isinstance(ghr.load(tmp_path / "model"), ghr.DeepGNN)


def test_what_cannot_be_exported_is_a_sentence(tmp_path):
    runs = list_runs([GHR_ROW], tmp_path / "runs")
    with pytest.raises(ValueError, match="none of 2 runs is finished"):
        export_best(runs, tmp_path / "model")
    other = replace(GHR_ROW, folder="other", setup=replace(GHR_ROW.setup, graphs={"train": 7}))
    both = [*runs, *list_runs([other], tmp_path / "runs")]
    for run in both:
        pretend(run, 1.0)
    with pytest.raises(ValueError, match="choose among tiny/ghr, tiny/other with --only"):
        export_best(both, tmp_path / "model")
    assert not (tmp_path / "model").exists()
