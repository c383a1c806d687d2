"""One global step of a model with values."""

from collections.abc import Sequence
from typing import Any

from ghr.models.cell import LevelCellUpdate, LevelState
from ghr.models.recurrence import Step
from ghr.models.state import Encoded, State
from ghr.models.values.carry import CarryValues
from ghr.models.values.select import SelectValues
from ghr.models.values.sum import SumValues
from ghr.models.values.update import ValueState
from ghr.nn.values import Holder


def begin_values(
    values: SelectValues | CarryValues | SumValues,
    encoded: Encoded,
    state: State,
    cells: Sequence[LevelCellUpdate],
    states: Sequence[LevelState],
) -> Step:
    """Prepare one global step of a model with values; Algorithm 2 too.

    Args:
        values: How they move.
        encoded: The batch.
        state: The state before the step.
        cells: How the control of every level is updated; none without control.
        states: Its states.
    """
    parts: Any = values.begin(encoded.parts, encoded.levels, state.values, encoded.given)
    levels, before = [], []
    for k, value in enumerate(state.values):
        cell, control = (cells[k], states[k]) if cells else (None, None)
        levels.append(values.update_of(k, parts, cell))
        normalised = None if cell is None or control is None else cell.cell.norm(control.state)
        before.append(ValueState(Holder(value, normalised), control))

    def finish(after: list[ValueState]) -> State:
        control = tuple(level.control.state for level in after if level.control) if cells else state.levels
        return State(control, tuple(level.held.value for level in after))

    return Step(levels, before, finish)
