"""How predictions are read from values."""

from ghr.models.values.carry import CarryValues
from ghr.models.values.select import SelectValues
from ghr.models.values.sum import SumValues
from ghr.nn.readout import READOUTS, BilinearReadout, MixtureReadout, Readout, make_readout


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
