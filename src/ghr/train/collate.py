"""Graphs as one batch: the same as PyG makes of them, in a fraction of the time."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, TypeAlias, cast

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from ghr.datasets.splits import Examples
from ghr.hierarchy.data import NUMBERED, HierarchicalData, split_key
from ghr.hierarchy.kernels.lists import shift_runs
from ghr.hierarchy.kernels.types import Ints
from ghr.train.sharing import Piece, Pieces

Column: TypeAlias = tuple[Any, ...]  # one attribute of every graph
Columns: TypeAlias = dict[str, Column]

_pieces = Pieces()


def collate(graphs: Examples, indices: list[int]) -> Any:
    """Return the graphs at ``indices`` as one batch."""
    return collate_list([graphs[index] for index in indices])


def collate_list(graphs: Sequence[Data]) -> Any:
    """Return graphs as one batch, or raise a ValueError that says how they differ."""
    columns = _list_columns(graphs)
    try:
        return _join(graphs, columns) if _is_plain(graphs, columns) else Batch.from_data_list(list(graphs))
    except RuntimeError as error:
        raise ValueError(
            f"These graphs cannot form a batch, since their attributes differ in width: {error}."
        ) from error


def _list_columns(graphs: Sequence[Data]) -> Columns:
    """Return for every attribute its values of all graphs."""
    for number, graph in enumerate(graphs):
        if not isinstance(graph, Data):
            raise ValueError(f"Graph {number} is a {type(graph).__name__}, not a graph of PyTorch Geometric.")
    stores = [graph._store._mapping for graph in graphs]
    keys = [*stores[0]]
    rows = []
    for store in stores:
        if [*store] == keys:
            rows.append(store.values())
        elif store.keys() == stores[0].keys():
            rows.append([store[key] for key in keys])
        else:
            differ = ", ".join(sorted(store.keys() ^ stores[0].keys()))
            raise ValueError(f"Graphs of one batch must have the same attributes, but some lack {differ}.")
    return dict(zip(keys, zip(*rows, strict=True), strict=True))


def _is_plain(graphs: Sequence[Data], columns: Columns) -> bool:
    """Return whether all attributes are tensors with rows, of graphs whose class has no rules of its own for them."""
    kind = type(graphs[0])
    if kind not in (Data, HierarchicalData) or any(type(graph) is not kind for graph in graphs):
        return False
    return "edge_index" in columns and all(
        type(value) is Tensor and value.layout is torch.strided and not value.is_nested and value.dim() > 0
        for value, *_ in columns.values()
    )


def _join(graphs: Sequence[Data], columns: Columns) -> Any:
    """Do as ``Batch.from_data_list``: that adds to the node numbers of every graph by itself, this to all at once."""
    first = graphs[0]
    batch: Any = type.__call__(_find_class(type(first)))
    # PyG takes long to find the number of nodes.
    nodes = [x.size(0) for x in columns["x"]] if "x" in columns else [graph.num_nodes or 0 for graph in graphs]
    counts: dict[str, list[int]] = {}
    joined: dict[str, Tensor] = batch._store._mapping
    slices: dict[str, Tensor] = {}
    increments: dict[str, Tensor] = {}
    for key, values in columns.items():
        if key == "ptr":  # as PyG does, which makes a new one
            continue
        added = _list_added(key, graphs, columns, nodes, counts)
        shared = values[0] is values[-1] and len(values) > 1 and len(set(map(id, values))) == 1
        piece = _pieces.find(values[0], added) if shared else None
        if piece is None:
            piece = _join_values(values, first.__cat_dim__(key, values[0]), added)
            if shared:
                _pieces.keep(values[0], added, piece)
        joined[key], slices[key], increments[key] = piece
    device = joined["edge_index"].device
    joined["batch"] = _repeat(np.arange(len(graphs), dtype=np.int64), nodes).to(device)
    joined["ptr"] = _add_up(nodes).to(device)
    batch._num_graphs, batch._slice_dict, batch._inc_dict = len(graphs), slices, increments
    return batch


def _join_values(values: Column, dim: int, added: list[int]) -> Piece:
    """Return one attribute of all graphs, where those of every graph begin in it, and what is added to them."""
    joined, slices = torch.cat(values, dim), _add_up([value.shape[dim] for value in values])
    increments = _add_up(added[:-1])
    if sum(added[:-1]) != 0:
        joined = _shift(joined, dim % joined.dim(), slices, increments)
    return joined, slices, increments


@lru_cache
def _find_class(kind: type[Data]) -> type[Batch]:
    """Return the class of batches of graphs of a class, which PyG makes up anew for every batch."""
    return type(cast(Any, Batch)(_base_cls=kind))


def _shift(joined: Tensor, dim: int, slices: Tensor, increments: Tensor) -> Tensor:
    """Return what was joined along a dimension with the increment of its graph added to every slice."""
    if joined.is_cpu and joined.dtype is torch.long and dim == joined.dim() - 1 <= 1:
        # In place and in one thread: PyTorch would make a table of all shifts and wake its threads to add it.
        shift_runs(np.atleast_2d(joined.numpy()), slices.numpy(), increments.numpy())
        return joined
    shape = [-1 if axis == dim else 1 for axis in range(joined.dim())]
    shift = _repeat(increments.numpy(), slices.diff().tolist()).view(shape).to(joined.device)
    return joined + (shift if joined.dtype is torch.bool else shift.to(joined.dtype))


def _list_added(
    key: str, graphs: Sequence[Data], columns: Columns, nodes: list[int], counts: dict[str, list[int]]
) -> list[int]:
    """Return by how much every graph shifts an attribute of those behind it; `counts` are those of coarse nodes."""
    values = columns[key]
    own = split_key(key) if isinstance(graphs[0], HierarchicalData) else None
    if own is not None and own[1] == "batch":
        return [1] * len(graphs)
    if own is not None and own[1] in NUMBERED and (batch := f"level{own[0]}_batch") in columns:
        if batch not in counts:
            counts[batch] = [value.size(0) for value in columns[batch]]
        return counts[batch]
    if key == "edge_index":
        return nodes
    # By the rules of these classes, what nothing is added to in a graph with nodes has nothing added to in any.
    if nodes[0] > 0 and graphs[0].__inc__(key, values[0]) == 0:
        return [0] * len(graphs)
    return [graph.__inc__(key, value) for graph, value in zip(graphs, values, strict=True)]


def _add_up(counts: list[int]) -> Tensor:
    """Return the sums of all counts before each, and of all of them."""
    return torch.from_numpy(_sums(tuple(counts)).copy())


@lru_cache(maxsize=64)
def _sums(counts: tuple[int, ...]) -> Ints:
    """Do so once for all attributes and batches that have the same counts, as graphs of one size have."""
    return np.fromiter(accumulate(counts, initial=0), np.int64, len(counts) + 1)


def _repeat(numbers: Any, counts: list[int]) -> Tensor:
    """Return every number so many times; PyTorch would wake its threads for that."""
    return torch.from_numpy(np.repeat(numbers, counts))
