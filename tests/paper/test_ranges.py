import json
from dataclasses import replace

import pytest

from ghr import MODELS
from ghr.analysis import measure_exchange, range_of
from ghr.datasets import BENCHMARKS
from ghr.ops import using
from ghr.paper.ranges import RangeTest, read_range
from ghr.paper.row import Loops
from ghr.paper.runs import TESTS, list_runs, work_on
from tiny_rows import DEEP_ROW


def test_it_is_kept_in_the_run_so_that_no_weights_are_needed(tmp_path):
    row = replace(DEEP_ROW, tests=(RangeTest("rgg-sssp-small", 3), RangeTest("rgg-sssp-small", 3, exchange=True)))
    runs = list_runs([row], tmp_path / "runs")
    work_on(runs, tmp_path / "data", quiet=True)
    (run,) = runs
    kept = json.loads((run.path / TESTS).read_text())
    assert [*kept] == [f"{kind}, 3 graphs, 16 nodes of each; as trained" for kind in ("range", "range by exchange")]
    trained = run.open()
    graphs = BENCHMARKS["rgg-sssp-small"].load(tmp_path / "data", "test", num_graphs=3)
    assert read_range(run, tmp_path / "data", graphs=3) == pytest.approx(range_of(trained, graphs), rel=1e-5)
    assert 0 < read_range(run, tmp_path / "data", graphs=3) <= 2, "it has two layers"
    exchanged = measure_exchange(trained.model, graphs, graphs.task).range
    assert read_range(run, tmp_path / "data", graphs=3, exchange=True) == pytest.approx(exchanged, rel=1e-5)
    (run.path / "best.safetensors").unlink()
    assert read_range(run, tmp_path / "nowhere", graphs=3) == kept[next(iter(kept))]["range"]
    assert read_range(run, tmp_path / "nowhere", graphs=4) is None
    assert read_range(run, tmp_path / "nowhere", graphs=3, loops=Loops(steps=9)) is None


def test_a_model_without_one_says_why(tmp_path):
    graphs = BENCHMARKS["echo-diam"].load(tmp_path, "test", num_graphs=2)
    model = MODELS["graph-vit"].for_data(graphs, graphs.task, {"hidden_channels": 8, "layers": 1}).eval()
    with using("torch"):
        found = RangeTest("echo-diam", 2).evaluate(model, tmp_path, {})
        assert found["range"] is None
        assert "does not read nodes" in found["why"]
        assert RangeTest("echo-diam", 2, 1, "hessian").evaluate(model, tmp_path, {})["range"] > 0
        assert "has no place" in RangeTest("echo-diam", 2, exchange=True).evaluate(model, tmp_path, {})["why"]
    assert RangeTest("echo-diam", 2, 1, "hessian", options={"noise": False}).name == (
        "range, 2 graphs, 1 nodes of each, through its hessian, noise=False"
    )
