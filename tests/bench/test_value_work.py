import pytest
import torch

from ghr.bench.targets import NO_TARGETS, Targets
from ghr.bench.value_work import ValueWork
from ghr.hierarchy.data import levels_of
from ghr.models import GHR
from ghr.testing.plain_values import PlainValues

SHARED = {"in_channels": 1, "hidden_channels": 6, "out_channels": 1, "conv": None, "value_channels": 3, "steps": 1}
WORKS = {
    "select": ValueWork(
        "V", "chosen", 2, 20, {**SHARED, "values": "select", "levels": 1, "edge_dim": 1}, Targets(speedup=2.0)
    ),
    "sum": ValueWork(
        "W", "added", 2, 16, {**SHARED, "values": "sum", "directions": True, "share_coarse": True}, Targets(speedup=2.0)
    ),
}


@pytest.fixture(params=WORKS)
def work(request):
    return WORKS[request.param]


def test_a_batch_has_graphs_or_lattices_with_targets(work):
    data = work.load()
    nodes = 2 * (20 if work.options["values"] == "select" else 256)
    assert levels_of(data)[0].num_nodes == nodes
    assert data.y.shape == (nodes, 1)
    assert work.facts(data, None) == {"nodes": nodes, "edges": data.edge_index.size(1)}
    assert torch.equal(work.load().y, data.y)
    assert torch.equal(work.load().edge_index, data.edge_index)


def test_ours_and_plain_are_one_training_step_of_the_same_weights(work):
    data = work.load()
    ours, plain = (work.prepare(name, data) for name in ("ghr", "plain"))
    assert isinstance(ours.model, GHR)
    assert isinstance(plain.model, PlainValues)
    errors = work.errors({"ghr": ours, "plain": plain}, {"ghr": ours(), "plain": plain()})
    assert {*errors} == {"output", "gradient"}
    assert max(errors.values()) < 1e-4
    results = {"ghr": ours(), "plain": plain() + 1}
    assert work.errors({"ghr": ours, "plain": plain}, results)["output"] > 1e-3, "what differs is seen"


def test_weights_do_not_depend_on_what_was_drawn_before(work):
    first = work.prepare("ghr", work.load()).model.state_dict()
    torch.rand(3)
    again = work.prepare("ghr", work.load()).model.state_dict()
    assert all(torch.equal(first[name], again[name]) for name in first)


def test_shrunk_it_has_no_targets_and_lattices_can_still_be_halved(work):
    quick = work.quick()
    assert (quick.count, quick.targets, quick.title) == (2, NO_TARGETS, f"{work.title}, shrunk")
    assert quick.size % 8 == 0
    assert 8 <= quick.size <= 24
