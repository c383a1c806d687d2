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
    return draw_all_importances({title: importances})


def draw_all_importances(panels: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw the shares of several searches side by side.

    Args:
        panels: For every title, the shares, as in :func:`draw_importances`.
    """
    most = max((len(importances) for importances in panels.values()), default=0)
    figure = Figure(figsize=(6 * max(1, len(panels)), 1.2 + 0.35 * most), layout="constrained")
    all_axes = figure.subplots(1, max(1, len(panels)), squeeze=False)[0]
    for axes, (title, importances) in zip(all_axes, panels.items(), strict=False):
        ordered = sorted(importances.items(), key=lambda item: item[1])
        bars = axes.barh([name for name, _ in ordered], [share for _, share in ordered], color=COLOURS[0])
        axes.bar_label(bars, fmt="%.2f", padding=3)
        axes.set(title=title, xlabel="importance for the validation score", xlim=(0, 1.1))
        axes.grid(axis="x", alpha=0.3)
    return figure
