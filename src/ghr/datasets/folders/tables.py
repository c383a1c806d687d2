"""The tables of a folder: nodes, edges and graphs."""

from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from ghr.datasets.folders.csv_table import Table, read_csv

PLACES = {"node": ("graph", "node"), "edge": ("graph", "source", "target"), "graph": ("graph",)}
"""By level, the columns that say where a row belongs. They are no features and no targets."""
SPLIT = "split"
"""The column that says what a row is for."""
FILES = {"node": "nodes.csv", "edge": "edges.csv", "graph": "graphs.csv"}


@dataclass(frozen=True)
class Tables:
    """What a folder says about its graphs.

    Args:
        name: Name of the graph, where no table names it.
        nodes: Nodes, with the columns ``node`` and, for several graphs, ``graph``.
        edges: Edges, with the columns ``source``, ``target`` and, for several graphs, ``graph``.
        graphs: Graphs, with the column ``graph``.
        undirected: Whether edges go both ways, where the files say so.
    """

    name: str
    nodes: Table
    edges: Table
    graphs: Table | None = None
    undirected: bool | None = None

    @property
    def by_level(self) -> dict[str, Table]:
        """The tables that are there, by the level of what has one row in them."""
        tables = {"node": self.nodes, "edge": self.edges, "graph": self.graphs}
        return {level: table for level, table in tables.items() if table is not None}

    def list_columns(self, level: str) -> list[str]:
        """Return the columns of a table that are features or targets."""
        return [name for name in self.by_level[level].columns if name not in (*PLACES[level], SPLIT)]


def read_tables(folder: Path) -> Tables:
    """Read ``edges.csv`` and, where they are there, ``nodes.csv`` and ``graphs.csv`` of a folder.

    Without ``nodes.csv`` the nodes are those that edges name, in that order.

    Raises:
        OSError: Where a file cannot be read.
        ValueError: Where a file is no table, or lacks something that it needs.
    """
    found = {level: read_csv(folder / file) for level, file in FILES.items() if (folder / file).is_file()}
    if "edge" not in found:
        raise ValueError(
            f"{folder} has no edges.csv (columns graph, source, target); for graphs without edges, write its first "
            "line only."
        )
    for level, table in found.items():
        _check_places(table, level)
        if not len(table) and (level != "edge" or "node" not in found):
            raise ValueError(f"{table.file} has no rows below its first line.")
    edges = found["edge"]
    return Tables(folder.resolve().name, found.get("node") or list_ends(edges), edges, found.get("graph"))


def list_ends(edges: Table) -> Table:
    """Return the nodes that edges name as a table: the ends of the first edge, those of the second, and so on."""
    rows = list(zip(edges.columns["source"], edges.columns["target"], strict=True))
    if "graph" not in edges.columns:
        columns = {"node": list(dict.fromkeys(chain.from_iterable(rows)))}
    else:
        graphs = edges.columns["graph"]
        pairs = dict.fromkeys((graph, name) for graph, ends in zip(graphs, rows, strict=True) for name in ends)
        columns = {"graph": [graph for graph, _ in pairs], "node": [name for _, name in pairs]}
    return Table(edges.file, columns, range(len(columns["node"])))


def _check_places(table: Table, level: str) -> None:
    for name in PLACES[level]:
        if name in table.columns:
            if "" in table.columns[name]:
                raise ValueError(f"{table.locate(table.find(name, ''.__eq__))}: the entry under {name!r} is missing.")
        elif name != "graph" or level == "graph":
            raise ValueError(f"{table.file} needs a column {name!r}; it has {', '.join(table.columns)}.")
