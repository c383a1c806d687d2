"""What was found out about a user's graphs, in sentences."""

from collections.abc import Sequence

import numpy as np

from ghr.datasets.folders.kinds import list_words
from ghr.datasets.folders.numbering import Numbering
from ghr.datasets.folders.schema import Column, Schema, count_codes

FEW = 10  # so few whole numbers may be classes


def describe_graphs(numbering: Numbering, source: str) -> str:
    """Return how many graphs, nodes and edges there are."""
    graphs, nodes = len(numbering.names), len(numbering.node_rows)
    listed = int(np.count_nonzero(~numbering.added))
    return f"{source}: {count(graphs, 'graph')} with {count(nodes, 'node')} and {count(listed, 'edge')}."


def describe_features(what: str, columns: Sequence[Column]) -> str:
    """Return the features of nodes or edges and their kinds."""
    if not columns:
        return f"{what} have no features{', so each gets a constant 1' if what == 'Nodes' else ''}."
    shown = ", ".join(f"{column.name} ({_kind(column)})" for column in columns)
    if count_codes(columns) is not None:
        how = " Each gets an embedding of its own." if len(columns) > 1 else " It gets an embedding."
    else:
        how = " Each word becomes a column of zeros and ones." * any(column.size is not None for column in columns)
    return f"{what} have {count(len(columns), 'feature')}: {shown}.{how}"


def describe_direction(numbering: Numbering, given: bool | None) -> list[str]:
    """Return which directions edges have, where that was found out or something was added."""
    added = int(np.count_nonzero(numbering.added))
    if added and given is None:
        return [
            "No edge is listed in both directions, so the other direction of each was added; to keep them as listed "
            "say undirected=False (--directed)."
        ]
    if added:
        return [f"The other direction was added to {count(added, 'edge')}."]
    return [] if numbering.undirected else ["Edges go in the direction in which they are listed."]


def describe_target(schema: Schema, missing: int, few: bool = False) -> list[str]:
    """Return what is predicted, and how to change it.

    Args:
        schema: The schema.
        missing: How many rows have no target.
        few: Whether the numbers are whole and few, so that they may be classes.
    """
    if schema.level is None:
        return ["There is no target."]
    names = ", ".join(schema.target)
    if schema.classes is not None:
        said = [
            f"Target: {names}, one of {len(schema.classes)} classes per {schema.level}: {list_words(schema.classes)}."
        ]
    else:
        numbers = "a number" if len(schema.target) == 1 else f"{len(schema.target)} numbers"
        said = [f"Target: {names}, {numbers} per {schema.level}."]
        if few:
            said.append("Its numbers are whole and few; if they are classes, say classes=True (--classes).")
    if missing:
        have, are = ("has", "is") if missing == 1 else ("have", "are")
        said.append(f"{count(missing, schema.level)} {have} no target and {are} left out.")
    return said


def describe_parts(parts: Sequence[str] | None, level: str, source: str) -> str:
    """Return how the data are divided."""
    if parts is None:
        return "Training, validation and test are drawn by the seed."
    shown = ", ".join(f"{parts.count(part)} {part}" for part in ("train", "val", "test") if part in parts)
    unused = f", {parts.count('')} for nothing" if "" in parts else ""
    wanting = [name for name, part in (("validation", "val"), ("test", "test")) if part not in parts]
    drawn = f"; {' and '.join(wanting)} from training by the seed" if "validation" in wanting else ""
    return f"{source} divides the {level}s: {shown}{unused}{drawn}."


def count_missing(target: np.ndarray | None) -> int:
    """Return how many rows have no target at all."""
    if target is None:
        return 0
    return int(np.count_nonzero(np.isnan(target).all(axis=1) if target.ndim == 2 else target < 0))


def holds_few(target: np.ndarray | None) -> bool:
    """Whether targets are whole numbers, and so few different ones that they may be classes."""
    if target is None or target.ndim == 1:
        return False
    known = np.unique(target[~np.isnan(target)])
    return len(known) <= FEW and bool((known == np.round(known)).all())


def count(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``2 graphs``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _kind(column: Column) -> str:
    if column.words is not None:
        return f"{count(len(column.words), 'word')}: {list_words(column.words, 5)}"
    return "numbers" if column.codes is None else f"{count(column.codes, 'code')}"
