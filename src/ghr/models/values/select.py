"""Values that are chosen from neighbours, from members and from clusters."""

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from ghr.hierarchy import Level
from ghr.models.cell import LevelCellUpdate, LevelState, all_alike, check_level_features, prepare_edges
from ghr.models.inputs import dtype_of
from ghr.models.values.update import Reading, ValueState, ValueUpdate
from ghr.nn.encoder import Width, make_encoder
from ghr.nn.values import Candidates, Holder, SelectCell, SweepCell
from ghr.nn.values.select import CandidateEncoder, SortedCandidates, sort_candidates
from ghr.ops import Above, aggregate_sum, count_items

Gate: TypeAlias = Literal["node", "graph"]
GATES = ("node", "graph")


class SelectLevel(NamedTuple):
    """What the nodes of one level may choose from, computed once per forward pass.

    Attributes:
        k: Number of the level.
        level: The level.
        features: Its edge features as numbers, which the control reads beside differences of values.
        edges: The neighbours.
        members: The nodes below; none at the finest level.
        cluster: The node above; none at the coarsest level.
        ordered: All of them together, sorted; ``None`` where no kernels compute.
        given: What the input says to the gate.
        num_graphs: Number of graphs.
    """

    k: int
    level: Level
    features: Tensor | None
    edges: Candidates
    members: Candidates | None
    cluster: Candidates | None
    ordered: SortedCandidates | None
    given: Tensor | None
    num_graphs: int


def encode_edges(
    encoder: CandidateEncoder, source: Tensor, target: Tensor, features: Tensor | None, like: Tensor
) -> Candidates:
    """Return candidates with what their features mean; one row for all where they are alike."""
    if features is not None and all_alike(features):
        features = features[:1]
    return Candidates(source, target, *encoder(features, like))


def _distances(level: Level, like: Tensor) -> Tensor:
    """Return how far nodes are from the centres of their clusters; the same for all where that is not known."""
    if level.centre_distance is None:
        return like.new_ones(1, 1)
    return level.centre_distance.unsqueeze(1)


def _unit(part: SelectLevel) -> Tensor:
    """Return the mean step in the graph of every node, or one row for all; one where a graph has no edges."""
    step, batch = part.edges.step.detach(), part.level.batch
    if step.size(0) == 1:
        return step
    graph = batch.index_select(0, part.edges.target)
    total = aggregate_sum(step, graph, part.num_graphs)
    count = count_items(graph, part.num_graphs).unsqueeze(1)
    return torch.where(count > 0, total / count.clamp(min=1), 1.0).index_select(0, batch)


class SelectUpdate(ValueUpdate):
    """The update of a level whose values are chosen from neighbours, from members and from the cluster.

    Args:
        cell: The weights.
        part: The level, prepared.
        control: The update of the control, whose edges also have the differences of values as features.
    """

    def __init__(self, cell: SelectCell, part: SelectLevel, control: LevelCellUpdate | None) -> None:
        super().__init__(control)
        self.cell, self.part = cell, part

    def update(
        self, state: ValueState, above: Reading[Above] | None, below: Reading[Tensor] | None, outer: int = 1
    ) -> ValueState:
        """Choose, update the control, then let the gate close."""
        part = self.part
        groups = [(state.held, part.edges)]
        if below is not None and part.members is not None:
            groups.append((below.held, part.members))
        if above is not None and part.cluster is not None:
            groups.append((above.held, part.cluster))
        if part.ordered is None:
            chosen = self.cell.choose(state.held, groups)
        else:
            chosen = self.cell.choose_sorted([holder for holder, _ in groups], part.ordered)
        control, normalised = self._update_control(self._see(state), above, below, outer)
        value = self.cell.close(chosen, part.given, normalised)
        return ValueState(Holder(value, normalised), control)

    def repeat(
        self, state: ValueState, above: Reading[Above] | None, updates: int, outer: int, first: int = 1
    ) -> ValueState:
        """Update the graph itself several times, in one fused operation where nothing else changes meanwhile."""
        ordered = self.part.ordered
        if self.control is not None or above is not None or ordered is None:
            return super().repeat(state, above, updates, outer, first)
        value, gate = state.held.value, self.cell.open(self.part.given, None)
        value = self.cell.iterate(value, ordered, torch.ones_like(value) if gate is None else gate, updates)
        return ValueState(Holder(value, None), None)

    def _see(self, state: ValueState) -> LevelState | None:
        """Return the state of the control with edges that tell how values differ along them."""
        if self.control is None or state.control is None:
            return None
        (source, target), value = self.part.level.edge_index, state.held.value
        difference = torch.tanh(value.index_select(0, source) - value.index_select(0, target))
        features = self.part.features
        rows = difference if features is None else torch.cat([features.expand(len(source), -1), difference], dim=1)
        level, cell = dataclasses.replace(self.part.level, edge_attr=rows), self.control.cell
        return LevelState(
            state.control.state, prepare_edges(cell.conv, level, cell.edge_encoder(level, f"Level {self.part.k}"))
        )


