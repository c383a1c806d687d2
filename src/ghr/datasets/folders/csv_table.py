"""Tables of text, as people write them into CSV files."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ghr.files import explained


@dataclass(frozen=True)
class Table:
    """Columns of text by name, and where every row was written.

    Args:
        file: What the table is called in sentences, such as ``nodes.csv``.
        columns: The entries of every column, without blanks around them; all columns have the same length.
        lines: The line of every row.
        files: The file of every row, where the table was put together from several.
        words: Columns that hold words even where they look like numbers, since their file says so.
        parsed: Columns that :func:`~ghr.datasets.folders.kinds.read_numbers` has read.
    """

    file: str
    columns: dict[str, list[str]]
    lines: Sequence[int]
    files: Sequence[str] | None = None
    words: frozenset[str] = field(default_factory=frozenset)
    parsed: dict[str, np.ndarray | None] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.lines)

    def locate(self, row: int) -> str:
        """Return where a row was written, such as ``nodes.csv, line 5``."""
        return f"{self.file if self.files is None else self.files[row]}, line {self.lines[row]}"

    def find(self, name: str, wanted: Callable[[str], bool]) -> int:
        """Return the first row whose entry in a column is the wanted one."""
        return next(row for row, entry in enumerate(self.columns[name]) if wanted(entry))


def read_csv(path: Path) -> Table:
    """Read a file of columns separated by commas, the first line of which names them.

    The file is UTF-8 with or without a byte order mark; entries may be quoted; blank lines are skipped.

    Raises:
        OSError: Where the file cannot be read.
        ValueError: Where it is no such table, with the line.
    """
    text = _read_text(path)
    rows = _number_rows(path.name, text)
    _, header = next(rows, (1, None))
    if header is None:
        raise ValueError(f"{path.name} is empty; its first line must name the columns.")
    names = _check_header(path.name, header)
    columns = cut_columns(text, len(names))
    lines: Sequence[int] = range(2, 2 + len(columns[0])) if columns else []
    if columns is None:
        kept = list(rows)
        columns = [[row[place] for _, row in kept] for place in range(len(names))]
        lines = [line for line, _ in kept]
    if not text.isascii() or " " in text or "\t" in text:
        columns = [_strip(column) for column in columns]
    return Table(path.name, dict(zip(names, columns, strict=True)), lines)


def cut_columns(text: str, width: int) -> list[list[str]] | None:
    """Return the columns of a plain text below its first line, or ``None`` where it is not plain.

    Nothing is quoted in a plain text, every line has all entries, and none is blank: most large files are so. This is
    many times faster than to read it row by row.
    """
    if '"' in text:
        return None
    text = text.replace("\r\n", "\n").removesuffix("\n")
    lines = text.split("\n")
    blank = width == 1 and "" in map(str.strip, lines)
    if blank or "\r" in text or {line.count(",") for line in lines} != {width - 1}:
        return None
    del lines
    entries = text.replace("\n", ",").split(",")
    return [entries[width + place :: width] for place in range(width)]


def _number_rows(file: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield all rows, each with the line on which it begins; an entry may have several lines."""
    rows = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    first, begin = None, 1
    try:
        for row in rows:
            if row not in ([], [""]):
                first = first or row
                if len(row) != len(first):
                    entries = f"{len(row)} {'entry' if len(row) == 1 else 'entries'}"
                    raise ValueError(
                        f"{file}, line {begin} has {entries}, but the file has {len(first)} columns "
                        f"({', '.join(first)})."
                    )
                yield begin, row
            begin = rows.line_num + 1
    except csv.Error as error:
        raise ValueError(f"{file}, line {begin}: this is not CSV ({error}).") from error


def _read_text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise explained("read", path, error) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path.name}, line {line} is not UTF-8 (byte {content[error.start]:#04x}); save the file as UTF-8."
        ) from error


def _check_header(file: str, header: list[str]) -> list[str]:
    names = _strip(header)
    if len(names) == 1:
        for mark, word in ((";", "semicolons"), ("\t", "tabs")):
            if mark in header[0]:
                raise ValueError(f"{file} has {word} between its columns; write it with commas.")
    for place, name in enumerate(names):
        if not name:
            raise ValueError(
                f"{file}: column {place + 1} has no name; name it or leave it out (with pandas: to_csv(index=False))."
            )
        if name in names[:place]:
            raise ValueError(f"{file} has two columns of the name {name!r}; give every column a name of its own.")
    return names


def _strip(entries: Iterable[str]) -> list[str]:
    return list(map(str.strip, entries))
