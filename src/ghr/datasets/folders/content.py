"""From columns to graphs: features as tensors, standardised, with targets and masks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ghr.datasets.folders.numbering import Numbering
from ghr.datasets.folders.schema import Column, Schema, count_codes
from ghr.progress import track

Value = TypeVar("Value", np.ndarray, Tensor)
FLAT = 1e-12  # a deviation that is so small beside the mean is rounding


@dataclass(frozen=True)
class Content:
    """The columns of a folder as numbers.

    Args:
        numbering: Which rows make which graph.
        nodes: For every column of nodes its numbers or codes, row by row.
        edges: For every column of edges its numbers or codes, row by row.
        target: Targets, row by row of their level: numbers :math:`(N, C)` or classes :math:`(N)`.
        masks: Which rows of that level are for what, by the names of PyG: ``train_mask`` and so on.
    """

    numbering: Numbering
    nodes: Sequence[np.ndarray]
    edges: Sequence[np.ndarray]
    target: np.ndarray | None = None
    masks: Mapping[str, np.ndarray] = field(default_factory=dict)


def build_graphs(content: Content, schema: Schema) -> list[Data]:
    """Return the graphs, with features standardised as the schema says.

    Nodes without features get a constant one. Added edges have the features of the listed ones, but no target.
    """
    numbering = content.numbering
    x = join_columns(schema.nodes, content.nodes)[numbering.node_rows] if schema.nodes else None
    edge_attr = join_columns(schema.edges, content.edges)[numbering.edge_rows] if schema.edges else None
    edge_index = torch.from_numpy(numbering.edge_index)
    rows = {name: torch.from_numpy(mask) for name, mask in content.masks.items()}
    if content.target is not None:
        rows["y"] = _target_tensor(content.target)
    rows = {name: _order(value, schema.level, numbering) for name, value in rows.items()}
    graphs = []
    for number in track(range(len(numbering.names)), "Graphs", unit="graph"):
        nodes = slice(*numbering.node_starts[number : number + 2])
        edges = slice(*numbering.edge_starts[number : number + 2])
        own = {"node": nodes, "edge": edges, "graph": slice(number, number + 1)}
        data = Data(
            x=torch.ones(nodes.stop - nodes.start, 1) if x is None else x[nodes].clone(),
            edge_index=edge_index[:, edges].clone(),
            edge_attr=None if edge_attr is None else edge_attr[edges].clone(),
        )
        for name, value in rows.items():
            data[name] = value[own[schema.level or "graph"]].clone()
        graphs.append(data)
    return graphs


def join_columns(columns: Sequence[Column], values: Sequence[np.ndarray]) -> Tensor:
    """Return columns side by side as one tensor.

    Where all are categorical it holds codes, int64, one column each. Otherwise it is float32: numbers less their mean
    and divided by their scale, and for every value of a categorical column one column of zeros and ones.
    """
    if count_codes(columns) is not None:
        return torch.from_numpy(np.stack(values, axis=1))
    width = sum(1 if column.size is None else column.size for column in columns)
    table = np.zeros((len(values[0]), width), dtype=np.float32)
    place = 0
    for column, value in zip(columns, values, strict=True):
        if column.size is None:
            table[:, place] = (value - column.mean) / column.scale
        else:
            table[np.arange(len(value)), place + value] = 1
        place += 1 if column.size is None else column.size
    return torch.from_numpy(table)


def measure(content: Content, schema: Schema, graphs: Sequence[int]) -> Schema:
    """Return the schema with mean and scale of every column of numbers over some graphs.

    Columns of zeros and ones stay as they are, and so do columns that hold one number only.

    Args:
        content: The columns.
        schema: Their kinds.
        graphs: Numbers of the graphs that count, those of training.
    """
    numbering = content.numbering
    nodes = _rows_of(graphs, numbering.node_starts, numbering.node_rows)
    edges = _rows_of(graphs, numbering.edge_starts, numbering.edge_rows)
    return replace(
        schema,
        nodes=tuple(_measure(column, value[nodes]) for column, value in zip(schema.nodes, content.nodes, strict=True)),
        edges=tuple(_measure(column, value[edges]) for column, value in zip(schema.edges, content.edges, strict=True)),
    )


def _measure(column: Column, values: np.ndarray) -> Column:
    if column.size is not None or not len(values) or np.isin(values, (0, 1)).all():
        return replace(column, mean=0.0, scale=1.0)
    mean, scale = float(values.mean()), float(values.std())
    flat = scale <= FLAT * abs(mean)
    return replace(column, mean=0.0, scale=1.0) if flat else replace(column, mean=mean, scale=scale)


def _rows_of(graphs: Sequence[int], starts: np.ndarray, rows: np.ndarray) -> np.ndarray:
    parts = [rows[starts[graph] : starts[graph + 1]] for graph in graphs]
    return np.concatenate(parts) if parts else rows[:0]


def _target_tensor(target: np.ndarray) -> Tensor:
    return torch.from_numpy(target if target.dtype == np.int64 else target.astype(np.float32))


def _order(value: Tensor, level: str | None, numbering: Numbering) -> Tensor:
    """Bring the rows of a table into the order of the graphs; an added edge has no target and no mask."""
    if level == "node":
        return value[numbering.node_rows]
    if level != "edge":
        return value
    ordered = value[numbering.edge_rows]
    missing = {torch.bool: False, torch.int64: -1}.get(value.dtype, float("nan"))
    ordered[torch.from_numpy(numbering.added)] = missing
    return ordered
