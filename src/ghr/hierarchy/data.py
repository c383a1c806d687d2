"""A graph together with its pooled copies, in the form that PyTorch Geometric batches."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import GlobalStorage


@dataclass(frozen=True)
class Level:
    """One level of the hierarchy: level 0 is the graph itself, level 1 its pooled copy, and so on.

    Attributes:
        edge_index: Edges :math:`(2, E)`.
        edge_attr: Edge features :math:`(E, D)`, or ``None``.
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


class HierarchicalData(Data):
    r"""A PyG graph that also carries its coarser levels, made by :class:`~ghr.Coarsen`.

    Level :math:`k \geq 1` lives in flat attributes, so PyG's own loader, ``Batch``, ``.to()`` and caches handle it:
    ``level{k}_edge_index``, ``level{k}_edge_attr``, ``level{k}_assignment``, ``level{k}_centre_distance`` and
    ``level{k}_batch``, whose length is the size of the level. Read them as :attr:`levels`.

    Example:
        >>> from ghr import Coarsen, Graclus
        >>> ring = Data(x=torch.ones(6, 1), edge_index=torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]]))
        >>> [level.num_nodes for level in Coarsen(Graclus(rounds=1))(ring).levels]
        [6, 3]
    """

    @property
    def num_levels(self) -> int:
        """Number of levels, the graph itself included."""
        count = 1
        while f"level{count}_batch" in self._store:
            count += 1
        return count

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels from fine (0) to coarse."""
        return tuple(_finest(self) if k == 0 else self._coarse(k) for k in range(self.num_levels))

    def _coarse(self, k: int) -> Level:
        batch = self[f"level{k}_batch"]
        return Level(
            edge_index=self[f"level{k}_edge_index"],
            edge_attr=self._store.get(f"level{k}_edge_attr"),
            num_nodes=batch.size(0),
            batch=batch,
            assignment=self[f"level{k}_assignment"],
            centre_distance=self._store.get(f"level{k}_centre_distance"),
        )

    def append_level(
        self,
        assignment: Tensor,
        num_nodes: int,
        edge_index: Tensor,
        edge_attr: Tensor | None,
        centre_distance: Tensor | None = None,
    ) -> None:
        """Put one more level on top.

        Args:
            assignment: Node of the new level for every node of the present top level, in 0..num_nodes-1.
            num_nodes: Size of the new level.
            edge_index: Its edges.
            edge_attr: Their features, if any.
            centre_distance: How far every node of the present top level is from the centre of its cluster, if known.
        """
        k = self.num_levels
        self[f"level{k}_assignment"] = assignment
        self[f"level{k}_edge_index"] = edge_index
        if edge_attr is not None:
            self[f"level{k}_edge_attr"] = edge_attr
        if centre_distance is not None:
            self[f"level{k}_centre_distance"] = centre_distance
        self[f"level{k}_batch"] = torch.zeros(num_nodes, dtype=torch.long, device=assignment.device)

    def __inc__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        level, _, name = key.partition("_")
        if not (level.startswith("level") and level[5:].isdigit()):
            return super().__inc__(key, value, *args, **kwargs)
        if name == "batch":
            return 1
        if name in ("edge_index", "assignment"):
            return self[f"{level}_batch"].size(0)
        return 0

    def __cat_dim__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if key.startswith("level"):
            return 1 if key.endswith("_edge_index") else 0
        return super().__cat_dim__(key, value, *args, **kwargs)


# Plain holders of tensors: with these named, graphs load with `weights_only=True`, and no code is ever unpickled.
torch.serialization.add_safe_globals([HierarchicalData, DataEdgeAttr, DataTensorAttr, GlobalStorage])


def levels_of(data: Data) -> tuple[Level, ...]:
    """Return the levels of any graph; a plain `Data` has one."""
    return data.levels if isinstance(data, HierarchicalData) else (_finest(data),)


def num_graphs_of(data: Data) -> int:
    """Return the number of graphs in a batch; one for a single graph."""
    batch = getattr(data, "batch", None)
    if hasattr(data, "num_graphs"):
        return int(data.num_graphs)
    return 1 if batch is None or batch.numel() == 0 else int(batch.max()) + 1


def _finest(data: Data) -> Level:
    edge_index, edge_attr, x = data.edge_index, data.edge_attr, data.x
    if edge_index is None:
        raise ValueError("The graph has no edge_index; give an empty tensor of shape (2, 0) if it has no edges.")
    num_nodes = (data.num_nodes or 0) if x is None else x.size(0)
    batch = getattr(data, "batch", None)
    if batch is None:
        batch = torch.zeros(num_nodes, dtype=torch.long, device=edge_index.device)
    if edge_attr is not None and edge_attr.dim() == 1:
        edge_attr = edge_attr.unsqueeze(1)
    return Level(edge_index, edge_attr, num_nodes, batch)


def at_hand(value: Tensor) -> bool:
    """Whether values may be looked at: on a GPU that would stall the device, in compiled code break the graph."""
    return value.device.type == "cpu" and not torch.compiler.is_compiling()


def check_graph(data: Data) -> tuple[Level, ...]:
    """Return the levels of a graph, or raise a ValueError that says what is wrong with it.

    That is: no nodes, edges or assignments out of range, features that are not finite or not one row per edge.
    """
    levels = levels_of(data)
    if levels[0].num_nodes == 0:
        raise ValueError("The graph has no nodes; at least one is needed.")
    if levels[0].batch.shape != (levels[0].num_nodes,):
        raise ValueError(f"batch has the shape {tuple(levels[0].batch.shape)} for {levels[0].num_nodes} nodes.")
    for k, level in enumerate(levels):
        check_edges(level.edge_index, level.num_nodes, f"edge_index of level {k}")
        if level.edge_attr is not None and level.edge_attr.size(0) != level.edge_index.size(1):
            raise ValueError(
                f"edge_attr of level {k} has {level.edge_attr.size(0)} rows for {level.edge_index.size(1)} edges."
            )
        _check_finite(level.edge_attr, f"edge_attr of level {k}")
        if level.assignment is not None:
            _check_assignment(level.assignment, levels[k - 1].num_nodes, level.num_nodes, k)
        _check_finite(level.centre_distance, f"centre_distance of level {k}")
    _check_finite(data.x, "x")
    return levels


def check_edges(edge_index: Tensor, num_nodes: int, name: str = "edge_index") -> None:
    """Raise a ValueError unless edges are two rows of nodes that exist."""
    if edge_index.dim() != 2 or edge_index.size(0) != 2 or edge_index.dtype != torch.long:
        raise ValueError(
            f"{name} must be an int64 tensor of shape (2, E); "
            f"got {edge_index.dtype} of shape {tuple(edge_index.shape)}."
        )
    if edge_index.numel():
        low, high = _ends(edge_index)
        if low < 0 or high >= num_nodes:
            raise ValueError(f"{name} has node {low if low < 0 else high}, but nodes run from 0 to {num_nodes - 1}.")


def _check_assignment(assignment: Tensor, num_nodes: int, num_clusters: int, k: int) -> None:
    if assignment.shape != (num_nodes,):
        raise ValueError(f"level {k} assigns {tuple(assignment.shape)} nodes, but the level below has {num_nodes}.")
    low, high = _ends(assignment)
    if low < 0 or high >= num_clusters:
        raise ValueError(f"level {k} assigns a node to {low if low < 0 else high}, but has {num_clusters} nodes.")


def _ends(value: Tensor) -> tuple[int, int]:
    low, high = torch.aminmax(value)
    return int(low), int(high)


def _check_finite(value: Tensor | None, name: str) -> None:
    if value is None or not value.is_floating_point():
        return
    if not math.isfinite(value.sum().item()):  # one cheap pass; a sum of finite numbers may overflow, so then count
        bad = int((~torch.isfinite(value)).sum())
        if bad:
            raise ValueError(f"{name} has {bad} entries that are not finite numbers; clean or impute them first.")
