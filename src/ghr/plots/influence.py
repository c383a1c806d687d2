"""How far models look, beside their errors at these distances."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from ghr.plots.colours import COLOURS

_FLOOR = 1e-6  # shares below it are not drawn


def draw_influence(
    profiles: Mapping[str, Mapping[str, Any]],
    errors: Mapping[str, Mapping[int, float]] | None = None,
    *,
    in_range: int | None = None,
    title: str = "",
    unit: str = "hops",
) -> Figure:
    """Draw the influence of a single node by its distance and, beside it, the error by distance.

    The range of a model is a dotted line; so is in grey what it would be if all nodes counted alike.

    Args:
        profiles: For every model's name, what :meth:`~ghr.analysis.Profile.describe` returns.
        errors: For every model's name, its mean absolute error at every distance; ``None`` where the data have no
            distances.
        in_range: Largest distance seen in training, shaded among the errors.
        title: Of the figure.
        unit: Of the errors.
    """
    count = 2 if errors else 1
    figure = Figure(figsize=(1.0 + 5.2 * count, 4.4), layout="constrained")
    panels = figure.subplots(1, count, squeeze=False)[0]
    _draw_shares(panels[0], profiles)
    if errors:
        _draw_errors(panels[1], errors, [*profiles], in_range, unit)
    if title:
        figure.suptitle(title)
    return figure


def _draw_shares(axes: Any, profiles: Mapping[str, Mapping[str, Any]]) -> None:
    even = [profile["even"] for profile in profiles.values() if profile["even"] is not None]
    for number, (name, profile) in enumerate(profiles.items()):
        colour = COLOURS[number % len(COLOURS)]
        seen = {int(hops): share for hops, share in profile["each"].items() if share >= _FLOOR}
        said = "no range" if profile["range"] is None else f"range {profile['range']:.1f}"
        axes.plot([*seen], [*seen.values()], marker=".", color=colour, label=f"{name}: {said}")
        if profile["range"] is not None:
            axes.axvline(profile["range"], color=colour, linestyle=":", linewidth=1.5)
    if even:
        middle = sum(even) / len(even)
        axes.axvline(middle, color="0.5", linestyle=":", linewidth=1.5, label=f"all nodes alike: {middle:.1f}")
    axes.set(xlabel="hops from the prediction", ylabel="share of the influence, of one node", yscale="log")
    axes.set_title("how far it looks")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=9)


def _draw_errors(
    axes: Any, errors: Mapping[str, Mapping[int, float]], order: list[str], in_range: int | None, unit: str
) -> None:
    for name, found in errors.items():
        colour = COLOURS[order.index(name) % len(COLOURS)] if name in order else "0.5"
        distances = sorted(found)
        axes.plot(distances, [found[hops] for hops in distances], marker=".", color=colour, label=name)
    if in_range is not None:
        axes.axvspan(-0.5, in_range + 0.5, color="#009e73", alpha=0.08, zorder=0, linewidth=0)
    axes.set(xlabel="true distance (hops)", ylabel=f"mean absolute error ({unit})", ylim=(0, None))
    axes.set_title("how wrong it is")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=9)
