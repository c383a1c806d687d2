"""GraphML files as tables: one graph per file, named like the file."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

from ghr.datasets.folders.csv_table import Table
from ghr.datasets.folders.tables import PLACES, Tables
from ghr.files import explained
from ghr.progress import track

LEVELS = ("node", "edge", "graph")
WORDS = ("string", "boolean")


@dataclass(frozen=True)
class Key:
    """A column as a file declares it: its name, and whether it holds words."""

    name: str
    words: bool


@dataclass
class Rows:
    """The rows of one table, file after file; an entry that a row does not have is empty."""

    rows: list[dict[str, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    words: set[str] = field(default_factory=set)

    def make_table(self, name: str, places: Sequence[str]) -> Table:
        """Return the rows as columns."""
        names = dict.fromkeys([*places, *(column for row in self.rows for column in row)])
        columns = {column: [row.get(column, "").strip() for row in self.rows] for column in names}
        return Table(name, columns, self.lines, self.files, frozenset(self.words))


def read_graphml(paths: Sequence[Path]) -> Tables:
    """Read GraphML files, one graph each, as tables of nodes, edges and graphs.

    Entities are refused, so that a file can neither read others nor grow without end.

    Args:
        paths: The files.

    Raises:
        OSError: Where a file cannot be read.
        ValueError: Where a file is no GraphML, or says something that is not read here, with the line.
    """
    found = {level: Rows() for level in LEVELS}
    directions = {}
    for path in track(paths, "Reading", unit="file"):
        reader = _Reader(path, found)
        reader.read()
        directions[path.name] = reader.undirected
    if len(set(directions.values())) > 1:
        one = next(name for name, undirected in directions.items() if undirected)
        other = next(name for name, undirected in directions.items() if not undirected)
        raise ValueError(f"{one} has undirected edges and {other} directed ones; all files must have the same.")
    title = paths[0].name if len(paths) == 1 else f"{paths[0].name} to {paths[-1].name}"
    tables = {level: rows.make_table(f"{level}s of {title}", PLACES[level]) for level, rows in found.items()}
    if not len(tables["node"]):
        raise ValueError(f"There are no nodes in {title}.")
    return Tables(
        paths[0].stem, tables["node"], tables["edge"], tables["graph"], undirected=next(iter(directions.values()))
    )


class _Reader:
    """Reads one file; the handlers are called by the parser as it goes."""

    def __init__(self, path: Path, found: dict[str, Rows]) -> None:
        self.path, self.found = path, found
        self.undirected: bool | None = None
        self.keys: dict[str, dict[str, Key | None]] = {level: {} for level in LEVELS}  # by level and id
        self.defaults: dict[str, dict[str, str]] = {level: {} for level in LEVELS}
        self.elements: list[tuple[str, dict[str, str]]] = []  # those that are open, outermost first
        self.text: list[str] | None = None  # of the element whose value is being read
        self.depth = 0  # of that element
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._refuse_entity

    def read(self) -> None:
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise explained("read", self.path, error) from error
        try:
            self.parser.Parse(content, True)
        except expat.ExpatError as error:
            reason = expat.errors.messages[error.code]
            raise ValueError(f"{self.path.name}, line {error.lineno}: this is not XML ({reason}).") from error
        except LookupError as error:
            raise ValueError(f"{self.path.name}, line 1: {error}; save the file as UTF-8.") from error
        if self.undirected is None:
            raise ValueError(f"{self.path.name} has no element <graph>; it is not GraphML.")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        parent = self.elements[-1][0] if self.elements else None
        self.elements.append((tag, attributes))
        if tag == "key":
            self._declare(attributes)
        elif tag == "graph":
            if self.undirected is not None:
                self._refuse("there is a second graph; write one file per graph")
            self.undirected = self._direction(attributes.get("edgedefault", ""))
            self._add("graph", {"graph": self.path.stem})
        elif tag in ("node", "edge") and parent != "graph":
            self._refuse(f"<{tag}> must stand in <graph>")
        elif tag == "node":
            self._add("node", {"graph": self.path.stem, "node": self._attribute(attributes, "id")})
        elif tag == "edge":
            ends = {end: self._attribute(attributes, end) for end in ("source", "target")}
            if "directed" in attributes and (attributes["directed"] == "true") == self.undirected:
                self._refuse("directed and undirected edges are mixed; one kind is read only")
            self._add("edge", {"graph": self.path.stem, **ends})
        elif tag == "hyperedge":
            self._refuse("edges join two nodes; a hyperedge is not read")
        elif tag == "default" and parent == "key":
            self.text, self.depth = [], len(self.elements)
        elif tag == "data" and parent in LEVELS:
            if self._attribute(attributes, "key") not in self.keys[parent]:
                self._refuse(f"the key {attributes['key']!r} is not declared above for {parent}s")
            self.text, self.depth = [], len(self.elements)

    def _end(self, _: str) -> None:
        depth, (tag, attributes) = len(self.elements), self.elements.pop()
        if self.text is None or depth != self.depth:
            return
        text, self.text = "".join(self.text), None
        parent, declared = self.elements[-1]
        if tag == "data":
            key = self.keys[parent][attributes["key"].strip()]
            if key is not None:
                self.found[parent].rows[-1][key.name] = text
            return
        for level in LEVELS:
            key = self.keys[level].get(declared.get("id", ""))
            if key is not None:
                self.defaults[level][key.name] = text

    def _characters(self, text: str) -> None:
        if self.text is not None and len(self.elements) == self.depth:
            self.text.append(text)

    def _declare(self, attributes: dict[str, str]) -> None:
        number, name = self._attribute(attributes, "id"), attributes.get("attr.name", "").strip()
        words = attributes.get("attr.type") in WORDS
        for level in LEVELS:
            if attributes.get("for", "all") not in (level, "all"):
                continue
            if name in PLACES[level]:
                self._refuse(f"a value of the {level}s is called {name!r}; give it another name")
            # A key without a name is how a program draws the graph, not a value.
            self.keys[level][number] = Key(name, words) if name else None
            if words:
                self.found[level].words.add(name)

    def _add(self, level: str, row: dict[str, str]) -> None:
        found = self.found[level]
        found.rows.append({**row, **self.defaults[level]})
        found.files.append(self.path.name)
        found.lines.append(self.parser.CurrentLineNumber)

    def _direction(self, word: str) -> bool:
        if word not in ("directed", "undirected"):
            self._refuse(f"edgedefault must be directed or undirected; got {word!r}")
        return word == "undirected"

    def _attribute(self, attributes: dict[str, str], name: str) -> str:
        value = attributes.get(name, "").strip()
        if not value:
            self._refuse(f"<{self.elements[-1][0]}> needs the attribute {name!r}")
        return value

    def _refuse_entity(self, *_: Any) -> NoReturn:
        self._refuse("entities are refused, since they could read other files")

    def _refuse(self, reason: str) -> NoReturn:
        raise ValueError(f"{self.path.name}, line {self.parser.CurrentLineNumber}: {reason}.")
