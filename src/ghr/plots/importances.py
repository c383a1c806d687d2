"""How much every setting of a search matters."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from ghr.plots.colours import COLOURS


def draw_importances(importances: Mapping[str, float], title: str) -> Figure:
    """Draw the share of every setting as a bar, the largest on top.

    Args:
        importances: For names of settings, their shares, which add up to one.
        title: Of the figure.
    """
    figure = Figure(figsize=(6, 1.2 + 0.35 * len(importances)), layout="constrained")
    axes = figure.subplots()
    ordered = sorted(importances.items(), key=lambda item: item[1])
    bars = axes.barh([name for name, _ in ordered], [share for _, share in ordered], color=COLOURS[0])
    axes.bar_label(bars, fmt="%.2f", padding=3)
    axes.set(title=title, xlabel="importance for the validation score", xlim=(0, 1.1))
    axes.grid(axis="x", alpha=0.3)
    return figure
