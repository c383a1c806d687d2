import pytest
import torch
from view_cases import GRAPH, NODE, graph, small, three_levels

from cases import ANY_GRAPH
from ghr import GHR
from ghr.models.recurrence import Recurrence
from ghr.models.stack import Stack
from ghr.view.collect import choose_frames, collect


@pytest.mark.parametrize("task", [NODE, GRAPH], ids=["node", "graph"])
@pytest.mark.parametrize("name", ANY_GRAPH)
def test_every_model_ends_where_it_predicts(name, task):
    model, data = small(name, task), graph(task=task)
    prepared = model.prepare(data)
    recording = collect(model, prepared)
    torch.testing.assert_close(recording.frames[-1].prediction, model(prepared).detach())
    assert recording.frames[-1].update == recording.total == recording.trained
    steps = {"update": 2 * model.updates_per_step(prepared)} if isinstance(model, Recurrence) else {}
    assert recording.total == {"layer": 3, "step": getattr(model, "steps", None) or 1, **steps}[recording.unit]
    assert all(part.isfinite().all() for frame in recording.frames for part in (*frame.states, *frame.values))
    assert not model.training


def test_a_recurrence_is_seen_after_every_update_of_every_level():
    model, data = three_levels(), three_levels().prepare(graph())
    recording = collect(model, data)
    order = [2, 1, 0, 0, 1, 0, 0, 2, 1, 0, 0, 1, 0, 0]
    assert [frame.level for frame in recording.frames] == [None, *order, *order]
    assert [frame.step for frame in recording.frames] == [0] + [1] * 14 + [2] * 14
    assert [len(part) for part in recording.frames[0].states] == [level.num_nodes for level in data.levels]
    after = model.rollout(data)
    torch.testing.assert_close(recording.frames[14].prediction, after[0].detach())
    for k, frame in ((2, 1), (1, 2), (0, 3)):
        before, now = recording.frames[frame - 1].states, recording.frames[frame].states
        assert [not torch.equal(*pair) for pair in zip(before, now, strict=True)] == [k == 0, k == 1, k == 2]


def test_loops_are_those_asked_for():
    model, data = three_levels(), three_levels().prepare(graph())
    recording = collect(model, data, steps=3, t_low=1)
    assert (recording.total, recording.trained) == (30, 28)
    torch.testing.assert_close(recording.frames[-1].prediction, model(data, steps=3, t_low=1).detach())
    with pytest.raises(ValueError, match="has the loops steps, t_high, t_low, but layers=2 was given"):
        collect(model, data, layers=2)
    repeated = small("a-dgn")
    more = collect(repeated, graph(), layers=5)
    assert (more.total, more.trained, more.unit) == (5, 3, "layer")
    torch.testing.assert_close(more.frames[-1].prediction, repeated(graph(), layers=5).detach())


def test_steps_until_it_settles():
    model = small("min-plus")
    data = model.prepare(graph())
    count = len(model.rollout(data, "auto"))
    assert collect(model, data, steps="auto").total == count * model.updates_per_step(data)


def test_a_layer_shows_the_states_between(monkeypatch):
    model, seen = small("gcn"), []
    layer = model.layers[1]
    layer.register_forward_hook(lambda module, given, output: seen.append(output[0]))
    recording = collect(model, graph())
    assert torch.equal(recording.frames[1].states[0], seen[-1].detach())
    assert recording.frames[0].prediction.shape == (24, 1)


def test_a_readout_of_all_layers_predicts_at_the_end_only():
    torch.manual_seed(0)
    model = Stack(1, 8, 1, layers=3, jumping="cat", edge_dim=1).eval()
    recording = collect(model, graph())
    assert [frame.prediction is None for frame in recording.frames] == [True, True, False]
    assert [frame.states[0].shape for frame in recording.frames] == [(24, 8), (24, 16), (24, 24)]


def test_random_states_are_the_same_every_time():
    model = GHR(1, 8, 1, edge_dim=1, steps=1, initial_state="random")
    data = model.prepare(graph())
    first, second = (collect(model, data).frames[-1].prediction for _ in range(2))
    assert torch.equal(first, second)
    assert model.training


def test_frames_are_evenly_chosen_with_both_ends():
    assert choose_frames(5, 64) == [0, 1, 2, 3, 4]
    assert choose_frames(7, 3) == [0, 3, 6]
    assert choose_frames(9, 1) == [8]
    many = choose_frames(1000, 64)
    assert (len(set(many)), many[0], many[-1]) == (64, 0, 999)
    model = three_levels()
    recording = collect(model, model.prepare(graph()), frames=8)
    assert [frame.update for frame in recording.frames] == [0, 4, 8, 12, 16, 20, 24, 28]
