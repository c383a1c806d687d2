from dataclasses import replace

import pytest
import torch

from ghr import GHR
from ghr.paper.export import export_best
from ghr.paper.runs import runs_of, work_on
from tiny_rows import DEEP_ROW, GHR_ROW, pretend


def test_the_best_run_is_loaded_again_with_its_weights(tmp_path):
    runs = runs_of([GHR_ROW], tmp_path / "runs")
    work_on(runs, tmp_path / "data", quiet=True)
    best = export_best(runs, tmp_path / "model")
    assert best.result()["best_val"] == min(run.result()["best_val"] for run in runs)
    model = GHR.from_pretrained(tmp_path / "model")
    graph = GHR_ROW.recipe.data.load(tmp_path / "data", "test")[0]
    with torch.no_grad():
        assert torch.equal(model(graph), best.model()(graph))


def test_what_cannot_be_exported_is_a_sentence(tmp_path):
    runs = runs_of([GHR_ROW], tmp_path / "runs")
    with pytest.raises(ValueError, match="none of 2 runs is finished"):
        export_best(runs, tmp_path / "model")
    other = replace(GHR_ROW, name="other", recipe=replace(GHR_ROW.recipe, data=replace(GHR_ROW.recipe.data, rounds=2)))
    both = [*runs, *runs_of([other], tmp_path / "runs")]
    for run in both:
        pretend(run, 1.0)
    with pytest.raises(ValueError, match="choose among tiny/ghr, tiny/other with --only"):
        export_best(both, tmp_path / "model")
    deep = runs_of([DEEP_ROW], tmp_path / "runs")
    work_on(deep, tmp_path / "data", quiet=True)
    with pytest.raises(ValueError, match="holds a DeepGNN, but only a GHR or MinPlusGHR can be exported"):
        export_best(deep, tmp_path / "model")
    assert not (tmp_path / "model").exists()
