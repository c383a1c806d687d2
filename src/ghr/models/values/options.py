"""What can be asked of the values of a model, and what that asks of the rest of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ghr.checks import check_choice, check_flag, check_number, check_whole
from ghr.hierarchy import Coarsen
from ghr.models.scale_law import ScaleLaw
from ghr.models.settle import MOST_STEPS
from ghr.models.values.carry import CarryValues
from ghr.models.values.select import GATES, Gate, SelectValues
from ghr.models.values.sum import SumValues
from ghr.nn.encoder import MOST_WIDTH, Width, check_map
from ghr.nn.values import SumCell

MOST_REACH = 16  # a stencil has the square of twice as many matrices
SMALLEST = 16  # nodes of the coarsest lattice: what is still smaller is not worth a level
VALUES = ("select", "sum")


@dataclass
class ValueOptions:
    """The options of a model that concern its values, checked one by one; all as in :class:`~ghr.GHR`.

    Raises:
        ValueError: Where one is wrong. What depends on the rest of the model is found by :meth:`make`.
    """

    values: Literal["select", "sum"] | None
    value_channels: int
    value_gate: Gate
    value_reach: int
    value_carry: bool
    directions: bool
    scale_law: float
    value_sharpness: float

    def __post_init__(self) -> None:
        if self.values is not None:
            check_choice("values", self.values, VALUES)
        check_choice("value_gate", self.value_gate, GATES)
        check_flag("directions", self.directions)
        if check_flag("value_carry", self.value_carry) and self.values != "select":
            raise ValueError("value_carry is for values that are chosen, values='select'; leave it out.")
        self.value_channels = check_whole("value_channels", self.value_channels, most=MOST_WIDTH)
        check_map("value_channels", self.value_channels, self.value_channels)
        reach = MOST_STEPS if self.value_carry else MOST_REACH
        self.value_reach = check_whole("value_reach", self.value_reach, most=reach)
        self.scale_law = check_number("scale_law", self.scale_law, least=0)
        self.value_sharpness = check_number("value_sharpness", self.value_sharpness, least=1)

    def choose_coarsen(
        self, coarsen: Coarsen | Mapping[str, Any] | None, levels: int
    ) -> Coarsen | Mapping[str, Any] | None:
        """Return how to coarsen: as is said, or else as the values need it; ``None`` where they do not care."""
        if levels == 1:
            return coarsen
        if self.value_carry:
            return coarsen or {"edge_reduce": "centre_paths", "levels": levels - 1}
        return {"partition": "grid", "until": SMALLEST} if self.directions and coarsen is None else coarsen

    def make(
        self,
        in_channels: Width,
        hidden_channels: int,
        edge_dims: Sequence[Width | None],
        *,
        control: int,
        levels: int,
    ) -> SelectValues | CarryValues | SumValues | None:
        """Return the values of a model, ``None`` for none, or raise a ValueError if they do not suit it.

        Args:
            in_channels: Width of the input, or the sizes of columns of codes.
            hidden_channels: Width of the maps.
            edge_dims: Widths of the edge features of the levels that have weights of their own, ``None`` without any.
            control: Width of the control; ``0`` without any.
            levels: Number of levels.
        """
        if self.values == "select":
            return self._make_select(in_channels, hidden_channels, edge_dims, control, levels)
        if self.values == "sum":
            cell = SumCell(
                in_channels, self.value_channels, reach=self.value_reach, directions=self.directions, control=control
            )
            return SumValues(cell, in_channels, edge_dims)
        if self.directions:
            raise ValueError("directions are for values that are added up, values='sum'; leave it out.")
        return None

    def make_scale_law(self) -> ScaleLaw | None:
        """Return the law that training asks for, if it does."""
        if self.scale_law and not self.directions:
            raise ValueError("scale_law is for lattices, values='sum' with directions=True; leave it out.")
        return ScaleLaw() if self.scale_law else None

    def _make_select(
        self, in_channels: Width, hidden_channels: int, edge_dims: Sequence[Width | None], control: int, levels: int
    ) -> SelectValues | CarryValues:
        channels, gate = self.value_channels, self.value_gate
        if self.directions:
            raise ValueError("directions are for values that are added up; leave it out with values='select'.")
        if gate == "graph" and control:
            raise ValueError("value_gate='graph' is for values without control; build the model with conv=None.")
        if not self.value_carry:
            return SelectValues(
                in_channels, channels, hidden_channels, edge_dims, control=control, gate=gate, levels=levels
            )
        _check_carry(edge_dims, control, gate, levels)
        lengths = edge_dims[0] is not None
        return CarryValues(in_channels, channels, hidden_channels, lengths=lengths, reach=self.value_reach)


def _check_carry(edge_dims: Sequence[Width | None], control: int, gate: Gate, levels: int) -> None:
    if levels < 2:
        raise ValueError("value_carry carries values down from a coarse level; got levels=1.")
    if control or gate != "node":
        raise ValueError("value_carry is for values without control and with value_gate='node'; set conv=None.")
    if edge_dims[0] not in (None, 1) or any(width != 1 for width in edge_dims[1:]):
        raise ValueError(
            "With value_carry an edge has one feature, its length, or none, and a coarse edge one; got widths "
            f"{', '.join(str(width or 0) for width in edge_dims)}."
        )
