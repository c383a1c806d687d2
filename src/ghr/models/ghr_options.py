"""Options of GHR by name: what they suggest for each other, and what a benchmark may suggest beside them."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any

from ghr.models.coarsening import COARSENING
from ghr.models.values import SMALLEST

OF_STATES = ("hidden_channels", "conv", "steps", "t_low", "readout", "time_informed", "checkpoint")
# What suits states, such as a readout with a constant, does not suit values.
OF_SELECT, OF_SUM = ("steps", "t_low", "checkpoint"), ("checkpoint",)


def suggested_names(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return which options a benchmark may suggest for a model with these options."""
    values, levels = options.get("values"), options.get("levels")
    names: tuple[str, ...] = OF_STATES
    if isinstance(values, str):
        names = OF_SELECT if values == "select" else OF_SUM
    if isinstance(levels, Integral) and levels == 1:
        return names
    chosen = "partition" in options or options.get("coarsen") is not None
    inner = ("t_high", "pool") if values is None else ()
    coarsening = [name for name in COARSENING if name != "edge_reduce" or not options.get("value_carry")]
    return (*names, *inner, *(() if chosen else coarsening))


def complete_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options by name, with those of the coarsening and of directions that the values among them suggest."""
    given = dict(options)
    if options.get("values") == "sum" and options.get("partition") == "grid" and options.get("block", 2) == 2:
        given.setdefault("directions", True)
        if "levels" not in options:
            given.setdefault("until", SMALLEST)
    if options.get("value_carry") is True and options.get("coarsen") is None and options.get("levels") != 1:
        given.setdefault("edge_reduce", "centre_paths")
    return given
