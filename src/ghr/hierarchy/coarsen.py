"""The transform that puts pooled copies on top of a graph."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from ghr.checks import check_choice, check_whole, show
from ghr.hierarchy.centres import CentrePaths
from ghr.hierarchy.data import HierarchicalData, check_graph, num_levels_of
from ghr.hierarchy.graclus import Graclus, Mode
from ghr.hierarchy.grid import GridBlocks
from ghr.hierarchy.level import Level, read_weight
from ghr.hierarchy.reduce import EdgeReduce, Merged, Numeric, Reduce, check_codes, check_edge_reduce, reduce_edges
from ghr.hierarchy.tensors import WHOLES, check_values, describe, is_dense, to_tensor

Partition = Callable[..., Tensor]
PARTITIONS: dict[str, type[Graclus] | type[GridBlocks]] = {"graclus": Graclus, "grid": GridBlocks}
MOST_LEVELS = 64


class Coarsen(BaseTransform):
    r"""Puts the quotient graph of a partition on top of a graph; usable as ``transform`` and as ``pre_transform``.

    Two clusters are joined exactly if some edge joins their members; self loops are dropped and repeats merged. So
    every path maps to a path that is no longer, :math:`d_H(\mathrm{Pool}\,u, \mathrm{Pool}\,v) \leq d_L(u, v)`.
    A directed edge gives a directed coarse edge; partitions look at the graph as undirected.

    It must come last among transforms: what adds, removes or renumbers nodes or edges afterwards would leave the levels
    of another graph behind, and reading these is refused.

    Args:
        partition: :class:`Graclus`, :class:`GridBlocks`, or any callable ``(edge_index, num_nodes) -> labels``;
            labels may be any integers, clusters are numbered 0..C-1 in their order.
        edge_reduce: How a coarse edge's features come from the finest edges merged into it: ``"min"``, ``"mean"``,
            ``"max"``, ``"sum"``, a sequence of these (their columns stand side by side), or a callable
            ``(coarse_edge_index, assignment, num_clusters) -> features`` where ``assignment`` maps the finest nodes;
            or :class:`CentrePaths` (``"centre_paths"``), which makes them as long as paths between the centres of the
            clusters. ``None`` takes the partition's own ``coarse_edge_attr`` if it has one, else ``"mean"`` for
            floating point numbers, and for integers, which are codes, the share of every code among the edges merged.
            Features come in the precision of ``edge_attr``, or else of ``x``.
        levels: Number of coarse levels; the partition is applied to each in turn. With `until` the least number.
        until: Go on until a level has at most so many nodes; ``None`` for `levels` exactly.
        codes: For integer features, how many codes every column has: a coarse edge has as many features as there are
            codes together. ``None`` takes those that occur in the graph, and two for truth values; graphs that are to
            be batched need the same numbers. Only read where coarse edges carry shares of codes.

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
        edge_reduce: EdgeReduce = None,
        levels: int = 1,
        codes: Sequence[int] | None = None,
        until: int | None = None,
    ) -> None:
        if not callable(partition) or isinstance(partition, type):
            raise ValueError(
                f"The partition must be a callable (edge_index, num_nodes) -> labels; got {show(partition)}."
            )
        self.partition = partition
        self.edge_reduce = check_edge_reduce(edge_reduce)
        self.levels = check_whole("levels", levels, most=MOST_LEVELS)
        self.until = None if until is None else check_whole("until", until, also=", or None")
        self.codes = check_codes(codes)

    @property
    def config(self) -> dict[str, Any] | None:
        """The options that :func:`make_coarsen` builds it from again, as JSON holds them.

        ``None`` if there are none: for a partition that is not in ``PARTITIONS``, for edge features by a callable, and
        for :class:`CentrePaths` of another column than the first.
        """
        names = [name for name, known in PARTITIONS.items() if type(self.partition) is known]
        reduce: Any = list(self.edge_reduce) if isinstance(self.edge_reduce, tuple) else self.edge_reduce
        if isinstance(reduce, CentrePaths) and reduce.column == 0:
            reduce = "centre_paths"
        if not names or callable(reduce):
            return None
        own: dict[str, Any] = self.partition.config  # type: ignore[attr-defined]
        codes = None if self.codes is None else list(self.codes)
        config = {"partition": names[0], **own, "edge_reduce": reduce, "levels": self.levels, "codes": codes}
        return config if self.until is None else {**config, "until": self.until}

    def __call__(self, data: Data) -> HierarchicalData:
        """Return the graph with its coarse levels; nothing has to be copied before."""
        return self.forward(data)

    def forward(self, data: Data) -> HierarchicalData:
        """Return the graph with its coarse levels; the given graph is left as it is."""
        if not isinstance(data, Data):
            raise ValueError(f"Coarsen takes a torch_geometric.data.Data; got {type(data).__name__}.")
        if data._store.get("batch") is not None:
            raise ValueError("Coarsen takes one graph at a time; apply it before batching.")
        num_levels = num_levels_of(data)
        if num_levels > 1:
            raise ValueError(f"The graph already has {num_levels} levels; coarsen the plain graph instead.")
        (finest,) = check_graph(data)
        result = HierarchicalData.of(data, self._make_levels(data, finest))
        if data.x is None and data.pos is None:
            result.num_nodes = finest.num_nodes  # otherwise PyG would guess it from the largest node of an edge
        return result

    def _make_levels(self, data: Data, finest: Level) -> list[Level]:
        weight, dtype = self._read_weight(data), _choose_dtype(finest.edge_attr, data.x)
        levels = [finest]
        merged: Merged | None = None
        while self._goes_on(levels):
            below = levels[-1]
            step = self._merge(below.edge_index, below.num_nodes, weight)
            if len(levels) > self.levels and step.num_nodes == below.num_nodes:
                break  # the partition merges nothing any more
            if weight is not None:
                weight = _sum_weights(weight, step)
            merged = step if merged is None else merged.then(step)
            edge_attr: Tensor | None
            distance: Tensor | None = None
            if isinstance(self.edge_reduce, CentrePaths):
                edge_attr, distance = self.edge_reduce(
                    below, step.assignment, step.num_nodes, step.edge_index, to_tensor(step.became, below.edge_index)
                )
            else:
                rule = (
                    getattr(self.partition, "coarse_edge_attr", None) if self.edge_reduce is None else self.edge_reduce
                )
                edge_attr = reduce_edges(rule, finest.edge_attr, merged, self.codes)
            distance, edge_attr = _convert(distance, dtype), _convert(edge_attr, dtype)
            batch = finest.batch.new_zeros(step.num_nodes)
            levels.append(Level(step.edge_index, edge_attr, step.num_nodes, batch, step.assignment, distance))
        return levels

    def _goes_on(self, levels: Sequence[Level]) -> bool:
        made = len(levels) - 1
        if made < self.levels:
            return True
        return self.until is not None and levels[-1].num_nodes > self.until and made < MOST_LEVELS

    def _merge(self, edge_index: Tensor, num_nodes: int, weight: Tensor | None) -> Merged:
        """Take one step: partition a graph and build the quotient graph."""
        label = self.partition(edge_index, num_nodes, *(() if weight is None else (weight,)))
        if not is_dense(label) or label.dtype not in WHOLES or label.shape != (num_nodes,):
            raise ValueError(
                f"The partition must return one integer label per node, shape ({num_nodes},); got {describe(label)}."
            )
        check_values("What the partition returns", label)
        return Merged.by(label, edge_index)

    def _read_weight(self, data: Data) -> Tensor | None:
        if not getattr(self.partition, "uses_edge_weight", False):
            return None
        weight = data._store.get("edge_weight")
        weight = data.edge_attr if weight is None else weight
        if weight is None:  # all edges weigh the same, until they are merged
            return torch.ones(int(data.num_edges), device=data["edge_index"].device)
        if weight.numel() != data.num_edges:
            raise ValueError(
                f"{self.partition!r} needs one weight per edge, in data.edge_weight or a one-column data.edge_attr; "
                f"got shape {tuple(weight.shape)} for {data.num_edges} edges."
            )
        return read_weight(weight, data.num_edges)

    def __repr__(self) -> str:
        more = "" if self.codes is None else f", codes={list(self.codes)}"
        more += "" if self.until is None else f", until={self.until}"
        return f"Coarsen({self.partition!r}, edge_reduce={self.edge_reduce!r}, levels={self.levels}{more})"


