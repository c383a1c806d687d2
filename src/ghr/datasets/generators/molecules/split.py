"""Which molecule belongs to training, validation and test: files of indices, read without running what is in them."""

import csv
import hashlib
import io
import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SPLITS = ("train", "val", "test")
Split = dict[str, list[int]]


def read_split(path: str | Path, size: int) -> Split:
    """Return the rows of every split from a file.

    ``.json`` holds ``{"train": [0, 2], "val": [1], "test": [3]}``; ``.csv`` has one of these names per row of the data
    in a column ``split``; ``.pickle`` or ``.pkl`` is a dictionary of numpy arrays as LRGB publishes it, read by a
    reader that knows arrays of whole numbers and nothing else.

    Args:
        path: File to read.
        size: Number of rows of the data.

    Raises:
        ValueError: Where the file is something else, asks for more, or its rows do not fit.
    """
    path = Path(path)
    readers = {".json": _from_json, ".csv": _from_csv, ".pickle": _from_pickle, ".pkl": _from_pickle}
    if path.suffix.lower() not in readers:
        raise ValueError(f"A split is a file of the kind {', '.join(readers)}; got {path}.")
    try:
        content = readers[path.suffix.lower()](path)
        split = {name: [int(row) for row in content[name]] for name in SPLITS}
    except (KeyError, TypeError, ValueError, EOFError, IndexError, AttributeError, pickle.UnpicklingError) as error:
        raise ValueError(f"{path} is not a split with the rows of train, val and test: {error}") from error
    rows = [row for name in SPLITS for row in split[name]]
    if len(set(rows)) != len(rows):
        raise ValueError(f"{path} is not a split: a row occurs more than once.")
    if rows and not 0 <= min(rows) <= max(rows) < size:
        raise ValueError(f"{path} has the rows {min(rows)} to {max(rows)}, but the data has 0 to {size - 1}.")
    return split


def choose_split(smiles: str, seed: int) -> str:
    """Return the split of a molecule, 8 in 10 for training, by its SMILES alone: the same molecule is never in two."""
    bucket = int.from_bytes(hashlib.sha256(f"split {seed} {smiles}".encode()).digest()[:8], "big") % 10
    return SPLITS[max(0, bucket - 7)]


def _from_json(path: Path) -> Any:
    return json.loads(path.read_text())


def _from_csv(path: Path) -> Split:
    with open(path, newline="", encoding="utf-8") as file:
        table = csv.DictReader(file)
        if "split" not in (table.fieldnames or ()):
            raise ValueError(f"the table needs a column named split; it has {', '.join(table.fieldnames or ())}.")
        names: Sequence[str] = [row["split"] for row in table]
    unknown = sorted({str(name) for name in names} - set(SPLITS))
    if unknown:
        raise ValueError(f"unknown splits {', '.join(unknown)}.")
    return {split: [row for row, name in enumerate(names) if name == split] for split in SPLITS}


class _Array:
    """Stands for an array of whole numbers in a pickle, and for its type: keeps the state and does nothing else."""

    def __init__(self, *arguments: object) -> None:
        self.arguments = arguments
        self.state: tuple[Any, ...] = ()

    def __setstate__(self, state: object) -> None:
        self.state = state if isinstance(state, tuple) else ()

    def values(self) -> NDArray[np.int64]:
        """Return the numbers, decoded from their bytes."""
        _, shape, kind, _, data = self.state
        code = kind.arguments[0] if type(kind) is _Array and kind.arguments else None
        if code not in ("i4", "i8", "u4", "u8") or kind.state[1] not in ("<", "|") or not isinstance(data, bytes):
            raise ValueError(f"an array holds {code!r} instead of whole numbers.")
        if type(shape) is not tuple or len(shape) != 1:
            raise ValueError(f"an array has the shape {shape!r} instead of one dimension.")
        return np.frombuffer(data, dtype=f"<{code}").astype(np.int64)


class _Reader(pickle.Unpickler):
    """Reads containers, numbers, text and arrays; whatever else a file asks for is refused by name."""

    ARRAYS = frozenset(
        ["numpy.ndarray", "numpy.dtype"] + [f"numpy.{core}.multiarray._reconstruct" for core in ("core", "_core")]
    )

    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in for what belongs to arrays."""
        if f"{module}.{name}" in self.ARRAYS:
            return _Array
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which could run code.")

    def persistent_load(self, pid: Any) -> Any:
        """Refuse what lies outside the file."""
        raise pickle.UnpicklingError(f"it asks for {pid!r} outside the file.")


def _from_pickle(path: Path) -> Any:
    content = _Reader(io.BytesIO(path.read_bytes())).load()
    if type(content) is not dict:
        raise ValueError(f"it holds a {type(content).__name__}.")
    return {name: rows.values() if type(rows) is _Array else rows for name, rows in content.items()}
