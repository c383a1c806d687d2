"""How values move within a global step, beside the state that controls them."""

from collections.abc import Sequence
from typing import Any

from ghr.checks import check_choice, check_flag, check_whole
from ghr.models.settle import MOST_STEPS
from ghr.models.values.carry import CarryValues
from ghr.models.values.select import GATES, Gate, SelectValues
from ghr.models.values.sum import SumValues
from ghr.models.values.update import ValueState, ValueUpdate
from ghr.nn.encoder import MOST_WIDTH, Width, check_map
from ghr.nn.readout import READOUTS, BilinearReadout, MixtureReadout, Readout, make_readout
from ghr.nn.values import SumCell

MOST_REACH = 16  # a stencil has the square of twice as many matrices
VALUES = ("select", "sum")


def check_value_options(
    values: Any, channels: Any, gate: Any, reach: Any, directions: Any, carry: Any
) -> tuple[int, int]:
    """Return the number of values and their reach, or raise a ValueError if an option that concerns values is wrong."""
    if values is not None:
        check_choice("values", values, VALUES)
    check_choice("value_gate", gate, GATES)
    check_flag("directions", directions)
    if check_flag("value_carry", carry) and values != "select":
        raise ValueError("value_carry is for values that are chosen, values='select'; leave it out.")
    channels = check_whole("value_channels", channels, most=MOST_WIDTH)
    check_map("value_channels", channels, channels)
    return channels, check_whole("value_reach", reach, most=MOST_STEPS if carry else MOST_REACH)


def make_values(
    values: str,
    in_channels: Width,
    channels: int,
    hidden_channels: int,
    edge_dims: Sequence[Width | None],
    control: int,
    *,
    gate: Gate,
    reach: int,
    directions: bool,
    carry: bool,
    levels: int,
) -> SelectValues | CarryValues | SumValues:
    """Return the values of a model; arguments as in :class:`~ghr.GHR`, and checked."""
    if values == "select":
        if directions:
            raise ValueError("directions are for values that are added up; leave it out with values='select'.")
        if gate == "graph" and control:
            raise ValueError("value_gate='graph' is for values without control; build the model with conv=None.")
        if carry:
            _check_carry(edge_dims, control, gate, levels)
            return CarryValues(in_channels, channels, hidden_channels, lengths=edge_dims[0] is not None, reach=reach)
        return SelectValues(
            in_channels, channels, hidden_channels, edge_dims, control=control, gate=gate, levels=levels
        )
    cell = SumCell(in_channels, channels, reach=reach, directions=directions, control=control)
    return SumValues(cell, in_channels, edge_dims)


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


def make_value_readout(
    values: SelectValues | CarryValues | SumValues,
    readout: str | Readout,
    control: int,
    out_channels: int,
    edge_dim: int | None,
) -> Readout:
    """Return the readout of a model with values, by its shorthand or as it is given.

    ``"node"``, ``"graph"`` and ``"edge"`` read the values alone, those with ``"-mlp"`` values and control together.
    """
    if isinstance(readout, str) and readout in READOUTS:
        if isinstance(values, SumValues):
            return BilinearReadout(readout, values.in_channels, values.channels, out_channels)
        return MixtureReadout(
            readout, values.channels, out_channels, lean=isinstance(values, SelectValues) and values.gate == "graph"
        )
    return make_readout(readout, control + values.channels, out_channels, edge_dim)


__all__ = [
    "CarryValues",
    "Gate",
    "SelectValues",
    "SumValues",
    "ValueState",
    "ValueUpdate",
    "make_value_readout",
    "make_values",
]
