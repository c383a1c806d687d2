"""One level of a hierarchy, and how the finest one is read off a graph."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from ghr.checks import check_whole
from ghr.hierarchy.tensors import (
    MOST_NODES,
    WHOLES,
    at_hand,
    check_edges,
    check_finite,
    check_numbers,
    check_rows,
    check_tensor,
    is_dense,
)
from ghr.memory import check_memory


@dataclass(frozen=True)
class Level:
    """One level of the hierarchy: level 0 is the graph itself, level 1 its pooled copy, and so on.

    Attributes:
        edge_index: Edges :math:`(2, E)`.
        edge_attr: Edge features :math:`(E, D)`, or ``None``. At level 0 these are ``edge_attr`` of the graph with its
            ``edge_weight``, if it has one, as one more column.
        num_nodes: Number of nodes.
        batch: Graph of every node :math:`(N)`.
        assignment: Node of this level that every node of the level below belongs to; ``None`` at level 0.
        centre_distance: How far every node of the level below is from the centre of its cluster, where
            :class:`~ghr.CentrePaths` gave clusters a centre.
    """

    edge_index: Tensor
    edge_attr: Tensor | None
    num_nodes: int
    batch: Tensor
    assignment: Tensor | None = None
    centre_distance: Tensor | None = None

    @property
    def clusters(self) -> Tensor:
        """The assignment of a coarse level; the graph itself has none and raises a ValueError."""
        if self.assignment is None:
            raise ValueError("Level 0 is the graph itself: no level below has nodes that it could stand for.")
        return self.assignment


def read_finest(data: Any) -> Level:
    """Return level 0 of a graph, or raise a ValueError if its tensors do not fit together.

    Only types and shapes are looked at here; :func:`~ghr.hierarchy.data.check_graph` looks at values.
    """
    if not isinstance(data, Data):
        raise ValueError(f"A graph must be a torch_geometric.data.Data; got {type(data).__name__}.")
    store: Any = data._store
    edge_index = store.get("edge_index")
    if edge_index is None:
        raise ValueError("The graph has no edge_index; give an empty tensor of shape (2, 0) if it has no edges.")
    check_edges(edge_index, 0, "edge_index of level 0", look=False)
    num_nodes = _count_nodes(data, store.get("x"), store.get("num_nodes"))
    batch = store.get("batch")
    if batch is None:
        batch = torch.zeros(num_nodes, dtype=torch.long, device=edge_index.device)
    else:
        check_numbers("batch", batch, num_nodes, "nodes")
    edge_attr = _join_features(store.get("edge_attr"), store.get("edge_weight"), edge_index.size(1), store.get("x"))
    return Level(edge_index, edge_attr, num_nodes, batch)


def _count_nodes(data: Data, x: Any, given: Any) -> int:
    if x is not None:
        return check_tensor("x", x).size(0)
    if is_dense(given) and given.numel() == 1 and given.dtype in WHOLES and not given.is_meta:
        given = int(given)
    if given is None:
        try:
            given = data.num_nodes
        except (AttributeError, IndexError, RuntimeError, TypeError, ValueError) as error:
            raise ValueError(f"The graph does not tell how many nodes it has ({error}); set num_nodes.") from error
    count = check_whole("num_nodes", given, 0, MOST_NODES)
    check_memory(f"A graph of num_nodes={count:,}", 8 * count, "set num_nodes to the number of nodes that it has")
    return count


def _join_features(edge_attr: Any, weight: Any, num_edges: int, x: Tensor | None) -> Tensor | None:
    """Return the features of the edges, their weight as the last column."""
    rows = None if edge_attr is None else check_rows("edge_attr of level 0", edge_attr, num_edges)
    if weight is None:
        return rows
    column = read_weight(weight, num_edges).unsqueeze(1)
    if rows is None:
        dtype = x.dtype if x is not None and x.is_floating_point() else torch.get_default_dtype()
        return column if column.is_floating_point() else column.to(dtype)
    if not rows.is_floating_point():
        raise ValueError(
            f"edge_attr holds integer codes ({rows.dtype}) and edge_weight numbers, which do not fit into one tensor; "
            "convert the codes to floating point one-hot columns, or drop one of the two."
        )
    if rows.device != column.device:
        raise ValueError(
            f"edge_attr is on the device {rows.device} and edge_weight on {column.device}; move one of them."
        )
    return torch.cat([rows, column.to(rows.dtype)], dim=1)


def read_weight(given: Any, num_edges: int) -> Tensor:
    """Return one finite number per edge, shape :math:`(E)`, or raise a ValueError."""
    weight = check_tensor("edge_weight", given)
    if weight.shape not in ((num_edges,), (num_edges, 1)):
        raise ValueError(
            f"edge_weight must be one weight per edge, shape ({num_edges},); got the shape {tuple(weight.shape)}."
        )
    if at_hand(weight):
        check_finite("edge_weight", weight)
    return weight.reshape(-1)
