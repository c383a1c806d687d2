"""Curves of the error by distance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from matplotlib.figure import Figure

from ghr.plots.colours import COLOURS

_DASHES = ("-", "--", ":", "-.")
_LEAST, _MOST = 1e5, 1e7  # how far down a logarithmic axis goes; one error of rounding would flatten all others


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Args:
        title: Above it.
        in_range: Largest distance seen in training; ``None`` where all were.
        curves: For every label, mean and deviation of the error at every distance; a deviation may be ``None``.
        by: What the error is drawn over.
    """

    title: str
    in_range: int | None
    curves: Mapping[str, Mapping[int, tuple[float, float | None]]]
    by: str = "true distance (hops)"


def draw_curves(panels: Sequence[Panel], labels: Sequence[str] = (), *, logarithmic: bool = False) -> Figure:
    """Draw the error by distance, one curve per label with a band of one deviation, the trained range shaded.

    The axis of errors ends at the largest distance: a model that is further off is as good as lost.

    Args:
        panels: Pairs of axes, three in a row, or two where there are more.
        labels: Labels of all panels: each then has the same line in all of them, and one legend tells them apart. By
            default every panel has lines and a legend of its own.
        logarithmic: Whether errors are drawn by their logarithms, down to a hundred-thousandth of the largest, or
            further where most of a curve would else be hidden.
    """
    columns = len(panels) if len(panels) <= 3 else 2
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(1.5 + 5.5 * columns, 5.0 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
    all_axes = list(grid.flat)[: len(panels)]
    for axes, panel in zip(all_axes, panels, strict=True):
        _draw_panel(axes, panel, labels or list(panel.curves))
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    # The panels share this axis, so its end is known only when all are drawn.
    top = min(all_axes[0].get_ylim()[1], max(axes.get_xlim()[1] for axes in all_axes))
    if logarithmic:
        all_axes[0].set_yscale("log")
        middles = [
            median(mean for mean, _ in curve.values()) for panel in panels for curve in panel.curves.values() if curve
        ]
        all_axes[0].set_ylim(max(min([top / _LEAST, *(middle / 3 for middle in middles)]), top / _MOST), top)
    else:
        all_axes[0].set_ylim(0, top)
    for row in grid:
        row[0].set_ylabel("mean absolute error (hops)")
    if labels:
        _name_lines(figure, all_axes, labels)
        return figure
    for axes in all_axes:
        if axes.get_legend_handles_labels()[1]:
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False, fontsize=9)
    return figure


def _name_lines(figure: Figure, all_axes: Sequence[Any], labels: Sequence[str]) -> None:
    """Put one legend below all panels, in the order of the labels."""
    drawn = {label: line for axes in all_axes for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    shown = [label for label in labels if label in drawn]
    if shown:
        lines = [drawn[label] for label in shown]
        figure.legend(lines, shown, loc="outside lower center", ncols=4, frameon=False, fontsize=9)


def _draw_panel(axes: Any, panel: Panel, labels: Sequence[str]) -> None:
    last = panel.in_range or 0
    for label, curve in panel.curves.items():
        number = labels.index(label)
        colour, dash = COLOURS[number % len(COLOURS)], _DASHES[number // len(COLOURS) % len(_DASHES)]
        distances = sorted(curve)
        mean = [curve[d][0] for d in distances]
        deviation = [curve[d][1] or 0.0 for d in distances]
        if any(deviation):
            low = [value - by for value, by in zip(mean, deviation, strict=True)]
            high = [value + by for value, by in zip(mean, deviation, strict=True)]
            axes.fill_between(distances, low, high, color=colour, alpha=0.12, linewidth=0)
        few = len(distances) <= 12
        wider = max(0, min(5, len(panel.curves)) - 1 - number) if few else 0  # shows below others where they agree
        style = {"marker": "o" if few else None, "markersize": 4 + 1.5 * wider, "linewidth": 1.5 + 0.6 * wider}
        axes.plot(distances, mean, dash, color=colour, label=label, **style)
        last = max([last, *distances])
    first = -0.5
    if panel.in_range is None:
        first = min((min(curve) for curve in panel.curves.values() if curve), default=0) - 0.5
    else:
        axes.axvspan(first, panel.in_range + 0.5, color="#009e73", alpha=0.08, zorder=0, linewidth=0)
        axes.text(panel.in_range / 2, 0.97, "seen in training", transform=axes.get_xaxis_transform(), ha="center",
                  va="top", color="0.35")  # fmt: skip
    axes.set(title=panel.title, xlabel=panel.by, xlim=(first, last + 0.5))
    axes.grid(alpha=0.3)