def make_coarsen(
    *,
    partition: str = "graclus",
    rounds: int = 3,
    mode: Mode = "min_degree",
    seed: int | None = 0,
    block: int = 2,
    edge_reduce: Reduce | Sequence[Numeric] | None = None,
    levels: int = 1,
    codes: Sequence[int] | None = None,
    until: int | None = None,
) -> Coarsen:
    """Build a :class:`Coarsen` from options that JSON can hold, such as :attr:`Coarsen.config`.

    Args:
        partition: A name in ``PARTITIONS``: ``"graclus"`` or ``"grid"``.
        rounds: Of :class:`Graclus`, as `mode` and `seed`; other partitions do not read these.
        mode: Which free neighbour a node takes.
        seed: Seed of the visiting order.
        block: Of :class:`GridBlocks`; other partitions do not read it.
        edge_reduce: As in :class:`Coarsen`, by name; ``"centre_paths"`` stands for :class:`CentrePaths`.
        levels: Number of coarse levels.
        codes: How many codes every column of integer edge features has.
        until: As in :class:`Coarsen`.
    """
    given = {"rounds": rounds, "mode": mode, "seed": seed, "block": block}
    chosen: Any = PARTITIONS[check_choice("partition", partition, PARTITIONS)]
    return Coarsen(chosen(**{name: given[name] for name in chosen.options}), edge_reduce, levels, codes, until)


def _choose_dtype(*features: Tensor | None) -> torch.dtype:
    """Return the precision of the first features that have one."""
    found = [value.dtype for value in features if value is not None and value.is_floating_point()]
    return found[0] if found else torch.get_default_dtype()


def _convert(value: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    if value is None or value.dtype is dtype or not value.is_floating_point():
        return value
    return value.to(dtype)


def _sum_weights(weight: Tensor, step: Merged) -> Tensor:
    became = to_tensor(step.became, weight)
    crossing = became >= 0
    return weight.new_zeros(step.edge_index.size(1)).index_add(0, became[crossing], weight[crossing])
