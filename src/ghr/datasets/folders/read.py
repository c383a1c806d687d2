"""A user's own graphs, from a folder of tables, from GraphML or from a file of PyTorch Geometric."""

import os
from collections.abc import Sequence
from pathlib import Path

from ghr.datasets.folders.folder import FolderData
from ghr.datasets.folders.from_tables import apply_schema, learn_tables
from ghr.datasets.folders.from_tensors import apply_tensor_schema, learn_tensors
from ghr.datasets.folders.graphml import read_graphml
from ghr.datasets.folders.request import Request, list_names
from ghr.datasets.folders.schema import Schema
from ghr.datasets.folders.tables import FILES, read_tables


def read_folder(
    path: str | os.PathLike[str],
    *,
    target: str | Sequence[str] | None = None,
    level: str | None = None,
    classes: bool | None = None,
    categorical: Sequence[str] = (),
    ignore: Sequence[str] = (),
    undirected: bool | None = None,
    schema: Schema | None = None,
) -> FolderData:
    """Read your own graphs, and find out what their columns mean.

    Args:
        path: A folder with ``edges.csv`` and, where there are such things to say, ``nodes.csv`` and ``graphs.csv``; a
            folder of GraphML files; or a file, ``.graphml`` or ``.pt``.
        target: The column to predict, or several; none for graphs without a target. Of a ``.pt`` file ``y``.
        level: ``"node"``, ``"edge"`` or ``"graph"``, where several tables have such a column.
        classes: Whether a target of whole numbers is a class. By default words are classes and numbers are numbers.
        categorical: Columns of numbers that are codes.
        ignore: Columns that are no features.
        undirected: Whether the other direction of an edge is added where it is missing. By default it is added to all
            edges if none is listed in both directions.
        schema: What a run found out when it was trained; the same columns are needed then, targets are not, and
            nothing else is to be said.

    Raises:
        OSError: Where a file cannot be read.
        ValueError: Where something in the files is wrong or missing, with file and line.
    """
    request = Request(
        list_names("target", target),
        level,
        classes,
        list_names("categorical", categorical),
        list_names("ignore", ignore),
        undirected,
    )
    request.check_alone(schema)
    kind, files = find_files(Path(path))
    source = os.fspath(path)
    if kind == "tensors":
        if schema is None:
            return learn_tensors(files[0], request, source)
        return apply_tensor_schema(files[0], schema, source)
    tables = read_tables(Path(path)) if kind == "csv" else read_graphml(files)
    return learn_tables(tables, request, source) if schema is None else apply_schema(tables, schema, source)


def find_files(path: Path) -> tuple[str, list[Path]]:
    """Return what kind of files a path leads to, ``csv``, ``graphml`` or ``tensors``, and the files.

    Raises:
        FileNotFoundError: Where there is nothing.
        ValueError: Where the files are of no kind that is read, or of several.
    """
    if not path.exists():
        raise FileNotFoundError(f"There is no folder or file {path}.")
    if path.is_file():
        kind = {".graphml": "graphml", ".pt": "tensors"}.get(path.suffix.lower())
        if kind is None:
            hint = "give the folder that it is in" if path.suffix.lower() == ".csv" else "known are .graphml and .pt"
            raise ValueError(f"{path} is not a file of graphs that is read; {hint}.")
        return kind, [path]
    files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    found = {
        "csv": [file for file in files if file.name in FILES.values()],
        "graphml": [file for file in files if file.suffix.lower() == ".graphml"],
        "tensors": [file for file in files if file.suffix.lower() == ".pt"],
    }
    kinds = [kind for kind, of_kind in found.items() if of_kind]
    if not kinds:
        raise ValueError(
            f"{path} has no graphs: neither edges.csv (beside nodes.csv and graphs.csv), nor .graphml files, nor a .pt "
            "file."
        )
    if len(kinds) > 1 or len(found["tensors"]) > 1:
        names = " and ".join(found[kind][0].name for kind in kinds) if len(kinds) > 1 else "several .pt files"
        raise ValueError(f"{path} has {names}, and only one of them can be meant; give the file, or another folder.")
    return kinds[0], found[kinds[0]]
