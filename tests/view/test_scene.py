import numpy as np
import pytest
import torch
from view_cases import GRAPH, NODE, graph, small, three_levels

from ghr import GHR
from ghr.view.answers import Answers
from ghr.view.collect import collect
from ghr.view.scene import (
    Field,
    change_field,
    describe_levels,
    error_by_distance,
    error_fields,
    fit_fields,
    influence_fields,
    mean_by_frame,
    state_fields,
)


def record(model, task=NODE):
    data = graph(task=task)
    return collect(model, model.prepare(data)), Answers(task, data), data


def test_prediction_and_error_of_nodes():
    recording, answers, data = record(three_levels())
    fields, prediction, error = error_fields(recording, answers)
    assert [(field.key, field.bits, field.log, field.derived) for field in fields] == [
        ("prediction", 16, False, False),
        ("error", 8, True, True),
    ]
    assert fields[0].span == (float(data.y.double().min()), float(data.y.double().max()))
    assert fields[0].levels[1:] == [None, None]
    assert np.allclose(error, np.abs(prediction - data.y[:, 0].numpy()), atol=1e-6)
    assert prediction.shape == (29, 24)


def test_a_prediction_for_the_graph_colours_no_node():
    recording, answers, _ = record(small("ghr", GRAPH), GRAPH)
    fields, prediction, error = error_fields(recording, answers)
    assert (fields, prediction.shape, error.shape) == ([], (len(recording.frames), 1), (len(recording.frames), 1))


def test_only_the_level_that_was_updated_changes():
    recording, answers, _ = record(three_levels())
    field, mean = change_field(recording, error_fields(recording, answers)[1])
    assert np.isnan(field.levels[0][0]).all()
    assert mean[0] is None
    for number, frame in list(enumerate(recording.frames))[1:]:
        assert [bool((level[number] > 0).any()) for level in field.levels] == [frame.level == k for k in range(3)]
    before, after = (recording.frames[number].states[0] for number in (2, 3))
    assert np.allclose(field.levels[0][3], (after - before).square().mean(1).sqrt(), rtol=1e-5)


def test_components_are_the_largest_and_uncorrelated():
    recording, *_ = record(three_levels())
    fields = state_fields(recording, ("pc1", "pc2", "pc3"))
    assert [field.title for field in fields] == [f"state, component {number}" for number in (1, 2, 3)]
    first, second, third = (field.levels[0].ravel() for field in fields)
    assert first.var() > second.var() > third.var() > 0
    assert abs(np.corrcoef(first, second)[0, 1]) < 1e-6
    states = np.stack([frame.states[0].numpy() for frame in recording.frames]).reshape(-1, 8)
    assert first.var() == pytest.approx(np.linalg.eigvalsh(np.cov(states.T, bias=True))[-1], rel=1e-4)


def test_channels_by_their_numbers_and_all_of_few():
    recording, *_ = record(three_levels())
    fields = state_fields(recording, (5, "0", "pc1", 8))
    assert [field.title for field in fields] == ["state, channel 5", "state, channel 0", "state, component 1"]
    assert np.allclose(fields[0].levels[1][-1], recording.frames[-1].states[1][:, 5])
    assert [field.title for field in state_fields(recording, None)] == [f"state, component {k}" for k in range(1, 5)]
    assert state_fields(recording, ()) == []
    narrow = GHR(1, 4, 1, edge_dim=1, steps=1).eval()
    assert [field.title for field in state_fields(record(narrow)[0], None)] == [f"state, channel {k}" for k in range(4)]


def test_values_and_control_are_both_there():
    torch.manual_seed(0)
    model = GHR(1, 8, 1, edge_dim=1, values="select", value_channels=3, steps=1).eval()
    recording, *_ = record(model)
    titles = [field.title for field in state_fields(recording, None)]
    assert titles[:4] == ["control, component 1", "value, channel 0", "control, component 2", "value, channel 1"]
    alone, *_ = record(small("ghr-select"))
    assert {field.title.split(",")[0] for field in state_fields(alone, None)} == {"value"}


def test_influence_is_a_part_of_the_largest():
    (field,) = influence_fields(torch.tensor([[0.0, 2.0, 4.0]]), ["node 2"])
    assert (field.title, field.levels[0].tolist()) == ("influence on node 2", [[0.0, 0.5, 1.0]])
    (nothing,) = influence_fields(torch.zeros(1, 3), ["node 0"])
    assert nothing.levels[0].tolist() == [[0.0, 0.0, 0.0]]


def test_error_by_distance_leaves_out_what_does_not_count():
    error = np.array([[1.0, 3.0, np.nan, 5.0], [0.0, 2.0, np.nan, 7.0]])
    assert error_by_distance(error, np.array([1, 1, 1, -1])) == {"hops": [1], "count": [2], "error": [[2.0], [1.0]]}


def test_what_does_not_fit_is_named():
    noise = np.random.default_rng(0).normal(size=(3, 64, 500))
    fields = [Field(f"f{number}", f"field {number}", [row], (0.0, 1.0)) for number, row in enumerate(noise)]
    kept, left_out = fit_fields(fields, 60_000)
    assert ([field["key"] for field in kept], left_out) == (["f0"], ["field 1", "field 2"])


def test_levels_are_placed_in_one_frame():
    recording, *_ = record(three_levels())
    levels = describe_levels(recording, np.random.default_rng(0).random((24, 2)), lattice=False)
    assert [level["nodes"] for level in levels] == [level.num_nodes for level in recording.levels]
    assert [level["clusters"] is None for level in levels] == [True, False, False]


def test_means_leave_out_what_is_no_number():
    assert mean_by_frame(np.array([[1.0, np.nan, 3.0], [np.nan] * 3])) == [2.0, None]
