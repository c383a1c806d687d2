"""Numbers in place of names: which rows make which graph, and which nodes an edge joins."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ghr.datasets.folders.csv_table import Table
from ghr.datasets.folders.tables import Tables


@dataclass(frozen=True)
class Names:
    """What a graph, its nodes and its edges are called in a user's files.

    Args:
        graph: Name of the graph.
        nodes: Names of its nodes, in the order of their numbers.
        sources: For every edge that is listed, the name of the node that it leaves.
        targets: For every edge that is listed, the name of the node that it reaches.
    """

    graph: str
    nodes: Sequence[str]
    sources: Sequence[str]
    targets: Sequence[str]


@dataclass(frozen=True)
class Numbering:
    """The rows of all graphs in one order: graph by graph, and within a graph as listed.

    Edges that were added, the other directions of listed ones, follow the listed edges of their graph.

    Args:
        names: Names of the graphs.
        node_rows: For every node its row in the table of nodes.
        node_starts: Where the nodes of a graph begin; one entry more than graphs.
        edge_rows: For every edge its row in the table of edges; an added edge has that of the listed one.
        edge_starts: Where the edges of a graph begin.
        added: Which edges were added.
        edge_index: Ends of the edges, numbered within their graph, :math:`(2, E)`.
        undirected: Whether edges were added where their other direction was missing.
    """

    names: list[str]
    node_rows: np.ndarray
    node_starts: np.ndarray
    edge_rows: np.ndarray
    edge_starts: np.ndarray
    added: np.ndarray
    edge_index: np.ndarray
    undirected: bool


def number_rows(tables: Tables, undirected: bool | None = None) -> Numbering:
    """Number the graphs of the tables, their nodes and the ends of their edges, in order of appearance.

    Args:
        tables: The tables.
        undirected: Whether the other direction of an edge is added where it is missing; by default where no edge at
            all is listed in both directions.

    Raises:
        ValueError: Where a node is listed twice, or an edge has an end that is not listed, with the line.
    """
    names, node_graph, edge_graph = _number_graphs(tables)
    several = len(names) > 1
    keys = _keys(tables.nodes, "node", node_graph, several)
    nodes = {key: row for row, key in enumerate(keys)}
    if len(nodes) < len(keys):
        raise _twice(tables.nodes, keys)
    source, target = (
        _look_up(tables, end, _keys(tables.edges, end, edge_graph, several), nodes) for end in ("source", "target")
    )
    return order_rows(names, node_graph, edge_graph, source, target, undirected)


def order_rows(
    names: list[str],
    node_graph: np.ndarray,
    edge_graph: np.ndarray,
    source: np.ndarray,
    target: np.ndarray,
    undirected: bool | None = None,
) -> Numbering:
    """Return the order of nodes and edges, graph by graph, and add the other directions of edges.

    Args:
        names: Names of the graphs.
        node_graph: Number of the graph of every node.
        edge_graph: Number of the graph of every edge.
        source: Row of the node that every edge leaves.
        target: Row of the node that every edge reaches.
        undirected: As in :func:`number_rows`.
    """
    lonely = find_one_way(source, target, len(node_graph))
    if undirected is None:
        undirected = len(lonely) == int(np.count_nonzero(source != target))
    rows = np.concatenate([np.arange(len(source)), lonely]) if undirected else np.arange(len(source))
    order = np.argsort(edge_graph[rows], kind="stable")
    edge_rows, added = rows[order], order >= len(source)
    node_rows, node_starts = np.argsort(node_graph, kind="stable"), _starts(node_graph, len(names))
    place = np.empty_like(node_rows)
    place[node_rows] = np.arange(len(node_rows)) - node_starts[node_graph[node_rows]]
    tail, head = place[source[edge_rows]], place[target[edge_rows]]
    edge_index = np.stack([np.where(added, head, tail), np.where(added, tail, head)])
    edge_starts = _starts(edge_graph[rows], len(names))
    return Numbering(names, node_rows, node_starts, edge_rows, edge_starts, added, edge_index, undirected)


def find_one_way(source: np.ndarray, target: np.ndarray, size: int) -> np.ndarray:
    """Return the edges whose other direction is not listed; an edge from a node to itself has none."""
    forth, back = source * size + target, target * size + source
    forth = np.sort(forth)
    listed = np.searchsorted(forth, back, side="right") > np.searchsorted(forth, back)
    return np.flatnonzero((source != target) & ~listed)


def name_rows(
    numbering: Numbering, nodes: Sequence[str], sources: Sequence[str], targets: Sequence[str]
) -> list[Names]:
    """Return what graphs, nodes and listed edges are called, graph by graph.

    Args:
        numbering: The order of the rows.
        nodes: Names of the nodes, row by row.
        sources: Names of the nodes that listed edges leave, row by row.
        targets: Names of the nodes that listed edges reach, row by row.
    """
    listed = numbering.edge_rows[~numbering.added].tolist()
    starts = np.concatenate([[0], np.cumsum(~numbering.added)])[numbering.edge_starts]
    nodes = [nodes[row] for row in numbering.node_rows.tolist()]
    sources, targets = ([column[row] for row in listed] for column in (sources, targets))
    named = []
    for graph, name in enumerate(numbering.names):
        own = slice(*numbering.node_starts[graph : graph + 2])
        edges = slice(*starts[graph : graph + 2])
        named.append(Names(name, nodes[own], sources[edges], targets[edges]))
    return named


def _number_graphs(tables: Tables) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the names of the graphs, and the number of the graph of every node and every edge that is listed."""
    listed = [table.columns["graph"] for table in (tables.nodes, tables.edges) if "graph" in table.columns]
    if not listed and tables.graphs is not None and len(tables.graphs) == 1:
        listed = [tables.graphs.columns["graph"]]
    names = list(dict.fromkeys(listed[0])) if listed else [tables.name]
    numbers = {name: number for number, name in enumerate(names)}
    parts = []
    for table in (tables.nodes, tables.edges):
        if "graph" in table.columns:
            parts.append(_look_up_graphs(tables, table, numbers))
        elif len(names) > 1:
            raise ValueError(f"{table.file} needs a column 'graph', since there are {len(names)} graphs.")
        else:
            parts.append(np.zeros(len(table), dtype=np.int64))
    return names, parts[0], parts[1]