class SelectValues(nn.Module):
    """Values that are chosen: the weights of all levels.

    Args:
        in_channels: Width of the input, or the sizes of columns of codes.
        channels: Width of the values.
        hidden_channels: Width of the maps.
        edge_dims: Widths of the edge features of the levels that have weights of their own, ``None`` without any.
        control: Width of the control; ``0`` without any.
        gate: Where values start: ``"node"`` lets the input of every node say it (:class:`~ghr.nn.values.SelectCell`),
            ``"graph"`` one node of the graph for each channel, anew in every global step
            (:class:`~ghr.nn.values.SweepCell`), without control.
        levels: Number of levels.
    """

    def __init__(
        self,
        in_channels: Width,
        channels: int,
        hidden_channels: int,
        edge_dims: Sequence[Width | None],
        *,
        control: int,
        gate: Gate,
        levels: int,
    ) -> None:
        super().__init__()
        self.channels, self.gate, self.edge_dims = channels, gate, list(edge_dims)
        finest = edge_dims[0]
        # The control reads numbers beside the differences of values, so that codes are embedded first.
        coded = not (finest is None or isinstance(finest, int)) and control > 0
        self.codes = make_encoder(finest, hidden_channels) if coded and finest is not None else None
        self.widths: list[Width] = [width or 0 for width in edge_dims]
        if self.codes is not None:
            self.widths[0] = hidden_channels
        make: Any = SweepCell if gate == "graph" else partial(SelectCell, control=control)
        self.cells = nn.ModuleList(
            make(
                channels,
                hidden_channels,
                width,
                in_channels if k == 0 else None,
                members=k > 0,
                cluster=k + 1 < levels,
            )
            for k, width in enumerate(self.widths)
        )

    def control_edge_dim(self, k: int) -> int:
        """Return the width of the edge features that the control of a level reads: also the differences of values."""
        width = self.widths[k]
        return self.channels + (width if isinstance(width, int) else 0)

    def prepare(self, levels: Sequence[Level], x: Tensor, num_graphs: int) -> tuple[SelectLevel, ...]:
        """Return what the nodes of every level may choose from."""
        parts = []
        for k, level in enumerate(levels):
            cell, (source, target) = self._cell(k), level.edge_index
            features, like = self._features(k, level), next(cell.parameters())
            members = cluster = None
            if cell.members is not None and k > 0:
                below = torch.arange(levels[k - 1].num_nodes, device=source.device)
                members = encode_edges(cell.members, below, level.clusters, _distances(level, like), like)
            if cell.cluster is not None and k + 1 < len(levels):
                own, above = torch.arange(level.num_nodes, device=source.device), levels[k + 1]
                cluster = encode_edges(cell.cluster, above.clusters, own, _distances(above, like), like)
            edges = encode_edges(cell.edges, source, target, features, like)
            groups = [(edges, level.num_nodes)]
            groups += [] if members is None else [(members, levels[k - 1].num_nodes)]
            groups += [] if cluster is None else [(cluster, levels[k + 1].num_nodes)]
            ordered = sort_candidates(groups, level.num_nodes)
            given = cell.read_input(x if k == 0 else None)
            parts.append(SelectLevel(k, level, features, edges, members, cluster, ordered, given, num_graphs))
        return tuple(parts)

    def begin(
        self, parts: tuple[SelectLevel, ...], levels: Sequence[Level], values: Sequence[Tensor], x: Tensor
    ) -> tuple[SelectLevel, ...]:
        """Return the levels for another global step, whose gate may read what the last one arrived at."""
        finest, *above = parts
        if finest.given is None:
            return parts
        apart = values[0] / _unit(finest)
        read = self._cell(0).read_values(finest.given, apart, finest.level.batch, finest.num_graphs)
        return (finest._replace(given=read), *above)

    def update_of(self, k: int, parts: Sequence[SelectLevel], control: LevelCellUpdate | None) -> SelectUpdate:
        """Return how a level is updated."""
        return SelectUpdate(self._cell(k), parts[k], control)

    def sharpen(self, sharpness: float) -> None:
        """Set how sharp choices and gates are."""
        for cell in self.cells:
            cell.sharpness.fill_(sharpness)  # type: ignore[operator]

    def _cell(self, k: int) -> Any:
        return self.cells[min(k, len(self.cells) - 1)]

    def _features(self, k: int, level: Level) -> Tensor | None:
        width = self.edge_dims[min(k, len(self.edge_dims) - 1)]
        if width is None:
            return None
        value = check_level_features(level, f"Level {k}", width, dtype_of(self))
        return self.codes(value) if k == 0 and self.codes is not None else value


def explain_sweeps(weights: Mapping[str, Tensor]) -> str | None:
    """Return why older weights of sweeps (``gate="graph"``) fit no more; ``None`` where these are not such."""
    if not any(name.endswith(".slopes") for name in weights) or any(name.endswith(".farthest") for name in weights):
        return None
    return (
        'they are of an older version, in which value_gate="graph" learned for every channel how the prediction leans '
        "towards it, and did not start its sweeps at the farthest node. What it computed cannot be computed by this "
        "version; train the model again, or load it with the version that saved it."
    )
