"""Errors by distance, as the commands print them."""

from collections.abc import Mapping
from typing import Any

from ghr.cli.table import table


def errors_table(errors: Mapping[str, Mapping[str, Any]], in_range: int) -> str:
    """Return a table with one row per model: the error at every distance, within the trained range and beyond it.

    Args:
        errors: For every row's name, what :func:`~ghr.datasets.mae_by_distance` returned.
        in_range: Largest distance seen in training.
    """
    distances = sorted({int(d) for error in errors.values() for d in error["by_distance"]})
    header = ["mean absolute error", *map(str, distances), f"in range (<= {in_range})", f"beyond (> {in_range})"]
    rows = [
        [
            name,
            *(_number(error["by_distance"].get(str(d), {}).get("mae")) for d in distances),
            _number(error["in_range"]),
            _number(error["out_of_range"]),
        ]
        for name, error in errors.items()
    ]
    return table(header, rows)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if value < 10 else f"{value:.1f}"
