"""A graph together with its pooled copies, in the form that PyTorch Geometric batches."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from weakref import ref

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import GlobalStorage

from ghr.checks import check_whole
from ghr.hierarchy.level import Level, read_finest
from ghr.hierarchy.signature import check_signature, make_signature
from ghr.hierarchy.tensors import (
    MOST_NODES,
    at_hand,
    check_edges,
    check_finite,
    check_numbers,
    check_range,
    check_rows,
    check_tensor,
    check_values,
    find_ends,
    is_dense,
)
from ghr.memory import check_memory

# What other folders need to read a graph.
__all__ = ["HierarchicalData", "Level", "at_hand", "check_edges", "check_graph", "levels_of", "num_graphs_of"]

_PARTS = ("assignment", "edge_index", "edge_attr", "centre_distance", "batch")  # what is kept of a coarse level
NUMBERED = ("assignment", "edge_index")  # parts that number the nodes of their level
_OWN_KEY = re.compile(rf"level([1-9]\d*)_({'|'.join(_PARTS)})")
_SIGNATURE = "level_signature"


class MissingLevelError(KeyError, ValueError):
    """An attribute of a level is not there: a KeyError for PyG, a sentence for everybody else."""

    def __str__(self) -> str:
        return str(self.args[0])


class LevelStorage(GlobalStorage):
    """Keeps the attributes of a graph; if one of a level is missing, says why that may be."""

    @classmethod
    def of(cls, store: GlobalStorage, parent: Data) -> "LevelStorage":
        """Return a store of the same attributes, which belong to another graph."""
        result = cls.__new__(cls)
        result.__dict__.update(store.__dict__, _mapping=dict(store._mapping), _parent=ref(parent))
        result.__dict__.pop("_cached_attr", None)  # what PyG notes of attributes is true of one store
        return result

    def __getitem__(self, key: str) -> Any:
        try:
            return self._mapping[key]
        except KeyError:
            if key != _SIGNATURE and _OWN_KEY.fullmatch(key) is None:
                raise
        raise MissingLevelError(
            f"A graph has no {key}. The graphs of a batch must have the same number of levels with the same features: "
            "coarsen all of them in the same way."
        )

    def __contains__(self, key: object) -> bool:
        return key in self._mapping

    def _pop_cache(self, key: str) -> None:
        if "_cached_attr" in self.__dict__:  # asking PyG's way raises an error inside for every attribute that is set
            super()._pop_cache(key)


class HierarchicalData(Data):
    r"""A PyG graph that also carries its coarser levels, made by :class:`~ghr.Coarsen`.

    Level :math:`k \geq 1` lives in flat attributes, so PyG's own loader, ``Batch``, ``.to()`` and caches handle it:
    ``level{k}_edge_index``, ``level{k}_edge_attr``, ``level{k}_assignment``, ``level{k}_centre_distance`` and
    ``level{k}_batch``, whose length is the size of the level. Read them as :attr:`levels`.

    The levels belong to the nodes and edges that the graph had when it was coarsened. ``level_signature`` notes these
    (one row per graph: levels, nodes, edges, a hash of the edges), and reading :attr:`levels` of a graph that has
    others by now raises a ValueError. Features may change at any time.

    Example:
        >>> from ghr import Coarsen, Graclus
        >>> ring = Data(x=torch.ones(6, 1), edge_index=torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]]))
        >>> [level.num_nodes for level in Coarsen(Graclus(rounds=1))(ring).levels]
        [6, 3]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.__dict__["_store"] = LevelStorage.of(self._store, self)

    @classmethod
    def of(cls, data: Data, levels: Sequence[Level]) -> "HierarchicalData":
        """Return a graph with the attributes of another and with levels that fit it, the first its own."""
        result = cls.__new__(cls)
        result.__dict__.update(data.__dict__, _store=LevelStorage.of(data._store, result))
        for k in range(1, len(levels)):
            result._put(k, levels[k])
        result._sign(levels[0], len(levels))
        return result

    @property
    def num_levels(self) -> int:
        """Number of levels, the graph itself included."""
        return num_levels_of(self)

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels from fine (0) to coarse.

        Raises:
            ValueError: If the graph has other nodes or edges than when it was coarsened.
        """
        levels = (read_finest(self), *(self._read_coarse(k) for k in range(1, self.num_levels)))
        signature = self._store.get(_SIGNATURE)
        if signature is not None and at_hand(levels[0].edge_index):
            check_signature(signature, levels)
        for k in range(1, len(levels)):  # after the signature, which says why they do not fit
            _check_rise(levels[k], levels[k - 1].num_nodes, k)
        return levels

    def _read_coarse(self, k: int) -> Level:
        """Return a coarse level whose tensors fit together; only types and shapes are looked at."""
        num_nodes = self._count_coarse(k)
        batch = check_numbers(f"batch of level {k}", self[f"level{k}_batch"], num_nodes, "nodes")
        edge_index = check_edges(self[f"level{k}_edge_index"], num_nodes, f"edge_index of level {k}", look=False)
        edge_attr, distance = (self._store.get(f"level{k}_{name}") for name in ("edge_attr", "centre_distance"))
        if edge_attr is not None:
            edge_attr = check_rows(f"edge_attr of level {k}", edge_attr, edge_index.size(1))
        return Level(edge_index, edge_attr, num_nodes, batch, self[f"level{k}_assignment"], distance)

    def _count_coarse(self, k: int) -> int:
        return check_tensor(f"level{k}_batch", self[f"level{k}_batch"]).size(0)

    def append_level(
        self,
        assignment: Tensor,
        num_nodes: int,
        edge_index: Tensor,
        edge_attr: Tensor | None,
        centre_distance: Tensor | None = None,
    ) -> None:
        """Put one more level on top, and sign the graph as it is now.

        Args:
            assignment: Node of the new level for every node of the present top level, in 0..num_nodes-1.
            num_nodes: Size of the new level.
            edge_index: Its edges.
            edge_attr: Their features, if any.
            centre_distance: How far every node of the present top level is from the centre of its cluster, if known.
        """
        finest, k = read_finest(self), self.num_levels
        below = finest.num_nodes if k == 1 else self._count_coarse(k - 1)
        num_nodes = check_whole("num_nodes", num_nodes, 1, MOST_NODES)
        if num_nodes > below:  # there was memory for the level below
            check_memory(f"A level of num_nodes={num_nodes:,}", 8 * num_nodes, "give the number of clusters")
        check_numbers(f"assignment of level {k}", assignment, below, "nodes below")
        check_edges(edge_index, num_nodes, f"edge_index of level {k}", look=False)
        if edge_attr is not None:
            edge_attr = check_rows(f"edge_attr of level {k}", edge_attr, edge_index.size(1))
        if centre_distance is not None:
            _check_distance(centre_distance, below, k)
        batch = torch.zeros(num_nodes, dtype=torch.long, device=assignment.device)
        self._put(k, Level(edge_index, edge_attr, num_nodes, batch, assignment, centre_distance))
        self._sign(finest, k + 1)

    def _put(self, k: int, level: Level) -> None:
        for name in _PARTS:
            value = getattr(level, name)
            if value is not None:
                self._store[f"level{k}_{name}"] = value

    def sign(self) -> None:
        """Note which nodes and edges the levels belong to.

        :meth:`append_level` does so. Call it only where the graph and all its levels were changed together.
        """
        self._sign(read_finest(self), self.num_levels)

    def _sign(self, finest: Level, num_levels: int) -> None:
        self[_SIGNATURE] = make_signature(finest, _count_graphs(self, finest), num_levels)

    def __inc__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        own = split_key(key)
        if own is None:
            return super().__inc__(key, value, *args, **kwargs)
        level, part = own
        if part == "batch":
            return 1
        return self._count_coarse(level) if part in NUMBERED else 0

    def __cat_dim__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        own = split_key(key)
        if own is None:
            return super().__cat_dim__(key, value, *args, **kwargs)
        return 1 if own[1] == "edge_index" else 0


# Plain holders of tensors: with these named, graphs load with `weights_only=True`, and no code is ever unpickled.
torch.serialization.add_safe_globals([HierarchicalData, LevelStorage, DataEdgeAttr, DataTensorAttr, GlobalStorage])


@lru_cache(maxsize=1024)
def split_key(key: object) -> tuple[int, str] | None:
    """Return the coarse level that an attribute belongs to, and which part of it; ``None`` for all other attributes."""
    own = _OWN_KEY.fullmatch(str(key))  # inside a dictionary, a key need not be a word
    return None if own is None else (int(own[1]), own[2])


def levels_of(data: Data) -> tuple[Level, ...]:
    """Return the levels of any graph; a plain `Data` has one."""
    return data.levels if isinstance(data, HierarchicalData) else (read_finest(data),)


def num_levels_of(data: Data) -> int:
    """Return the number of levels of any graph, itself included."""
    count = 1
    while data._store.get(f"level{count}_batch") is not None:
        count += 1
    return count


def num_graphs_of(data: Data) -> int:
    """Return the number of graphs in a batch; one for a single graph."""
    if _knows_its_graphs(data):
        return int(data.num_graphs)
    batch = data._store.get("batch")
    return 1 if batch is None or batch.numel() == 0 else int(batch.max()) + 1


def check_graph(data: Data) -> tuple[Level, ...]:
    """Return the levels of a graph, or raise a ValueError that says what is wrong with it.

    That is: no nodes, edges, assignments or graphs of a batch out of range, features that are not finite or not one
    row per edge, or levels that belong to another graph.
    """
    levels = levels_of(data)
    if levels[0].num_nodes == 0:
        raise ValueError("The graph has no nodes; at least one is needed.")
    most = _count_graphs(data, levels[0]) - 1
    for k, level in enumerate(levels):
        check_edges(level.edge_index, level.num_nodes, f"edge_index of level {k}")
        check_finite(f"edge_attr of level {k}", level.edge_attr)
        if k > 0:
            check_range(f"batch of level {k}", level.batch, most)
            _check_clusters(level.clusters, level.num_nodes, k)
            check_finite(f"centre_distance of level {k}", level.centre_distance)
    check_finite("x", data.x)
    return levels


def _knows_its_graphs(data: Data) -> bool:
    return isinstance(data, Batch) and (hasattr(data, "_num_graphs") or "ptr" in data._store)


def _count_graphs(data: Data, finest: Level) -> int:
    """Return the number of graphs of a batch whose nodes are all in one of them, or raise a ValueError."""
    if data._store.get("batch") is None:
        return 1
    most = num_graphs_of(data) if _knows_its_graphs(data) else max(finest.num_nodes, 1)  # a graph has a node
    check_range("batch", finest.batch, most - 1)
    return num_graphs_of(data)


def _check_rise(level: Level, below: int, k: int) -> None:
    """Raise a ValueError unless a coarse level has one entry for every node of the level below."""
    assignment: Any = level.assignment
    if is_dense(assignment) and assignment.dim() == 1 and assignment.numel() != below:
        raise ValueError(f"Level {k} assigns {assignment.numel()} nodes, but the level below has {below}.")
    check_numbers(f"assignment of level {k}", assignment, below, "nodes below")
    if level.centre_distance is not None:
        _check_distance(level.centre_distance, below, k)


def _check_clusters(assignment: Tensor, num_clusters: int, k: int) -> None:
    check_values(f"assignment of level {k}", assignment)
    low, high = find_ends(assignment)
    if low < 0 or high >= num_clusters:
        raise ValueError(f"Level {k} assigns a node to {low if low < 0 else high}, but has {num_clusters} nodes.")


def _check_distance(given: Any, num_nodes: int, k: int) -> Tensor:
    distance = check_tensor(f"centre_distance of level {k}", given)
    if distance.shape != (num_nodes,):
        shape = tuple(distance.shape)
        raise ValueError(
            f"centre_distance of level {k} has the shape {shape}, but the level below has {num_nodes} nodes."
        )
    return distance
