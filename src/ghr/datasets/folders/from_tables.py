"""Graphs of tables: what the columns mean, or the same columns read again."""

from dataclasses import replace

from ghr.datasets.folders.content import Content, build_graphs
from ghr.datasets.folders.csv_table import Table
from ghr.datasets.folders.folder import FolderData
from ghr.datasets.folders.kinds import encode_column, infer_column
from ghr.datasets.folders.numbering import Numbering, name_rows, number_rows
from ghr.datasets.folders.request import Request
from ghr.datasets.folders.schema import Column, Schema
from ghr.datasets.folders.split_column import find_split, make_masks, read_split
from ghr.datasets.folders.summary import (
    count_missing,
    describe_direction,
    describe_features,
    describe_graphs,
    describe_parts,
    describe_target,
    holds_few,
)
from ghr.datasets.folders.tables import SPLIT, Tables
from ghr.datasets.folders.target import encode_target, find_level, infer_classes


def learn_tables(tables: Tables, request: Request, source: str) -> FolderData:
    """Find out what the columns of tables mean, and make graphs of them.

    Args:
        tables: The tables.
        request: What to predict and what cannot be found out.
        source: Where the tables come from.
    """
    level = find_level(tables, request.target, request.level) if request.target else None
    given = tables.undirected if request.undirected is None else request.undirected
    numbering = number_rows(tables, given)
    classes = infer_classes(tables.by_level[level], request.target, request.classes) if level else None
    schema = Schema(
        nodes=_infer_columns(tables, "node", request),
        edges=_infer_columns(tables, "edge", request),
        target=request.target,
        level=level,
        classes=classes,
        undirected=numbering.undirected,
    )
    _check_named(tables, request)
    content = encode_tables(tables, schema, numbering)
    table = find_split(tables, level) if level and SPLIT not in request.ignore else None
    parts = None if table is None else read_split(table)
    said = describe_parts(parts, level or "", "" if table is None else f"The column split of {table.file}")
    if table is tables.graphs and table is not None and parts is not None:
        parts = [parts[row] for row in find_graphs(table, numbering)]
    elif parts is not None:
        content, parts = replace(content, masks=make_masks(parts)), None
    summary = [
        describe_graphs(numbering, source),
        describe_features("Nodes", schema.nodes),
        describe_features("Edges", schema.edges),
        *describe_direction(numbering, given),
        *_describe_left_out(tables, request),
        *describe_target(schema, count_missing(content.target), holds_few(content.target)),
        *([said] if level else []),
    ]
    task = schema.make_task()
    names = name_rows(numbering, *_names(tables))
    return FolderData(build_graphs(content, schema), task, schema, names, summary, parts, content, source)


def apply_schema(tables: Tables, schema: Schema, source: str) -> FolderData:
    """Make graphs of tables with the same columns as those of training; targets may be missing.

    Args:
        tables: The tables.
        schema: What the columns mean.
        source: Where the tables come from.

    Raises:
        ValueError: Where a column is missing, or holds a word that training did not have, with the line.
    """
    extra = []
    for level, columns in (("node", schema.nodes), ("edge", schema.edges)):
        table, known = tables.by_level[level], [column.name for column in columns]
        for name in known:
            if name not in table.columns:
                there = ", ".join(tables.list_columns(level)) or "none"
                raise ValueError(
                    f"{table.file} has no column {name!r}, which the model was trained with; its columns are: {there}."
                )
        extra += [name for name in tables.list_columns(level) if name not in (*known, *schema.target)]
    numbering = number_rows(tables, schema.undirected)
    content = encode_tables(tables, schema, numbering)
    summary = [describe_graphs(numbering, source), *describe_direction(numbering, schema.undirected)]
    if extra:
        summary.append(f"Columns that training did not have are not used: {', '.join(extra)}.")
    graphs, names = build_graphs(content, schema), name_rows(numbering, *_names(tables))
    return FolderData(graphs, schema.make_task(), schema, names, summary, None, content, source)


def encode_tables(tables: Tables, schema: Schema, numbering: Numbering) -> Content:
    """Return the columns that a schema names as numbers, with the targets where they are there."""
    target = None
    table = tables.by_level.get(schema.level or "")
    if table is not None and all(name in table.columns for name in schema.target):
        target = encode_target(table, schema.target, schema.classes)
        if schema.level == "graph":
            target = target[find_graphs(table, numbering)]
    return Content(
        numbering,
        [encode_column(tables.nodes, column) for column in schema.nodes],
        [encode_column(tables.edges, column) for column in schema.edges],
        target,
    )


def find_graphs(table: Table, numbering: Numbering) -> list[int]:
    """Return the row of every graph in the table of graphs.

    Raises:
        ValueError: Where a graph has no row or two, or a row has no graph, with the line.
    """
    listed = table.columns["graph"]
    rows = {name: row for row, name in enumerate(listed)}
    for row, name in enumerate(listed):
        if rows[name] != row:
            raise ValueError(f"{table.locate(rows[name])}: the graph {name!r} is listed twice.")
    unknown = set(listed).difference(numbering.names)
    if unknown:
        row = table.find("graph", unknown.__contains__)
        raise ValueError(f"{table.locate(row)}: the graph {listed[row]!r} has no nodes.")
    for name in numbering.names:
        if name not in rows:
            raise ValueError(
                f"{table.file} has no row for the graph {name!r}; add one, with an empty target where it is not known."
            )
    return [rows[name] for name in numbering.names]


def _infer_columns(tables: Tables, level: str, request: Request) -> tuple[Column, ...]:
    table = tables.by_level[level]
    names = [name for name in tables.list_columns(level) if name not in (*request.target, *request.ignore)]
    return tuple(infer_column(table, name, words=name in request.categorical) for name in names)


def _check_named(tables: Tables, request: Request) -> None:
    """Raise a ValueError where an option names a column that no table has."""
    there = [name for level in tables.by_level for name in tables.list_columns(level)]
    for option in ("categorical", "ignore"):
        for name in getattr(request, option):
            if name not in (*there, SPLIT):
                raise ValueError(f"{option} names the column {name!r}; there are {', '.join(there) or 'none'}.")


def _describe_left_out(tables: Tables, request: Request) -> list[str]:
    left = [name for level in ("node", "edge") for name in tables.list_columns(level) if name in request.ignore]
    if tables.graphs is not None:
        left += [name for name in tables.list_columns("graph") if name not in request.target]
    return [f"Columns that are not used: {', '.join(dict.fromkeys(left))}."] if left else []


def _names(tables: Tables) -> tuple[list[str], list[str], list[str]]:
    return tables.nodes.columns["node"], tables.edges.columns["source"], tables.edges.columns["target"]
