"""A graph with the distance of every node from its source as a colour."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from torch import Tensor
from torch_geometric.data import Data

from ghr.datasets.splits import Examples


def draw_distances(axes: Any, graph: Data, value: Tensor, top: float) -> Any:
    """Draw the nodes within reach in the colours of their values, the source as a star; return the points.

    Args:
        axes: Where to draw.
        graph: A graph of :class:`~ghr.datasets.RGGSSSP`.
        value: One number per node :math:`(N, 1)`, clipped to what the colours show.
        top: The value of the last colour; the first is zero.
    """
    pos, mask, source = graph["pos"].numpy(), graph["mask"].numpy(), int(graph["x"][:, 0].argmax())
    shown = np.clip(value.detach().cpu().squeeze(1).numpy()[mask], 0, top)
    edges = list(pos[graph["edge_index"].T.numpy()])
    axes.add_collection(LineCollection(edges, colors="0.85", linewidths=0.5, zorder=0))
    points = axes.scatter(*pos[mask].T, c=shown, cmap="viridis", vmin=0, vmax=top, s=42)
    axes.scatter(*pos[source], marker="*", s=260, color="#d55e00", edgecolors="white", label="source")
    axes.set(xticks=[], yticks=[], aspect="equal")
    for spine in axes.spines.values():
        spine.set_visible(False)
    return points


def draw_predictions(graph: Data, predictions: Mapping[str, Tensor], in_range: int) -> Figure:
    """Draw the true distances on a graph beside those that several models predict.

    Args:
        graph: A graph of :class:`~ghr.datasets.RGGSSSP`.
        predictions: For every model's name, the distances predicted :math:`(N, 1)`.
        in_range: Largest distance seen in training, marked in the scale.
    """
    true = graph["y"]
    top = float(true[graph["mask"]].max())
    figure = Figure(figsize=(4.2 * (1 + len(predictions)) + 1, 4.6), layout="constrained")
    all_axes = figure.subplots(1, 1 + len(predictions), squeeze=False)[0]
    pictures = {f"true distance, up to {top:.0f} hops": true}
    pictures |= {f"predicted by {name}": value for name, value in predictions.items()}
    for axes, (title, value) in zip(all_axes, pictures.items(), strict=True):
        points = draw_distances(axes, graph, value, top)
        axes.set_title(title, fontsize=11)
    bar = figure.colorbar(points, ax=list(all_axes), label="hops", shrink=0.8)
    bar.ax.axhline(in_range, color="white", linewidth=2)
    bar.ax.text(-0.3, in_range, "trained to", ha="right", va="center", fontsize=9)
    return figure


def find_furthest(graphs: Examples) -> Data:
    """Return the graph of :class:`~ghr.datasets.RGGSSSP` with the largest distance; of several, the largest graph."""
    every = [graphs[index] for index in range(len(graphs))]
    furthest: Data = max(every, key=lambda graph: (int(graph.hops.max()), graph.num_nodes))
    return furthest
