import pytest
import torch
from torch import nn

from ghr.datasets import LRIM, ECHOSynth
from ghr.paper.changes import Drop, Shift
from ghr.paper.shift_tests import Changed, OtherGraphs, OtherTemperature
from ghr.paper.strange import relabel_paths


class Echo(nn.Module):
    """Predicts the first feature, and refuses graphs with fewer edges than it is told."""

    transform = None

    def __init__(self, least=0):
        super().__init__()
        self.least, self.loops = least, None

    def prepare(self, graph):
        if graph.num_edges < self.least:
            raise ValueError("too few edges")
        return graph

    def forward(self, data, **loops):
        self.loops = loops
        return data.x[:, :1]


def test_the_same_graphs_as_they_are_and_changed(tmp_path):
    model = Echo()
    clean = Changed("lrim-16-hard", 3).evaluate(model, tmp_path, {"steps": 2})
    assert model.loops == {"steps": 2}
    graphs = LRIM(tmp_path, 16, 0.6, "test", num_graphs=3)
    assert clean["score"] == pytest.approx(float((graphs.x - graphs.y).square().mean().log10()), rel=1e-5)
    shifted = Changed("lrim-16-hard", 3, Shift(0.5)).evaluate(model, tmp_path, {})
    assert shifted["score"] == pytest.approx(float((graphs.x + 0.5 - graphs.y).square().mean().log10()), rel=1e-5)


def test_nodes_that_lost_their_path_do_not_count(tmp_path):
    found = Changed("echo-sssp", 2, Drop(1.0, relabel_paths)).evaluate(Echo(), tmp_path, {})
    assert found["score"] == pytest.approx(40.0), "only the source is left, one off of forty hops"
    whole = Changed("echo-sssp", 2).evaluate(Echo(), tmp_path, {})
    graphs = ECHOSynth(tmp_path, "sssp", "test", num_graphs=2)
    assert whole["score"] == pytest.approx(40 * float((graphs.x[:, :1] - graphs.y).abs().mean()), rel=1e-5)


def test_a_model_that_does_not_take_such_graphs_says_why(tmp_path):
    found = Changed("lrim-16-hard", 1, Drop(0.5)).evaluate(Echo(least=1024), tmp_path, {})
    assert found == {"score": None, "why": "too few edges"}


def test_other_generators(tmp_path):
    for kind in ("geometric", "uniform trees"):
        test = OtherGraphs(kind, 3)
        assert test.name == f"3 graphs, {kind}"
        assert 1 < test.evaluate(Echo(), tmp_path, {})["score"] < 40
    hot, cold = (OtherTemperature(factor, 2).evaluate(Echo(), tmp_path, {})["score"] for factor in (100, 0.5))
    assert hot != cold
    warm = LRIM(tmp_path, 16, 0.6, "test", num_graphs=2, temperature=887.87, seed=2026)
    assert hot == pytest.approx(float((warm.x - warm.y).square().mean().log10()), rel=1e-4)
    assert abs(float(warm.x.mean())) < 0.2
    assert torch.equal(warm.x.abs(), torch.ones_like(warm.x))
