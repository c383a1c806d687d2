"""From node states to predictions: for nodes, graphs or edges."""

from torch import nn

from ghr.checks import show
from ghr.nn.readout.base import Readout, ReadoutInput
from ghr.nn.readout.bilinear import BilinearReadout
from ghr.nn.readout.edge import EdgeReadout
from ghr.nn.readout.graph import GraphReadout
from ghr.nn.readout.mixture import MixtureReadout
from ghr.nn.readout.node import NodeReadout
from ghr.nn.readout.proportional import ProportionalReadout
from ghr.nn.readout.scaled import ScaledReadout

READOUTS: dict[str, type[Readout]] = {"node": NodeReadout, "graph": GraphReadout, "edge": EdgeReadout}


def make_readout(readout: str | Readout, channels: int, out_channels: int, edge_dim: int | None) -> Readout:
    """Return a readout by its shorthand, or the one that is given if it predicts as many columns as it should.

    Args:
        readout: ``"node"``, ``"graph"``, ``"edge"``, or with ``"-mlp"`` behind; or a readout object.
        channels: Width of the node states.
        out_channels: Width of the predictions.
        edge_dim: Width of the encoded edge features, ``None`` without any.
    """
    if not isinstance(readout, str):
        return _check_readout(readout, channels, out_channels, edge_dim)
    kind, _, suffix = readout.partition("-")
    if kind not in READOUTS or suffix not in ("", "mlp"):
        known = ", ".join(f"{name}, {name}-mlp" for name in READOUTS)
        raise ValueError(f"Unknown readout {show(readout)}; known are {known}, or pass a readout object.")
    layers = 2 if suffix else 1
    if kind == "edge":
        return EdgeReadout(channels, out_channels, edge_dim=edge_dim, layers=layers)
    if kind == "graph":
        return GraphReadout(channels, out_channels, layers=layers)
    return NodeReadout(channels, out_channels, layers=layers)


def readout_name(readout: Readout, edge_dim: int | None) -> str | None:
    """Return the shorthand that makes a readout again in a model with such edge features, or ``None``."""
    if isinstance(readout, EdgeReadout) and readout.edge_dim != edge_dim:
        return None
    for name, kind in READOUTS.items():
        if type(readout) is kind:
            return name if readout.layers == 1 else f"{name}-mlp"
    return None


def _check_readout(readout: Readout, channels: int, out_channels: int, edge_dim: int | None) -> Readout:
    """Return a readout object, or raise a ValueError if it says that it does not fit."""
    if not isinstance(readout, nn.Module):
        raise ValueError(f"readout must be one of {', '.join(READOUTS)} or a readout object; got {show(readout)}.")
    width = getattr(readout, "out_channels", out_channels)
    if width != out_channels:
        raise ValueError(f"The readout predicts {width} columns, but out_channels is {out_channels}.")
    read = getattr(readout, "channels", channels)
    if read != channels:
        raise ValueError(f"The readout reads states of {read} channels, but the model has {channels} hidden channels.")
    wanted = readout.edge_dim if isinstance(readout, EdgeReadout) else None
    if wanted not in (None, edge_dim):
        has = "none" if edge_dim is None else f"{edge_dim}, as its message passing encodes them"
        raise ValueError(f"EdgeReadout(edge_dim={wanted}) reads {wanted} edge features, but the model has {has}.")
    return readout


__all__ = [
    "READOUTS",
    "BilinearReadout",
    "EdgeReadout",
    "GraphReadout",
    "MixtureReadout",
    "NodeReadout",
    "ProportionalReadout",
    "Readout",
    "ReadoutInput",
    "ScaledReadout",
    "make_readout",
    "readout_name",
]
