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


def test_a_better_run_without_weights_is_passed_over_and_named(tmp_path, caplog):
    with_weights, *others = list_runs([GHR_ROW, DEEP_ROW], tmp_path / "runs")
    work_on([with_weights], tmp_path / "data", quiet=True)
    error = with_weights.result()["best_val"]
    for run, scale in zip(others, (error / 2, 2 * error), strict=True):
        pretend(run, scale)
    assert export_best([with_weights, *others], tmp_path / "model") == with_weights
    assert isinstance(ghr.load(tmp_path / "model"), ghr.GHR)
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        f"Without weights, and so passed over although better: Deep, seed 3 ({error / 2:.4g} on the validation "
        f"graphs). Exported is GHR, seed 3 ({error:.4g})."
    ]


def test_a_worse_run_without_weights_is_not_mentioned(tmp_path, caplog):
    with_weights, *others = list_runs([GHR_ROW], tmp_path / "runs")
    work_on([with_weights], tmp_path / "data", quiet=True)
    pretend(others[0], 2 * with_weights.result()["best_val"])
    assert export_best([with_weights, *others], tmp_path / "model") == with_weights
    assert not caplog.records


def test_runs_none_of_which_has_weights_are_a_sentence(tmp_path):
    runs = list_runs([GHR_ROW, DEEP_ROW], tmp_path / "runs")
    for run in runs[:2]:
        pretend(run, 1.0)
    with pytest.raises(ValueError, match=r"has weights: tiny/ghr, tiny/deep\. Trees keep none"):
        export_best(runs, tmp_path / "model")
    assert not (tmp_path / "model").exists()
