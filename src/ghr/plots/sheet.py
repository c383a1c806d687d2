"""A sheet of sample graphs, coloured by target."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray
from torch_geometric.data import Data

from ghr.files import replacing
from ghr.plots.layout import is_lattice, place
from ghr.progress import track

COLUMNS = 4


def draw_sheet(path: str | Path, graphs: Sequence[Data], *, title: str, unit: str, scale: float = 1.0) -> None:
    """Draw graphs side by side, every node in the colour of its target, or of its graph's.

    Lattices are drawn as images, other graphs where :func:`~ghr.plots.layout.place` puts them. Nodes outside a
    graph's ``mask`` are grey. If the first column of ``x`` marks a single node, it gets a star.

    Args:
        path: The PNG file to write.
        graphs: The graphs, with targets ``y``; of several columns the first is shown.
        title: Written above.
        unit: Name of the targets' unit.
        scale: What targets are multiplied by to have that unit.
    """
    rows = math.ceil(len(graphs) / COLUMNS)
    figure = Figure(figsize=(3.1 * COLUMNS, 3.0 * rows + 0.5), layout="constrained")
    panels = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    values = [scale * graph["y"][:, 0].double().numpy() for graph in graphs]
    counted = [value[_mask(graph)] if len(value) > 1 else value for graph, value in zip(graphs, values, strict=True)]
    limits = {"vmin": min(map(np.min, counted)), "vmax": max(map(np.max, counted))}
    for axes in panels:
        axes.set_axis_off()
    drawings = list(zip(panels, graphs, values, counted, strict=False))
    for axes, graph, value, seen in track(drawings, "Drawing", unit="graph"):
        drawn = _draw(axes, graph, np.broadcast_to(value, len(_mask(graph))), limits)
        axes.set_title(f"{graph.num_nodes} nodes, {_range(seen)} {unit}", fontsize=9)
    figure.colorbar(drawn, ax=list(panels), label=unit, shrink=0.6)
    figure.suptitle(title)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110)


def _draw(axes: Any, graph: Data, value: NDArray[Any], limits: dict[str, Any]) -> Any:
    if is_lattice(graph):
        size = math.isqrt(len(value))
        return axes.imshow(value.reshape(size, size), cmap="viridis", **limits)
    places, mask = place(graph), _mask(graph)
    dot = float(np.clip(2500 / len(value), 6, 40))
    axes.add_collection(LineCollection(list(places[graph["edge_index"].T.numpy()]), colors="0.75", linewidths=0.7))
    axes.scatter(*places[~mask].T, color="0.85", s=dot)
    points = axes.scatter(*places[mask].T, c=value[mask], cmap="viridis", s=dot, zorder=2, **limits)
    mark = np.flatnonzero(graph["x"][:, 0].numpy() == 1)
    if len(mark) == 1:
        axes.scatter(*places[mark].T, marker="*", s=130, color="#d55e00", edgecolors="white", zorder=3)
    axes.margins(0.05)
    axes.set_aspect("equal", adjustable="datalim")
    return points


def _range(values: NDArray[Any]) -> str:
    return f"{values[0]:.3g}" if len(values) == 1 else f"{values.min():.3g} to {values.max():.3g}"


def _mask(graph: Data) -> NDArray[np.bool_]:
    return np.asarray(graph["mask"].numpy() if "mask" in graph else np.ones(graph.num_nodes or 0, np.bool_))