def _look_up_graphs(tables: Tables, table: Table, numbers: dict[str, int]) -> np.ndarray:
    column = table.columns["graph"]
    try:
        return np.fromiter(map(numbers.__getitem__, column), dtype=np.int64, count=len(column))
    except KeyError:
        row = table.find("graph", lambda name: name not in numbers)
        raise ValueError(
            f"{table.locate(row)}: the graph {column[row]!r} has no nodes; list them in {tables.nodes.file}."
        ) from None


def _keys(table: Table, name: str, graph: np.ndarray, several: bool) -> Sequence[Any]:
    """Return what tells nodes apart: their name, or their graph and their name."""
    column = table.columns[name]
    return list(zip(graph.tolist(), column, strict=True)) if several else column


def _look_up(tables: Tables, end: str, keys: Sequence[Any], nodes: dict[Any, int]) -> np.ndarray:
    edges = tables.edges
    try:
        return np.fromiter(map(nodes.__getitem__, keys), dtype=np.int64, count=len(keys))
    except KeyError:
        row = next(row for row, key in enumerate(keys) if key not in nodes)
        of_graph = f" of the graph {edges.columns['graph'][row]!r}" if "graph" in edges.columns else ""
        raise ValueError(
            f"{edges.locate(row)}: the node {edges.columns[end][row]!r}{of_graph} is not in {tables.nodes.file}."
        ) from None


def _twice(nodes: Table, keys: Sequence[Any]) -> ValueError:
    first: dict[Any, int] = {}
    for row, key in enumerate(keys):
        if key in first:
            of_graph = f" of the graph {nodes.columns['graph'][row]!r}" if "graph" in nodes.columns else ""
            return ValueError(
                f"{nodes.locate(row)}: the node {nodes.columns['node'][row]!r}{of_graph} is listed twice, first in "
                f"line {nodes.lines[first[key]]}."
            )
        first[key] = row
    raise AssertionError("Some node is listed twice.")


def _starts(graph: np.ndarray, count: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(graph, minlength=count))])
