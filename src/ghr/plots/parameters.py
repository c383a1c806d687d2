"""Errors against the number of parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from ghr.plots.colours import COLOURS


@dataclass(frozen=True)
class Sized:
    """A model with its size and its errors.

    Args:
        label: Its name.
        group: Number of the group it belongs to; models of a group have one colour.
        parameters: Number of its parameters.
        errors: For titles of panels, mean and deviation; ``None`` where there is no error to show.
    """

    label: str
    group: int
    parameters: int
    errors: Mapping[str, tuple[float, float | None] | None]


def draw_parameters(models: Sequence[Sized], panels: Sequence[str]) -> Figure:
    """Draw errors over the number of parameters, a number beside every point that the legend explains.

    Args:
        models: What is drawn.
        panels: Titles of the panels, keys of all ``errors``.
    """
    figure = Figure(figsize=(5.5 * len(panels), 4.8), layout="constrained")
    all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
    colours = [COLOURS[model.group % len(COLOURS)] for model in models]
    for axes, title in zip(all_axes, panels, strict=True):
        for number, (model, colour) in enumerate(zip(models, colours, strict=True), start=1):
            value = model.errors[title]
            if value is not None:
                axes.errorbar(model.parameters, *value, fmt="o", color=colour, capsize=3)
                axes.annotate(str(number), (model.parameters, value[0]), (5, 4), textcoords="offset points")
        axes.set(xscale="log", title=title, xlabel="parameters")
        axes.margins(x=0.12)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    all_axes[0].set_ylabel("mean absolute error (hops)")
    if models:
        figure.legend(
            [all_axes[0].plot([], [], " ")[0] for _ in models],
            [f"{number} {model.label}" for number, model in enumerate(models, start=1)],
            loc="outside right center",
            frameon=False,
            handlelength=0,
            fontsize=9,
            labelcolor=colours,
        )
    return figure
