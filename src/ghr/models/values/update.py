"""What all updates of values share."""

from typing import Generic, NamedTuple, TypeVar

from torch import Tensor

from ghr.models.cell import LevelCellUpdate, LevelState
from ghr.nn.values import Holder
from ghr.ops import Above

Added = TypeVar("Added", Above, Tensor)


class ValueState(NamedTuple):
    """The state of a level that has values.

    Attributes:
        held: Values of the nodes, and the normalised control.
        control: The state of the control; ``None`` without control.
        seen: The values of the clusters that were followed last in a step (:class:`CarryValues`); ``None`` before.
    """

    held: Holder
    control: LevelState | None
    seen: Tensor | None = None


class Reading(NamedTuple, Generic[Added]):
    """What a level reads of the one above it or below it.

    Attributes:
        held: The values there.
        control: What its control adds to its own; ``None`` without control.
    """

    held: Holder
    control: Added | None


class ValueUpdate:
    """What all updates of values share: a control that is updated beside them, as in the paper.

    Args:
        control: The update of the control; ``None`` without control.
    """

    def __init__(self, control: LevelCellUpdate | None) -> None:
        self.control = control

    def read_above(self, above: ValueState) -> Reading[Above]:
        """Return the values above, and what the control reads there."""
        if self.control is None or above.control is None:
            return Reading(above.held, None)
        return Reading(above.held, self.control.read_above(above.control))

    def read_below(self, below: ValueState) -> Reading[Tensor]:
        """Return the values below, and what the control reads there."""
        if self.control is None or below.control is None:
            return Reading(below.held, None)
        return Reading(below.held, self.control.read_below(below.control))

    def update(
        self, state: ValueState, above: Reading[Above] | None, below: Reading[Tensor] | None, outer: int = 1
    ) -> ValueState:
        """Return the state after one update."""
        raise NotImplementedError

    def repeat(
        self, state: ValueState, above: Reading[Above] | None, updates: int, outer: int, first: int = 1
    ) -> ValueState:
        """Update the graph itself several times."""
        for _ in range(updates):
            state = self.update(state, above, None, outer)
        return state

    def _update_control(
        self, control: LevelState | None, above: Reading[Above] | None, below: Reading[Tensor] | None, outer: int
    ) -> tuple[LevelState | None, Tensor | None]:
        """Return the control after one update, and normalised."""
        if self.control is None or control is None:
            return None, None
        from_above = None if above is None else above.control
        if below is None or below.control is None:
            control = self.control.repeat(control, from_above, 1, outer)
        else:
            control = self.control.update(control, from_above, below.control)
        return control, self.control.cell.norm(control.state)
