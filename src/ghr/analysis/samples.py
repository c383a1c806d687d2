"""What the range of a model is measured on: some graphs, and some predictions of each."""

import copy
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Batch, Data

from ghr.analysis.hops import count_hops
from ghr.checks import show
from ghr.datasets.splits import Examples
from ghr.datasets.task import Task
from ghr.hierarchy import HierarchicalData
from ghr.models.base import GraphModel


def draw_graphs(graphs: Examples, count: int, seed: int) -> list[int]:
    """Return the numbers of at most so many graphs, drawn at random.

    Raises:
        ValueError: Where there is no graph.
    """
    if len(graphs) == 0:
        raise ValueError("The range is measured on graphs, but there are none.")
    drawn = np.random.default_rng(seed).permutation(len(graphs))[:count]
    return sorted(int(index) for index in drawn)


def prepare(model: GraphModel, graph: Any, *, double: bool) -> Data:
    """Return a graph as the model needs it, in double precision if wanted."""
    if not isinstance(graph, Data):
        raise ValueError(f"The range is measured on graphs of PyTorch Geometric; got {show(graph)}.")
    coarsened = isinstance(graph, HierarchicalData) and graph.num_levels > 1
    prepared = copy.copy(graph) if coarsened else model.prepare(graph)
    if not double:
        return prepared
    result: Data = prepared.apply(lambda value: value.double() if value.is_floating_point() else value)
    return result


def draw_rows(graph: Data, task: Task, count: int, seed: tuple[int, int]) -> list[int]:
    """Return nodes of a graph, or edges, at random among those that count."""
    rows = int(graph.num_nodes or 0) if task.level == "graph" else task.rows(graph)
    allowed = np.arange(rows)
    mask = graph["mask"] if "mask" in graph and task.level != "graph" else None
    if isinstance(mask, Tensor) and mask.dtype == torch.bool and mask.size(0) == rows:
        allowed = np.flatnonzero(mask.reshape(rows, -1).any(dim=1).cpu().numpy())
    drawn = np.random.default_rng(seed).permutation(allowed)[:count]
    return sorted(int(row) for row in drawn)


def count_row_hops(graph: Data, task: Task, picked: Sequence[int]) -> NDArray[np.int64]:
    """Return how far every node is from some rows; from an edge as far as from the nearer end."""
    edge_index, size = graph["edge_index"], int(graph.num_nodes or 0)
    if task.level != "edge":
        return count_hops(edge_index, size, picked)
    ends = edge_index[:, list(picked)].flatten().tolist()
    both = count_hops(edge_index, size, ends).reshape(2, len(picked), size)
    nearer: NDArray[np.int64] = np.where(both < 0, both.max(axis=0), both).min(axis=0)
    return nearer


def join(graphs: Sequence[Data]) -> Data:
    """Return a batch of graphs."""
    try:
        return cast(Data, Batch.from_data_list(list(graphs)))
    except (KeyError, RuntimeError) as error:
        raise ValueError(f"These graphs cannot form a batch, since their attributes differ: {error}.") from error
