"""The column ``split``: which rows or graphs are for training, validation and test."""

from collections.abc import Sequence

import numpy as np

from ghr.datasets.folders.csv_table import Table
from ghr.datasets.folders.kinds import MISSING
from ghr.datasets.folders.tables import SPLIT, Tables
from ghr.datasets.task import TaskLevel

WORDS = {"train": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}
PARTS = ("train", "val", "test")


def find_split(tables: Tables, level: TaskLevel) -> Table | None:
    """Return the table whose column ``split`` divides the data, or ``None`` where there is none.

    It is the table of the target or, for targets of nodes and edges, that of graphs.

    Raises:
        ValueError: Where another table has such a column, or two have.
    """
    having = {name: table for name, table in tables.by_level.items() if SPLIT in table.columns}
    for name, table in having.items():
        if name not in (level, "graph"):
            raise ValueError(
                f"{table.file} has a column {SPLIT!r}, but the target belongs to {level}s; put it into the table of "
                f"{level}s."
            )
    if len(having) > 1:
        files = " and ".join(table.file for table in having.values())
        raise ValueError(f"{files} both have a column {SPLIT!r}; leave one of them out.")
    return next(iter(having.values()), None)


def read_split(table: Table) -> list[str]:
    """Return ``train``, ``val`` or ``test`` for every row, or nothing where the entry is empty.

    Raises:
        ValueError: Where an entry is another word, with its line, or no row is for training.
    """
    entries = table.columns[SPLIT]
    known = {entry: "" if entry in MISSING else WORDS.get(entry.lower()) for entry in set(entries)}
    wrong = {entry for entry, part in known.items() if part is None}
    if wrong:
        row = table.find(SPLIT, wrong.__contains__)
        raise ValueError(f"{table.locate(row)}: {SPLIT!r} must be train, val or test; got {entries[row]!r}.")
    parts = [known[entry] or "" for entry in entries]
    if "train" not in parts:
        raise ValueError(f"{table.file}: no row of the column {SPLIT!r} says train.")
    return parts


def make_masks(parts: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the masks that PyG has for the parts that occur."""
    words = np.array(parts)
    return {f"{part}_mask": words == part for part in PARTS if part in parts}
