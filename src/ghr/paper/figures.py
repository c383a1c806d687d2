"""Figures of results, drawn without a display."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from torch import Tensor
from torch_geometric.data import Data

from ghr.files import replacing

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")


def draw_out_of_range(
    path: str | Path,
    errors: Mapping[str, Mapping[str, Any]],
    in_range: int,
    graph: Data,
    predictions: Mapping[str, Tensor],
) -> None:
    """Draw the error by distance of several models, and one graph with its true and predicted distances.

    Args:
        path: The PNG file to write.
        errors: For every model's name, what :func:`~ghr.datasets.mae_by_distance` returned.
        in_range: Largest distance seen in training.
        graph: A graph of :class:`~ghr.datasets.RGGSSSP`.
        predictions: For some models' names, the distances predicted for it :math:`(N, 1)`.
    """
    shown = {"true distance from the source": graph["y"], **predictions}
    figure = Figure(figsize=(5 + 3.5 * len(shown), 3.9), layout="constrained")
    left, *others = figure.subplots(1, 1 + len(shown), width_ratios=[1.4] + [1] * len(shown))
    _draw_errors(left, errors, in_range)
    mask = graph.mask.numpy()
    top = float(graph["y"][graph.mask].max())
    for axes, (title, value) in zip(others, shown.items(), strict=True):
        points = draw_graph(axes, graph, value.squeeze(1).detach().cpu().numpy(), mask, top)
        axes.set_title(title if value is graph["y"] else f"predicted by {title}")
    figure.colorbar(points, ax=others, label="hops", shrink=0.85)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=130)


def _draw_errors(axes: Any, errors: Mapping[str, Mapping[str, Any]], in_range: int) -> None:
    for colour, (name, error) in zip(COLOURS, errors.items(), strict=False):
        distances = sorted(map(int, error["by_distance"]))
        axes.plot(distances, [error["by_distance"][str(d)]["mae"] for d in distances], "o-", color=colour, label=name)
    axes.axvspan(in_range + 0.5, distances[-1] + 0.5, color="0.93", zorder=0)
    middle = (in_range + distances[-1] + 1) / 2
    axes.text(middle, 1.02, "not seen in training", transform=axes.get_xaxis_transform(), ha="center", color="0.4")
    axes.set(xlabel="true distance (hops)", ylabel="mean absolute error (hops)", xlim=(-0.5, distances[-1] + 0.5))
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", frameon=False)


def draw_graph(axes: Any, graph: Data, value: Any, mask: Any, top: float) -> Any:
    """Draw the masked nodes of a graph in the colours of their values, its source as a star; return the points.

    Args:
        axes: Where to draw.
        graph: A graph of :class:`~ghr.datasets.RGGSSSP`.
        value: One number per node, clipped to what the colours show.
        mask: The nodes to draw.
        top: The value of the last colour; the first is zero.
    """
    assert graph.pos is not None
    assert graph.edge_index is not None
    assert graph.x is not None
    pos, source = graph.pos.numpy(), int(graph.x[:, 0].argmax())
    axes.add_collection(LineCollection(list(pos[graph.edge_index.T.numpy()]), colors="0.85", linewidths=0.5, zorder=0))
    points = axes.scatter(*pos[mask].T, c=np.clip(value[mask], 0, top), cmap="viridis", vmin=0, vmax=top, s=42)
    axes.scatter(*pos[source], marker="*", s=260, color="#d55e00", edgecolors="white", label="source")
    axes.set(xticks=[], yticks=[], aspect="equal")
    for spine in axes.spines.values():
        spine.set_visible(False)
    return points
