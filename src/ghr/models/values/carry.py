"""Values that are chosen on every level alike, and whose changes are carried down."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ghr.hierarchy import Level
from ghr.models.cell import LevelCellUpdate, all_alike, check_level_features
from ghr.models.values.update import Reading, ValueState, ValueUpdate
from ghr.nn.encoder import Width
from ghr.nn.values import Candidates, CarryCell, Holder
from ghr.nn.values.select import SortedCandidates, sort_candidates
from ghr.ops import Above


class CarryLevel(NamedTuple):
    """What the nodes of one level choose from, computed once per forward pass.

    Attributes:
        edges: The neighbours.
        ordered: The same, sorted; ``None`` where no kernels compute.
        gate: What values are multiplied by after every update :math:`(N, m)`.
        clusters: The cluster of every node; ``None`` at the coarsest level.
        seen: The values of that cluster which the nodes have followed already :math:`(N, m)`.
    """

    edges: Candidates
    ordered: SortedCandidates | None
    gate: Tensor
    clusters: Tensor | None
    seen: Tensor | None = None


class CarryUpdate(ValueUpdate):
    """The update of a level that follows the changes of the level above, then chooses from its own neighbours.

    Args:
        cell: The weights, the same on all levels.
        part: The level, prepared.
        reach: How often a coarse level chooses in one update.
    """

    def __init__(self, cell: CarryCell, part: CarryLevel, reach: int) -> None:
        super().__init__(None)
        self.cell, self.part, self.reach = cell, part, reach

    def read_above(self, above: ValueState) -> Reading[Above]:
        """Return the values of the clusters, for every node."""
        assert self.part.clusters is not None
        return Reading(Holder(above.held.value.index_select(0, self.part.clusters), None), None)

    def update(
        self, state: ValueState, above: Reading[Above] | None, below: Reading[Tensor] | None, outer: int = 1
    ) -> ValueState:
        """Follow the level above, then choose as often as a coarse level does."""
        return self.repeat(state, above, self.reach, outer)

    def repeat(
        self, state: ValueState, above: Reading[Above] | None, updates: int, outer: int, first: int = 1
    ) -> ValueState:
        """Follow the level above, then choose several times, in one fused operation where kernels compute."""
        value, seen = state.held.value, self.part.seen if state.seen is None else state.seen
        if above is not None and seen is not None:
            value, seen = value + (above.held.value - seen), above.held.value
        if self.part.ordered is not None:
            value = self.cell.iterate(value, self.part.ordered, self.part.gate, updates)
        else:
            for _ in range(updates):
                own = Holder(value, None)
                value = self.part.gate * self.cell.choose(own, [(own, self.part.edges)])
        return ValueState(Holder(value, None), None, seen)


class CarryValues(nn.Module):
    r"""Values that are chosen by the same weights on all levels: a coarse level is a graph with longer edges.

    .. math::
        v_i \gets v_i + (v_{c(i)}^{\text{now}} - v_{c(i)}^{\text{before}}), \qquad \text{then} \qquad
        v_i \gets (1 - \rho_i) \odot \sum_j \alpha_{ij} \odot (v_j + \delta_{ij}),

    where :math:`c(i)` is the cluster of :math:`i`; the choice is that of :class:`~ghr.nn.values.CarryCell`. What a
    coarse level finds is carried down as a change; once it changes no more, the graph settles as if it were alone, so
    that a coarse level speeds up and never spoils. Multigrid methods call this a coarse-grid correction. It does most
    where a coarse level chooses so often that it has almost settled before the first change is carried down. A cluster
    is where values start if one of its members is: its :math:`1 - \rho` is the smallest of theirs.

    Args:
        in_channels: Width of the input, or the sizes of columns of codes.
        channels: Width of the values.
        hidden_channels: Width of the maps.
        lengths: Whether the edges of the graph have a length, their only feature; otherwise all are one long.
        reach: How often a coarse level chooses in one update.
    """

    def __init__(self, in_channels: Width, channels: int, hidden_channels: int, *, lengths: bool, reach: int) -> None:
        super().__init__()
        self.channels, self.lengths, self.reach = channels, lengths, reach
        self.cell = CarryCell(channels, hidden_channels, in_channels)

    def control_edge_dim(self, k: int) -> int:
        """Return zero: there is no control that could read edges."""
        return 0

    def sharpen(self, sharpness: float) -> None:
        """Set how sharp choices and gates are."""
        self.cell.sharpness.fill_(sharpness)

    def prepare(self, levels: Sequence[Level], x: Tensor, num_graphs: int) -> tuple[CarryLevel, ...]:
        """Return what the nodes of every level choose from."""
        cell = self.cell
        gate, parts = cell.open(cell.read_input(x), None), []
        assert gate is not None  # the input opens it
        for k, level in enumerate(levels):
            if k > 0:
                gate = _smallest(gate, level)
            source, target = level.edge_index
            edges = Candidates(source, target, *cell.read_lengths(self._lengths(k, level, gate)))
            ordered = sort_candidates([(edges, level.num_nodes)], level.num_nodes)
            parts.append(CarryLevel(edges, ordered, gate, levels[k + 1].clusters if k + 1 < len(levels) else None))
        return tuple(parts)

    def begin(
        self, parts: tuple[CarryLevel, ...], levels: Sequence[Level], values: Sequence[Tensor], x: Tensor
    ) -> tuple[CarryLevel, ...]:
        """Return the levels for another global step, in which all have followed the levels above so far."""
        return tuple(
            part if part.clusters is None else part._replace(seen=values[k + 1].index_select(0, part.clusters))
            for k, part in enumerate(parts)
        )

    def update_of(self, k: int, parts: Sequence[CarryLevel], control: LevelCellUpdate | None) -> CarryUpdate:
        """Return how a level is updated."""
        return CarryUpdate(self.cell, parts[k], self.reach)

    def _lengths(self, k: int, level: Level, like: Tensor) -> Tensor:
        """Return the lengths of the edges of a level, or raise a ValueError if those of coarse edges mean others."""
        if k > 0 and level.centre_distance is None:
            raise ValueError(
                f"With value_carry coarse edges are as long as paths, but level {k} was coarsened otherwise; use "
                'edge_reduce="centre_paths", as the transform of the model does.'
            )
        if k == 0 and not self.lengths:
            if level.edge_attr is not None:
                raise ValueError(
                    "The edges have features, which say how long coarse edges are, but the model was built without; "
                    "build it with edge_dim=1, or remove edge_attr before coarsening."
                )
            return like.new_ones(1, 1)
        lengths = check_level_features(level, f"Level {k}", 1, like.dtype)
        return lengths[:1] if all_alike(lengths) else lengths


def _smallest(gate: Tensor, level: Level) -> Tensor:
    """Return for every cluster the smallest of its members."""
    index = level.clusters.unsqueeze(1).expand_as(gate)
    return torch.ones_like(gate[:1]).expand(level.num_nodes, -1).scatter_reduce(0, index, gate, "amin")
