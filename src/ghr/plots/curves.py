"""Curves of the error by distance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from ghr.plots.colours import COLOURS

_DASHES = ("-", "--", ":", "-.")


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


def draw_curves(panels: Sequence[Panel]) -> Figure:
    """Draw the error by distance, one curve per label with a band of one deviation, the trained range shaded.

    The axis of errors ends at the largest distance: a model that is further off is as good as lost.
    """
    figure = Figure(figsize=(1.5 + 5.5 * len(panels), 5.0), layout="constrained")
    all_axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axes, panel in zip(all_axes, panels, strict=True):
        _draw_panel(axes, panel)
    # The panels share this axis, so its end is known only when all are drawn.
    all_axes[0].set_ylim(0, min(all_axes[0].get_ylim()[1], max(axes.get_xlim()[1] for axes in all_axes)))
    all_axes[0].set_ylabel("mean absolute error (hops)")
    for axes in all_axes:
        if axes.get_legend_handles_labels()[1]:
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False, fontsize=9)
    return figure


def _draw_panel(axes: Any, panel: Panel) -> None:
    last = panel.in_range or 0
    for number, (label, curve) in enumerate(panel.curves.items()):
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
