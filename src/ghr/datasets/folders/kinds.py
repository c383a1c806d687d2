"""What a column of text holds: numbers or words."""

import re
from collections.abc import Sequence
from itertools import islice

import numpy as np

from ghr.datasets.folders.csv_table import Table
from ghr.datasets.folders.schema import Column

MISSING = frozenset(["", "NaN", "nan", "NAN", "NA", "N/A", "null", "NULL"])
"""Entries that stand for nothing. "Na" is sodium, and "None" may be a word."""
MANY_WORDS = 20  # from here on a word on every other row is a name, not a feature


def parse_numbers(entries: Sequence[str]) -> np.ndarray | None:
    """Return the numbers of a column, NaN where there is none, or ``None`` where an entry is no number."""
    try:
        numbers = np.fromiter(map(float, entries), dtype=np.float64, count=len(entries))
    except ValueError:
        try:
            known = (float("nan" if entry in MISSING else entry) for entry in entries)
            numbers = np.fromiter(known, dtype=np.float64, count=len(entries))
        except ValueError:
            return None
    return None if "_" in ",".join(entries) else numbers  # Python reads 1_000 as a number, people do not


def read_numbers(table: Table, name: str) -> np.ndarray | None:
    """Return the numbers of a column of a table, which are looked for once only; see :func:`parse_numbers`."""
    if name not in table.parsed:
        table.parsed[name] = parse_numbers(table.columns[name])
    return table.parsed[name]


def infer_column(table: Table, name: str, *, words: bool = False) -> Column:
    """Return the kind of a column of features: numbers, or words with their codes in sorted order.

    Args:
        table: The table.
        name: The column.
        words: Read it as words, whatever it looks like.

    Raises:
        ValueError: Where an entry is missing or not finite, where numbers and words are mixed, or where nearly every
            row has a word of its own.
    """
    entries = table.columns[name]
    declared = words or name in table.words
    numbers = None if declared else read_numbers(table, name)
    check_missing(table, name)
    if numbers is not None:
        check_finite(table, name, numbers)
        return Column(name)
    if not declared:
        check_mixture(table, name, "categorical", "--categorical " + name)
    found = find_words(entries)
    if not words and len(found) > max(MANY_WORDS, len(entries) // 2):
        raise ValueError(
            f"{table.file}: the column {name!r} has {len(found)} different words in {len(entries)} rows, which looks "
            f"like names and not like a feature; leave it out (ignore, --ignore {name}) or insist on it (categorical, "
            f"--categorical {name})."
        )
    return Column(name, words=found)


def encode_column(table: Table, column: Column) -> np.ndarray:
    """Return a column as its kind says: numbers as float64, or the codes of words as int64.

    Raises:
        ValueError: Where an entry is missing, no finite number, or a word that is not known, with its line.
    """
    entries = table.columns[column.name]
    check_missing(table, column.name)
    if column.words is not None:
        return _codes(table, column.name, column.words)
    numbers = read_numbers(table, column.name)
    if numbers is None:
        row = table.find(column.name, lambda entry: not is_number(entry))
        raise ValueError(f"{table.locate(row)}: {column.name!r} must be a number; got {entries[row]!r}.")
    check_finite(table, column.name, numbers)
    return numbers


def encode_classes(table: Table, name: str, classes: tuple[str, ...]) -> np.ndarray:
    """Return the number of every row's class, -1 where there is none.

    Raises:
        ValueError: Where a class is not known, with its line.
    """
    return _codes(table, name, classes, missing=-1)


def find_words(entries: Sequence[str]) -> tuple[str, ...]:
    """Return the different words of a column, those that are missing aside, in order: numbers as numbers."""
    found = {simplify(entry) for entry in set(entries) - MISSING}
    return (
        tuple(sorted(found, key=lambda word: (float(word), word)))
        if all(map(is_number, found))
        else (tuple(sorted(found)))
    )


def simplify(entry: str) -> str:
    """Return a word without a fraction of zero: the class 1 is often written 1.0 by other programs."""
    return entry.partition(".")[0] if re.fullmatch(r"-?[0-9]+\.0+", entry) else entry


def is_number(entry: str) -> bool:
    """Whether an entry is a number, or missing."""
    return parse_numbers([entry]) is not None


def check_missing(table: Table, name: str) -> None:
    """Raise a ValueError with the line where a feature is missing: a zero in its place would be invented."""
    entries = table.columns[name]
    if not MISSING.isdisjoint(entries):
        row = table.find(name, MISSING.__contains__)
        raise ValueError(
            f"{table.locate(row)}: the feature {name!r} is missing ({entries[row]!r}); fill it in, or leave the column "
            f"out (ignore, --ignore {name})."
        )


def check_finite(table: Table, name: str, numbers: np.ndarray) -> None:
    """Raise a ValueError with the line where a feature is not finite, or too large for the models' 32 bits."""
    bad = np.flatnonzero(~(np.abs(numbers) <= np.finfo(np.float32).max))
    if len(bad):
        row = int(bad[0])
        raise ValueError(
            f"{table.locate(row)}: {name!r} must be a finite number below 3.4e38; got {table.columns[name][row]!r}."
        )


def check_mixture(table: Table, name: str, option: str, flag: str) -> None:
    """Raise a ValueError where a column holds numbers and words: one typing error would make words of all numbers."""
    entries = table.columns[name]
    distinct = set(entries) - MISSING
    numbers = {entry for entry in distinct if is_number(entry)}
    if numbers and numbers != distinct:
        row = table.find(name, lambda entry: entry in distinct and entry not in numbers)
        number = next(entry for entry in entries if entry in numbers)
        raise ValueError(
            f"{table.locate(row)}: {name!r} is no number here ({entries[row]!r}), but it is elsewhere ({number!r}); "
            f"correct it, or read the whole column as words ({option}, {flag})."
        )


def list_words(words: Sequence[str], most: int = 10) -> str:
    """Return words for a sentence, the first of them only where there are many."""
    shown = ", ".join(islice(words, most))
    return f"{shown} and {len(words) - most} more" if len(words) > most else shown


def _codes(table: Table, name: str, words: tuple[str, ...], missing: int | None = None) -> np.ndarray:
    entries = table.columns[name]
    numbers = {word: number for number, word in enumerate(words)}
    numbers |= {entry: numbers[simplify(entry)] for entry in set(entries) if simplify(entry) in numbers}
    if missing is not None:
        numbers |= {entry: missing for entry in MISSING}
    try:
        return np.fromiter(map(numbers.__getitem__, entries), dtype=np.int64, count=len(entries))
    except KeyError:
        row = table.find(name, lambda entry: entry not in numbers)
        raise ValueError(
            f"{table.locate(row)}: {name!r} has the unknown value {entries[row]!r}; known are {list_words(words)}."
        ) from None
