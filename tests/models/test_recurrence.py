import numpy as np
import pytest
import torch

from cases import hierarchy
from ghr import GHR, Coarsen, Graclus, MinPlusGHR, Settled, State
from ghr.testing import path_graph


def small(kind, **options):
    """A model, and a graph for it."""
    model = kind(1, 4, 1, **options)
    return model, model.prepare(path_graph(6))


@pytest.mark.parametrize("kind", [GHR, MinPlusGHR])
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda state: None, "A step starts from a State, such as initial_state.* returns; got None"),
        (lambda state: state.levels, "A step starts from a State"),
        (lambda state: State(None), "The state must be a tuple of tensors, one for each level; got None"),
        (
            lambda state: State((None, *state.levels[1:])),
            "The state of level 0 must be a tensor; got the NoneType None",
        ),
        (lambda state: State((state.low.to("meta"), *state.levels[1:])), "The state of level 0 is on meta"),
        (
            lambda state: State((state.low.to_sparse(), *state.levels[1:])),
            "The state of level 0 must be a dense tensor",
        ),
        (lambda state: State((state.low.long(), *state.levels[1:])), "must hold floating point numbers"),
    ],
)
def test_a_step_starts_from_a_state_only(kind, spoil, words):
    model, data = small(kind)
    with pytest.raises(ValueError, match=words):
        model.step(data, spoil(model.initial_state(data)))


@pytest.mark.parametrize("values", ["select", "sum"])
def test_a_model_with_values_starts_from_a_state_with_values(values):
    model, data = small(GHR, values=values)
    state = model.initial_state(data)
    assert model.step(data, state)[0].shape == (6, 1)
    for wrong in ((), None, state.values[:1], state.levels, (None, *state.values[1:])):
        with pytest.raises(ValueError, match="The part of the state that holds values"):
            model.step(data, state._replace(values=wrong))


@pytest.mark.parametrize("kind", [GHR, MinPlusGHR])
def test_what_another_model_encoded_is_refused(kind):
    model, data = small(kind)
    other = kind(1, 6, 1)
    for call in (model.encode, model.initial_state, model.forward):
        with pytest.raises(ValueError, match="The graph was encoded by a model with other options"):
            call(other.encode(data))
    assert model.encode(model.encode(data)).num_graphs == 1


def test_layers_of_another_kind_do_not_meet_each_others_edges():
    gine, gated = GHR(2, 4, 1, conv="gine").double(), GHR(2, 4, 1, conv="gated_gcn").double()
    with pytest.raises(ValueError, match="encoded by a model with other options"):
        gated.step(gine.encode(hierarchy()), gated.initial_state(hierarchy()))


@pytest.mark.parametrize("name", ["steps", "t_high", "t_low"])
@pytest.mark.parametrize("number", [99999999999, 10**30])
def test_loops_that_would_never_end_are_refused_at_once(name, number):
    model, data = small(GHR)
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at most 1000000"):
        GHR(1, 4, 1, **{name: number})
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at most 1000000"):
        model(data, **{name: number})
    with pytest.raises(ValueError, match="limit must be a whole number of at most 1000000"):
        Settled(limit=number)


def test_numbers_of_numpy_are_numbers():
    options = {"levels": np.int64(3), "steps": np.uint8(2), "t_high": [np.int32(1), np.int64(2)], "t_low": np.int16(1)}
    model = GHR(np.int64(1), np.int64(4), np.int64(1), **options)
    assert model(Coarsen(Graclus(), levels=np.int8(2))(path_graph(6)), steps=np.int64(1)).shape == (6, 1)
    assert all(type(value) in (int, list) for name, value in model.config.items() if name in options)
    assert torch.isfinite(model(model.prepare(path_graph(6)))).all()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"levels": 1},
        {"levels": 3, "coarsen": Coarsen(Graclus(rounds=1), levels=2)},
        {"conv": "gated_gcn"},
        {"time_informed": True},
        {"values": "select"},
        {"values": "sum", "conv": None, "share_coarse": True},
        MinPlusGHR,
    ],
    ids=["plain", "flat", "three levels", "edge states", "time", "select", "sum", "min-plus"],
)
def test_a_trace_passes_through_what_a_rollout_reads(options):
    torch.manual_seed(0)
    kind, options = (GHR, options) if isinstance(options, dict) else (options, {})
    flat = options.get("levels") == 1 or options.get("conv", "gine") is None
    model, data = small(kind, steps=3, t_low=3, **options, **({} if flat else {"t_high": 2}))
    moments = list(model.trace(data))
    per_step = model.updates_per_step(data)
    assert len(moments) == 1 + 3 * per_step
    assert (moments[0].step, moments[0].level) == (0, None)
    for number, prediction in enumerate(model.rollout(data), start=1):
        moment = moments[number * per_step]
        assert (moment.step, moment.level) == (number, 0)
        torch.testing.assert_close(model.read_state(data, moment.state), prediction)


def test_a_trace_runs_the_loops_that_are_asked_for():
    model, data = small(GHR, steps=3, t_high=2)
    moments = list(model.trace(data, 2, t_high=1, t_low=4))
    assert len(moments) == 1 + 2 * model.updates_per_step(data, t_high=1, t_low=4) == 11
    torch.testing.assert_close(model.read_state(data, moments[-1].state), model(data, steps=2, t_high=1, t_low=4))
    with pytest.raises(ValueError, match="steps must be a whole number"):
        next(model.trace(data, "auto"))
