"""Values that are added up over all levels."""

from collections.abc import Sequence

from torch import Tensor, nn

from ghr.hierarchy import Level
from ghr.models.cell import LevelCellUpdate
from ghr.models.values.update import Reading, ValueState, ValueUpdate
from ghr.nn.encoder import Width
from ghr.nn.values import Holder, SumCell, SumLevel
from ghr.ops import Above


class SumUpdate(ValueUpdate):
    """The update of a level whose values are added up: what moves within it, and what comes from above.

    Args:
        cell: The weights.
        part: The level, prepared.
        above: The level above, prepared; ``None`` at the top.
        kind: As in :meth:`~ghr.nn.values.SumCell.move`.
        control: The update of the control.
    """

    def __init__(
        self, cell: SumCell, part: SumLevel, above: SumLevel | None, kind: int, control: LevelCellUpdate | None
    ) -> None:
        super().__init__(control)
        self.cell, self.part, self.above, self.kind = cell, part, above, kind

    def update(
        self, state: ValueState, above: Reading[Above] | None, below: Reading[Tensor] | None, outer: int = 1
    ) -> ValueState:
        """Move the values once; the same again gives the same, so what loops is only the control."""
        value = self.cell.move(self.part, self.kind)
        if above is not None and self.above is not None:
            value = value + self.cell.descend(above.held.value, self.above)
        control, normalised = self._update_control(state.control, above, below, outer)
        return ValueState(Holder(self.cell.weigh(value, normalised), normalised), control)


class SumValues(nn.Module):
    """Values that are added up: one cell for all levels.

    Args:
        cell: The weights.
        in_channels: Width of the input, or the sizes of columns of codes.
        edge_dims: Widths of the edge features that a control reads.
    """

    def __init__(self, cell: SumCell, in_channels: Width, edge_dims: Sequence[Width | None]) -> None:
        super().__init__()
        self.channels, self.cell, self.in_channels, self.edge_dims = cell.channels, cell, in_channels, list(edge_dims)

    def control_edge_dim(self, k: int) -> Width | None:
        """Return the width of the edge features that the control of a level reads."""
        return self.edge_dims[k]

    def prepare(self, levels: Sequence[Level], x: Tensor, num_graphs: int) -> tuple[SumLevel, ...]:
        """Return where values move to on every level."""
        return self.cell.prepare(levels, num_graphs)

    def begin(
        self, parts: tuple[SumLevel, ...], levels: Sequence[Level], values: Sequence[Tensor], x: Tensor
    ) -> tuple[SumLevel, ...]:
        """Return the levels for another global step: what the last one arrived at is part of the input."""
        source: Tensor = self.cell.lift(x)
        return self.cell.feed(source + self.cell.feedback(values[0]), parts, levels)

    def update_of(self, k: int, parts: Sequence[SumLevel], control: LevelCellUpdate | None) -> SumUpdate:
        """Return how a level is updated."""
        top = k + 1 == len(parts)
        return SumUpdate(self.cell, parts[k], None if top else parts[k + 1], 0 if k == 0 else 2 if top else 1, control)
