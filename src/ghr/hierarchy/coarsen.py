"""The transform that puts pooled copies on top of a graph."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from ghr.hierarchy import kernels
from ghr.hierarchy.centres import CentrePaths
from ghr.hierarchy.data import HierarchicalData, check_graph

Partition = Callable[..., Tensor]
Reduce = Literal["min", "mean", "max", "sum"]
CoarseEdgeAttr = Callable[[Tensor, Tensor, int], Tensor]


class Coarsen(BaseTransform):
    r"""Puts the quotient graph of a partition on top of a graph; usable as ``transform`` and as ``pre_transform``.

    Two clusters are joined exactly if some edge joins their members; self loops are dropped and repeats merged. So
    every path maps to a path that is no longer, :math:`d_H(\mathrm{Pool}\,u, \mathrm{Pool}\,v) \leq d_L(u, v)`.
    A directed edge gives a directed coarse edge; partitions look at the graph as undirected.

    Args:
        partition: :class:`Graclus`, :class:`GridBlocks`, or any callable ``(edge_index, num_nodes) -> labels``;
            labels may be any integers, clusters are numbered 0..C-1 in their order.
        edge_reduce: How a coarse edge's features come from the finest edges merged into it: ``"min"``, ``"mean"``,
            ``"max"``, ``"sum"``, a sequence of these (their columns stand side by side), or a callable
            ``(coarse_edge_index, assignment, num_clusters) -> features`` where ``assignment`` maps the finest nodes;
            or :class:`CentrePaths`, which makes them as long as paths between the centres of the clusters. ``None``
            takes the partition's own ``coarse_edge_attr`` if it has one, else ``"mean"``. Floating point features come
            in the precision of ``edge_attr``, or else of ``x``.
        levels: Number of coarse levels; the partition is applied to each in turn.

    Example:
        >>> from ghr import Graclus
        >>> path = Data(x=torch.ones(4, 1), edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]))
        >>> data = Coarsen(Graclus(rounds=1))(path)
        >>> data.levels[1].assignment, data.levels[1].edge_index
        (tensor([0, 0, 1, 1]), tensor([[0],
                [1]]))
    """

    def __init__(
        self,
        partition: Partition,
        edge_reduce: Reduce | Sequence[Reduce] | CoarseEdgeAttr | CentrePaths | None = None,
        levels: int = 1,
    ) -> None:
        if not callable(partition) or isinstance(partition, type):
            raise ValueError(f"The partition must be a callable (edge_index, num_nodes) -> labels; got {partition!r}.")
        if not isinstance(levels, int) or levels < 1:
            raise ValueError(f"Coarsen needs at least one coarse level; got levels={levels!r}.")
        self.partition = partition
        self.edge_reduce = edge_reduce
        self.levels = levels
        self._edge_attr = _edge_rule(partition, edge_reduce)

    def forward(self, data: Data) -> HierarchicalData:
        """Return the graph with its coarse levels; the given graph is left as it is."""
        if isinstance(data, HierarchicalData) and data.num_levels > 1:
            raise ValueError(f"The graph already has {data.num_levels} levels; coarsen the plain graph instead.")
        if getattr(data, "batch", None) is not None:
            raise ValueError("Coarsen takes one graph at a time; apply it before batching.")
        result = HierarchicalData.from_dict(data.to_dict())
        if data.x is None and data.pos is None:
            result.num_nodes = data.num_nodes  # otherwise PyG would guess it from the largest node of an edge
        (finest,) = check_graph(result)
        weight, dtype = self._edge_weight(data), _dtype(finest.edge_attr, data.x)
        edges, num_nodes = finest.edge_index, finest.num_nodes
        assignment = became = None  # of the finest nodes, and of the finest edges; -1: inside a cluster
        for _ in range(self.levels):
            label, num_nodes = self._clusters(edges, num_nodes, weight)
            edges, step = _quotient(edges, label, num_nodes)
            if weight is not None:
                weight = _merged(weight, step, edges.size(1))
            assignment = label if assignment is None else label[assignment]
            # The entry put at the end is where -1 points to.
            became = step if became is None else torch.cat([step, step.new_tensor([-1])])[became]
            edge_attr: Tensor | None
            distance: Tensor | None = None
            if isinstance(self.edge_reduce, CentrePaths):
                edge_attr, distance = self.edge_reduce(result.levels[-1], label, num_nodes, edges, step)
            else:
                edge_attr = self._edge_attr(edges, assignment, num_nodes, finest.edge_attr, became)
            result.append_level(label, num_nodes, edges, _in(dtype, edge_attr), _in(dtype, distance))
        return result

    def _clusters(self, edge_index: Tensor, num_nodes: int, weight: Tensor | None) -> tuple[Tensor, int]:
        if weight is None:
            label = self.partition(edge_index, num_nodes)
        else:
            label = self.partition(edge_index, num_nodes, weight)
        if not isinstance(label, Tensor) or label.shape != (num_nodes,) or label.is_floating_point():
            shape = tuple(label.shape) if isinstance(label, Tensor) else type(label).__name__
            raise ValueError(
                f"The partition must return one integer label per node, shape ({num_nodes},); got {shape}."
            )
        number, num_clusters = kernels.numbered(label.long().cpu().numpy())
        return _like(edge_index, number), num_clusters

    def _edge_weight(self, data: Data) -> Tensor | None:
        if not getattr(self.partition, "uses_edge_weight", False):
            return None
        weight = data.edge_weight if data.edge_weight is not None else data.edge_attr
        if weight is None or weight.numel() != data.num_edges:
            shape = None if weight is None else tuple(weight.shape)
            raise ValueError(
                f"{self.partition!r} needs one weight per edge, in data.edge_weight or a one-column data.edge_attr; "
                f"got shape {shape} for {data.num_edges} edges."
            )
        return weight.reshape(-1)

    def __repr__(self) -> str:
        return f"Coarsen({self.partition!r}, edge_reduce={self.edge_reduce!r}, levels={self.levels})"


def _quotient(edge_index: Tensor, label: Tensor, num_clusters: int) -> tuple[Tensor, Tensor]:
    source, target = edge_index.cpu().numpy()
    edges, became = kernels.quotient(source, target, label.cpu().numpy(), num_clusters)
    return _like(edge_index, edges), _like(edge_index, became)


def _like(tensor: Tensor, array: kernels.Ints) -> Tensor:
    return torch.from_numpy(array).to(tensor.device)


def _dtype(*features: Tensor | None) -> torch.dtype:
    """Return the precision of the first features that have one."""
    found = [value.dtype for value in features if value is not None and value.is_floating_point()]
    return found[0] if found else torch.get_default_dtype()


def _in(dtype: torch.dtype, value: Tensor | None) -> Tensor | None:
    return value.to(dtype) if value is not None and value.is_floating_point() else value


def _edge_rule(partition: Partition, edge_reduce: Any) -> Callable[..., Tensor | None]:
    """Turn `edge_reduce` into one function (edges, assignment, size, finest features, finest became) -> features."""
    own = getattr(partition, "coarse_edge_attr", None)
    rule = edge_reduce if edge_reduce is not None else (own or "mean")
    if callable(rule):
        return lambda edges, assignment, size, attr, became: rule(edges, assignment, size)
    names = (rule,) if isinstance(rule, str) else tuple(rule)
    unknown = [name for name in names if name not in get_args(Reduce)]
    if unknown or not names:
        what = ", ".join(map(repr, unknown)) or repr(rule)
        raise ValueError(f"Unknown edge_reduce {what}; known are {', '.join(get_args(Reduce))}.")

    def reduced(edges: Tensor, assignment: Tensor, size: int, attr: Tensor | None, became: Tensor) -> Tensor | None:
        if attr is None:
            return None
        value = attr if attr.is_floating_point() else attr.double()
        order, starts = (_like(edges, array) for array in kernels.grouped(became.cpu().numpy(), edges.size(1)))
        value = value.index_select(0, order)  # the edges that are merged side by side
        return torch.cat([torch.segment_reduce(value, name, offsets=starts, unsafe=True) for name in names], dim=1)

    return reduced


def _merged(weight: Tensor, step: Tensor, num_edges: int) -> Tensor:
    crossing = step >= 0
    return weight.new_zeros(num_edges).index_add(0, step[crossing], weight[crossing])
