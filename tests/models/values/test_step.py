import pytest
import torch

from cases import hierarchy, randomise
from ghr import GHR
from ghr.models.state import State
from ghr.models.values import ValueState, begin_values
from ghr.models.values.select import SelectUpdate
from ghr.models.values.sum import SumUpdate


def make(values, conv):
    options = {"conv": conv, "edge_dim": 3, "value_channels": 3, "steps": 1, "t_high": 1, "t_low": 1}
    return randomise(GHR(2, 6, 1, values=values, **options))


def start(model, data, *, moved=False):
    encoded = model.encode(data)
    state = model.initial_state(encoded)
    if moved:
        state = State(state.levels, tuple(value + 1 for value in state.values))
    cells = [model._update_of(k, encoded) for k in range(2)] if model.state_channels else []
    states = model._begin(encoded, state).states
    control = [level.control for level in states] if cells else []
    return encoded, state, cells, begin_values(model.values, encoded, state, cells, control)


@pytest.mark.parametrize(("values", "kind"), [("select", SelectUpdate), ("sum", SumUpdate)])
@pytest.mark.parametrize("conv", [None, "gine"])
def test_a_step_begins_with_the_values_and_the_normalised_control(values, kind, conv):
    model = make(values, conv)
    _, state, cells, step = start(model, hierarchy(8, 12), moved=True)
    assert [type(level) for level in step.levels] == [kind, kind]
    for k, before in enumerate(step.states):
        assert torch.equal(before.held.value, state.values[k])
        if conv is None:
            assert before.control is None
            assert before.held.control is None
            assert step.levels[k].control is None
        else:
            assert torch.equal(before.control.state, state.levels[k])
            torch.testing.assert_close(before.held.control, model.cells[k].norm(state.levels[k]))
            assert step.levels[k].control is cells[k]


@pytest.mark.parametrize("conv", [None, "gine"])
def test_a_step_ends_with_the_states_of_all_levels(conv):
    _, state, _, step = start(make("select", conv), hierarchy(8, 12))
    after = []
    for k, before in enumerate(step.states):
        held = before.held._replace(value=before.held.value + k + 1)
        control = None if before.control is None else before.control._replace(state=before.control.state - 1)
        after.append(ValueState(held, control))
    done = step.finish(after)
    for k in range(2):
        assert torch.equal(done.values[k], state.values[k] + k + 1)
        assert torch.equal(done.levels[k], state.levels[k] if conv is None else state.levels[k] - 1)
