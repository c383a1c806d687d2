import json
from dataclasses import dataclass, field

import pytest
import torch
from torch import nn

from ghr.datasets import LRIM, ECHOSynth, mae_by_distance
from ghr.paper.cell_tests import EchoDiameters, EchoTrees, FarCost, FarHops, Lattices, find_narrow
from ghr.paper.extension import FarTest
from ghr.paper.row import AS_TRAINED, Loops
from ghr.paper.runs import TESTS, RowRun
from tiny_rows import DEEP_ROW, pretend


class Constant(nn.Module):
    """Predicts one number for every node, whatever its loops; remembers these."""

    transform = None

    def __init__(self, value):
        super().__init__()
        self.value, self.loops = value, None

    def forward(self, data, **loops):
        self.loops = loops
        return torch.full((data.num_nodes, 1), self.value)


def test_far_graphs_are_split_at_the_trained_range_and_loops_are_passed_on(tmp_path):
    test, model = FarHops(FarTest("small", 8, 20), 5), Constant(5.0)
    found = test.evaluate(model, tmp_path, {"steps": 12})
    assert model.loops == {"steps": 12}
    graphs = test.graphs.load(tmp_path)
    hops = graphs.hops[graphs.mask]
    expected = mae_by_distance(torch.full(hops.shape, 5.0), hops.float(), hops, 5)
    assert found == expected
    assert 1 <= found["out_of_range"] <= 3, "6 to 8 hops are 1 to 3 off"


def test_the_cost_of_predictions_stands_beside_the_errors(tmp_path):
    graphs, model = FarTest("small", 8, 12), Constant(5.0)
    found = FarCost(graphs, 5).evaluate(model, tmp_path, {"steps": 2})
    assert found.pop("cpu_seconds") > 0
    assert model.loops == {"steps": 2}
    assert found == FarHops(graphs, 5).evaluate(model, tmp_path, {})


def test_trees_are_those_with_one_edge_less_than_nodes(tmp_path):
    found = EchoTrees("ecc", 24).evaluate(Constant(0.0), tmp_path, {})
    graphs = ECHOSynth(tmp_path, "ecc", "test", num_graphs=24, seed=2026)
    trees = [
        graph
        for graph in graphs
        if len({tuple(sorted(edge)) for edge in graph.edge_index.T.tolist()}) == len(graph.x) - 1
    ]
    assert 0 < len(trees) < len(graphs)
    for name, chosen in (("mae", graphs), ("trees", trees)):
        values = torch.cat([graph.y for graph in chosen])
        assert found[name] == pytest.approx(40 * float(values.mean()), rel=1e-5)


@pytest.mark.parametrize("largest", [17, 28, 40])
def test_narrow_graphs_are_found_by_their_diameter(tmp_path, largest):
    narrow = find_narrow(tmp_path, largest, split="val", num_graphs=30)
    diameters = [round(40 * float(graph.y)) for graph in ECHOSynth(tmp_path, "diam", "val", num_graphs=30)]
    assert narrow == [place for place, diameter in enumerate(diameters) if diameter <= largest]
    assert len(narrow) > 0


def test_echo_is_divided_by_diameter_on_graphs_of_another_seed(tmp_path):
    found = EchoDiameters(24, 28).evaluate(Constant(0.0), tmp_path, {})
    graphs = ECHOSynth(tmp_path, "sssp", "test", num_graphs=24, seed=2026)
    diameters = [float(graph.y) for graph in ECHOSynth(tmp_path, "diam", "test", num_graphs=24, seed=2026)]
    parts = {"mae": diameters, "in_range": [], "out_of_range": []}
    for diameter in diameters:
        parts["in_range" if 40 * diameter < 28.5 else "out_of_range"].append(diameter)
    for name, chosen in parts.items():
        values = torch.cat([graph.y for graph, d in zip(graphs, diameters, strict=True) if d in chosen])
        assert found[name] == pytest.approx(40 * float(values.mean()), rel=1e-5)
    assert found["in_range"] < found["mae"] < found["out_of_range"]


def test_lattices_of_another_side(tmp_path):
    found = Lattices(32, 2).evaluate(Constant(0.0), tmp_path, {})
    graphs = LRIM(tmp_path, 32, 0.6, "test", num_graphs=2, seed=2026)
    assert found == {"log10_mse": pytest.approx(float(graphs.y.square().mean().log10()), rel=1e-5)}


@dataclass
class Counted:
    """A test that counts how often it is computed."""

    name: str = "counted"
    calls: list = field(default_factory=list)

    def evaluate(self, model, data, loops):
        self.calls.append(loops)
        return {"mae": float(len(self.calls)), "out_of_range": None}


def test_what_is_known_is_not_computed_again(tmp_path, monkeypatch):
    run, test = RowRun(DEEP_ROW, 3, tmp_path), Counted()
    pretend(run, 1.0)
    assert run.ask(test, AS_TRAINED, tmp_path) is None  # without weights
    monkeypatch.setattr("ghr.train.run.Run.model", None)
    monkeypatch.setattr("ghr.train.run.Run.has_weights", True)
    first = run.ask(test, AS_TRAINED, tmp_path)
    assert first == run.ask(test, AS_TRAINED, tmp_path) == {"mae": 1.0, "out_of_range": None}
    assert run.ask(test, Loops(steps=2), tmp_path)["mae"] == 2.0
    assert test.calls == [{}, {"steps": 2}]
    assert [*json.loads((run.path / TESTS).read_text())] == ["counted; as trained", "counted; steps=2"]


def test_a_damaged_file_is_a_sentence(tmp_path):
    run = RowRun(DEEP_ROW, 3, tmp_path)
    pretend(run, 1.0)
    (run.path / TESTS).write_text("[1")
    with pytest.raises(ValueError, match=r"tests\.json is damaged .*; delete it"):
        run.ask(Counted(), AS_TRAINED, tmp_path)
