"""Errors by distance, as the commands print them."""

from collections.abc import Mapping, Sequence
from typing import Any

from ghr.cli.table import table

MOST_COLUMNS = 12  # with more, neighbouring distances share one


def errors_table(errors: Mapping[str, Mapping[str, Any]], in_range: int | None) -> str:
    """Return a table with one row per model: the error at every distance, within the trained range and beyond it.

    Many distances are put together, a few in each column, none of them on both sides of `in_range`.

    Args:
        errors: For every row's name, what :func:`~ghr.datasets.mae_by_distance` returned.
        in_range: Largest distance seen in training; ``None`` where training has no cap.
    """
    distances = sorted({int(distance) for error in errors.values() for distance in error["by_distance"]})
    groups = _group(distances, in_range)
    header = ["mean absolute error", *groups]
    if in_range is not None:
        header += [f"in range (<= {in_range})", f"out of range (> {in_range})"]
    rows = []
    for name, error in errors.items():
        row = [name, *(_number(_mean(error["by_distance"], members)) for members in groups.values())]
        rows.append(row if in_range is None else [*row, _number(error["in_range"]), _number(error["out_of_range"])])
    return table(header, rows)


def _group(distances: Sequence[int], in_range: int | None) -> dict[str, list[int]]:
    """Return the distances of every column, by its title."""
    width = -(-len(distances) // MOST_COLUMNS)
    end = in_range or 0
    groups: dict[int, list[int]] = {}
    for distance in distances:
        groups.setdefault(-((end - distance) // width), []).append(distance)
    return {_title(members): members for members in groups.values()}


def _title(members: Sequence[int]) -> str:
    return str(members[0]) if len(members) == 1 else f"{members[0]}-{members[-1]}"


def _mean(by_distance: Mapping[str, Mapping[str, Any]], members: Sequence[int]) -> float | None:
    found = [by_distance[str(distance)] for distance in members if str(distance) in by_distance]
    count = sum(group["count"] for group in found)
    return sum(group["mae"] * group["count"] for group in found) / count if count else None


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if value < 10 else f"{value:.1f}"
