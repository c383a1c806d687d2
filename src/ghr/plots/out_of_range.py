"""The figure of the demo: errors by distance, and one graph with what is predicted on it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from torch import Tensor
from torch_geometric.data import Data

from ghr.files import replacing
from ghr.plots.colours import COLOURS
from ghr.plots.distances import draw_distances


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
    pictures = {"true distance from the source": graph["y"]}
    pictures |= {f"predicted by {name}": value for name, value in predictions.items()}
    figure = Figure(figsize=(5 + 3.5 * len(pictures), 3.9), layout="constrained")
    left, *others = figure.subplots(1, 1 + len(pictures), width_ratios=[1.4] + [1] * len(pictures))
    _draw_errors(left, errors, in_range)
    top = float(graph["y"][graph["mask"]].max())
    for axes, (title, value) in zip(others, pictures.items(), strict=True):
        points = draw_distances(axes, graph, value, top)
        axes.set_title(title)
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
