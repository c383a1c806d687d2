"""From node states to predictions: for nodes, graphs or edges."""

from torch import nn

from ghr.nn.readout.base import Readout, ReadoutInput
from ghr.nn.readout.edge import EdgeReadout
from ghr.nn.readout.graph import GraphReadout
from ghr.nn.readout.node import NodeReadout
from ghr.nn.readout.proportional import ProportionalReadout

READOUTS: dict[str, type[Readout]] = {"node": NodeReadout, "graph": GraphReadout, "edge": EdgeReadout}


def make_readout(name: str, channels: int, out_channels: int, edge_dim: int | None) -> Readout:
    """Return a readout by its shorthand: ``"node"``, ``"graph"``, ``"edge"``, or with ``"-mlp"`` behind."""
    kind, _, suffix = name.partition("-")
    if kind not in READOUTS or suffix not in ("", "mlp"):
        known = ", ".join(f"{each}, {each}-mlp" for each in READOUTS)
        raise ValueError(f"Unknown readout {name!r}; known are {known}, or pass a readout object.")
    layers = 2 if suffix else 1
    if kind == "edge":
        return EdgeReadout(channels, out_channels, edge_dim=edge_dim, layers=layers)
    if kind == "graph":
        return GraphReadout(channels, out_channels, layers=layers)
    return NodeReadout(channels, out_channels, layers=layers)


def check_readout(readout: Readout) -> Readout:
    """Return a readout object, or raise a ValueError for something else."""
    if not isinstance(readout, nn.Module):
        raise ValueError(f"readout must be one of {', '.join(READOUTS)} or a readout object; got {readout!r}.")
    return readout


def readout_name(readout: Readout) -> str | None:
    """Return the shorthand of a readout, or ``None`` for one that has none."""
    for name, kind in READOUTS.items():
        if type(readout) is kind:
            return name if readout.layers == 1 else f"{name}-mlp"
    return None


__all__ = [
    "READOUTS",
    "EdgeReadout",
    "GraphReadout",
    "NodeReadout",
    "ProportionalReadout",
    "Readout",
    "ReadoutInput",
    "check_readout",
    "make_readout",
    "readout_name",
]
