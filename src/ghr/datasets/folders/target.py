"""The target: in which table it is, and whether it is a number or a class."""

from collections.abc import Sequence

import numpy as np

from ghr.checks import check_choice
from ghr.datasets.folders.csv_table import Table
from ghr.datasets.folders.kinds import (
    MANY_WORDS,
    MISSING,
    check_mixture,
    encode_classes,
    find_words,
    is_number,
    read_numbers,
)
from ghr.datasets.folders.tables import Tables
from ghr.datasets.task import Task, TaskLevel


def find_level(tables: Tables, target: Sequence[str], level: str | None = None) -> TaskLevel:
    """Return the level of the targets: that of the table which has them as columns.

    Args:
        tables: The tables.
        target: Names of the targets.
        level: The level, where several tables have such columns.

    Raises:
        ValueError: Where no table has them, or several have and no level is given.
    """
    columns = {name: tables.list_columns(name) for name in tables.by_level}
    there = "; ".join(f"{tables.by_level[name].file}: {', '.join(columns[name]) or 'none'}" for name in columns)
    if level is not None:
        check_choice("level", level, Task.levels)
        columns = {name: found for name, found in columns.items() if name == level}
    missing = [name for name in target if not any(name in found for found in columns.values())]
    if missing:
        of_level = "" if level is None else f" of level {level!r}"
        raise ValueError(f"There is no column {missing[0]!r} to predict{of_level}. Columns that could be: {there}.")
    levels = [name for name, found in columns.items() if set(target) <= set(found)]
    if not levels:
        raise ValueError(f"The targets {', '.join(target)} must be columns of the same file. There are: {there}.")
    if len(levels) > 1:
        files = " and ".join(tables.by_level[name].file for name in levels)
        raise ValueError(
            f"{files} have a column {target[0]!r}; say which one is meant by the level, {' or '.join(levels)} "
            "(level, --level)."
        )
    return next(name for name in ("node", "edge", "graph") if name == levels[0])


def infer_classes(table: Table, target: Sequence[str], classes: bool | None = None) -> tuple[str, ...] | None:
    """Return the names of the classes of a target, or ``None`` where it holds numbers.

    Args:
        table: The table that has the target.
        target: Names of the targets; several must be numbers.
        classes: Whether whole numbers are classes; by default only words are.

    Raises:
        ValueError: Where a target is neither numbers nor classes, or is missing everywhere.
    """
    if len(target) > 1 and classes:
        raise ValueError(f"Several targets must be numbers, not classes; got {', '.join(target)}.")
    found = [_classes(table, name, classes) for name in target]
    words = [name for name, names in zip(target, found, strict=True) if names is not None]
    if len(target) > 1 and words:
        raise ValueError(f"{table.file}: several targets must be numbers, but {words[0]!r} holds words.")
    return found[0]


def encode_target(table: Table, target: Sequence[str], classes: tuple[str, ...] | None) -> np.ndarray:
    """Return the targets of all rows: numbers ``(N, C)``, NaN where missing, or classes ``(N)``, -1 where missing.

    Raises:
        ValueError: Where an entry is no number, or a class that is not known, with its line.
    """
    if classes is not None:
        return encode_classes(table, target[0], classes)
    return np.stack([_numbers(table, name) for name in target], axis=1)


def _classes(table: Table, name: str, classes: bool | None) -> tuple[str, ...] | None:
    entries = table.columns[name]
    if MISSING.issuperset(entries):
        raise ValueError(f"{table.file}: no row has the target {name!r}; training needs some.")
    numbers = None if name in table.words else read_numbers(table, name)
    if numbers is not None and not classes:
        return None
    if numbers is None and classes is False:
        row = table.find(name, lambda entry: name in table.words or not is_number(entry))
        raise ValueError(f"{table.locate(row)}: {name!r} holds words, which can only be classes; got {entries[row]!r}.")
    if numbers is None and not classes and name not in table.words:
        check_mixture(table, name, "classes", "--classes")
    if numbers is not None and (numbers != np.round(numbers))[~np.isnan(numbers)].any():
        row = int(np.flatnonzero((numbers != np.round(numbers)) & ~np.isnan(numbers))[0])
        raise ValueError(f"{table.locate(row)}: classes must be words or whole numbers; got {entries[row]!r}.")
    found = find_words(entries)
    if len(found) < 2:
        raise ValueError(f"{table.file}: all rows have the same class {name!r}, {found[0]!r}; training needs two.")
    if len(found) > max(MANY_WORDS, len(entries) // 2):
        raise ValueError(
            f"{table.file}: the target {name!r} has {len(found)} different classes in {len(entries)} rows; a model "
            "needs several rows of a class to learn it."
        )
    return found


def _numbers(table: Table, name: str) -> np.ndarray:
    entries = table.columns[name]
    numbers = read_numbers(table, name)
    if numbers is None:
        row = table.find(name, lambda entry: not is_number(entry))
        raise ValueError(f"{table.locate(row)}: the target {name!r} must be a number; got {entries[row]!r}.")
    large = np.flatnonzero(np.abs(numbers) > np.finfo(np.float32).max)
    if len(large):
        row = int(large[0])
        raise ValueError(
            f"{table.locate(row)}: the target {name!r} must be a finite number below 3.4e38; got {entries[row]!r}."
        )
    return numbers
