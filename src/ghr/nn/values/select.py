"""Values that are chosen from neighbours."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ghr.nn.encoder import Width, make_encoder
from ghr.nn.reset import reset_children
from ghr.ops import Neighbours, kernels_for, sort_edges
from ghr.ops.select import select
from ghr.ops.select_loop import select_loop


class Candidates(NamedTuple):
    """What a node may choose from, as far as no value or control enters.

    Attributes:
        source: Where every candidate comes from :math:`(E)`.
        target: The node that may choose it :math:`(E)`.
        base: What its features say for the choice :math:`(E, H)`, or one row for all alike.
        step: What is added to its value :math:`(E, m)`, or one row.
    """

    source: Tensor
    target: Tensor
    base: Tensor
    step: Tensor


class SortedCandidates(NamedTuple):
    """All that nodes may choose from, sorted by node, for kernels.

    Attributes:
        neighbours: The edges; sources are numbered through over all groups of candidates, the nodes that choose first.
        base: As in :class:`Candidates`, in the order of the edges.
        step: Likewise.
        target: The node that may choose :math:`(E)`.
    """

    neighbours: Neighbours
    base: Tensor
    step: Tensor
    target: Tensor


def sort_candidates(groups: Sequence[tuple[Candidates, int]], num_nodes: int) -> SortedCandidates | None:
    """Return candidates sorted by the nodes that choose, or ``None`` where no kernels compute.

    Args:
        groups: The candidates, with the number of nodes they come from; those of the first come from the nodes
            themselves.
        num_nodes: Number of nodes that choose.
    """
    if not kernels_for(groups[0][0].base):
        return None
    sources, first = [], 0
    for candidates, count in groups:
        sources.append(candidates.source + first)
        first += count
    edge_index = torch.stack([torch.cat(sources), torch.cat([candidates.target for candidates, _ in groups])])
    neighbours = sort_edges(edge_index, num_nodes, None if len(groups) == 1 else first)
    base, step = (
        _rows([(getattr(candidates, name), len(candidates.source)) for candidates, _ in groups], neighbours.order)
        for name in ("base", "step")
    )
    return SortedCandidates(neighbours, base, step, edge_index[1].index_select(0, neighbours.order))


def _rows(parts: Sequence[tuple[Tensor, int]], order: Tensor) -> Tensor:
    """Return rows of all parts in an order; a single row that stands for all stays one."""
    if len(parts) == 1 and parts[0][0].size(0) == 1:
        return parts[0][0]
    return torch.cat([rows.expand(count, -1) for rows, count in parts]).index_select(0, order)


class Holder(NamedTuple):
    """The values of nodes, with the control that moves them.

    Attributes:
        value: :math:`(N, m)`.
        control: Normalised :math:`(N, d)`; ``None`` without control.
    """

    value: Tensor
    control: Tensor | None


class SelectCell(nn.Module):
    r"""Lets every node take over the values of its neighbours, one step larger; whom it listens to is learned.

    .. math::
        v_i \gets (1 - \rho_i) \odot \sum_j \alpha_{ij} \odot (v_j + \delta_{ij}), \qquad
        \alpha_{ij} = \mathrm{softmax}_j\, k\, \mathrm{MLP}(c_i, c_j, e_{ij}, v_j - v_i),

    everything per channel, with :math:`\delta_{ij} = \mathrm{softplus}(\mathrm{MLP}(e_{ij}))` and a gate :math:`\rho_i
    = \sigma(k\, \mathrm{MLP}(x_i, c_i))` that starts almost closed. Where it is closed, adding :math:`t` to a channel
    adds :math:`t` after the update: values keep their size, whatever it is. On a hierarchy the members of a cluster
    and the cluster of a node are neighbours too, with weights of their own.

    The choice starts soft. Training raises its sharpness :math:`k` (:meth:`sharpen`), because what a soft choice adds
    to every step grows with the distance.

    Args:
        channels: Width :math:`m` of the values.
        hidden_channels: Width of the maps.
        edge_dim: Width of the edge features; ``0`` without any.
        in_channels: Width of the input, which only the finest level has.
        control: Width of the control :math:`c`; ``0`` without any.
        members: Whether nodes also choose from the level below.
        cluster: Whether nodes also choose from the level above.
    """

    sharpness: Tensor

    def __init__(
        self,
        channels: int,
        hidden_channels: int,
        edge_dim: Width,
        in_channels: Width | None,
        *,
        control: int = 0,
        members: bool = False,
        cluster: bool = False,
    ) -> None:
        super().__init__()
        self.channels, self.control = channels, control
        self.edges = self.encode_candidates(edge_dim, hidden_channels, channels)
        self.members = self.encode_candidates(1, hidden_channels, channels) if members else None
        self.cluster = self.encode_candidates(1, hidden_channels, channels) if cluster else None
        self.difference = nn.Linear(channels, hidden_channels, bias=False)
        self.controls = nn.Linear(control, 2 * hidden_channels, bias=False) if control else None
        self.choice = nn.Linear(hidden_channels, channels, bias=False)  # a constant would not change a softmax
        self.has_gate = in_channels is not None or control > 0
        if self.has_gate:
            self.gate_input = None if in_channels is None else make_encoder(in_channels, hidden_channels)
            self.gate_control = nn.Linear(control, hidden_channels) if control else None
            self.gate = nn.Linear(hidden_channels, channels)
        self.register_buffer("sharpness", torch.ones(()))
        self.reset_parameters()

    @staticmethod
    def encode_candidates(edge_dim: Width, hidden_channels: int, channels: int) -> "CandidateEncoder":
        """Return what reads the features of candidates."""
        return CandidateEncoder(edge_dim, hidden_channels, channels)

    def reset_parameters(self) -> None:
        """Reset all parameters, and the choice to a soft one."""
        reset_children(self)
        self.sharpness.fill_(1.0)
        if self.has_gate and self.gate.bias is not None:
            nn.init.constant_(self.gate.bias, -2.0)

    def read_input(self, x: Tensor | None) -> Tensor | None:
        """Return what the input says to the gate, once per forward pass."""
        if not self.has_gate or self.gate_input is None or x is None:
            return None
        return self.gate_input(x)  # type: ignore[no-any-return]

    def choose(self, own: Holder, groups: Sequence[tuple[Holder, Candidates]]) -> Tensor:
        """Return what every node takes of the values of its candidates, a step added to each.

        Args:
            own: The nodes that choose.
            groups: The candidates, with those that hold their values.
        """
        difference, choice = self.maps()
        values, logits, targets = [], [], []
        for holder, candidates in groups:
            value = holder.value.index_select(0, candidates.source)
            hidden = candidates.base + F.linear(value - own.value.index_select(0, candidates.target), difference)
            if self.controls is not None and own.control is not None and holder.control is not None:
                left, right = self.controls.weight.chunk(2)  # mapped before they are gathered: nodes are fewer
                hidden = hidden + F.linear(own.control, left).index_select(0, candidates.target)
                hidden = hidden + F.linear(holder.control, right).index_select(0, candidates.source)
            values.append(value + candidates.step)
            logits.append(F.linear(hidden.relu(), choice))
            targets.append(candidates.target)
        if len(groups) == 1:
            return select(values[0], logits[0], targets[0], own.value)
        return select(torch.cat(values), torch.cat(logits), torch.cat(targets), own.value)

    def choose_sorted(self, holders: Sequence[Holder], candidates: SortedCandidates) -> Tensor:
        """Do as :meth:`choose`, by kernels.

        Args:
            holders: The nodes that choose, and then those that hold the values of the other groups of candidates.
            candidates: The candidates.
        """
        base, own = candidates.base, holders[0]
        if self.controls is not None and own.control is not None:
            left, right = self.controls.weight.chunk(2)
            controls = torch.cat([holder.control for holder in holders if holder.control is not None])
            base = base + F.linear(own.control, left).index_select(0, candidates.target)
            base = base + F.linear(controls, right).index_select(0, candidates.neighbours.source)
        values = torch.cat([holder.value for holder in holders])
        return self._loop(values, base, candidates, torch.ones_like(own.value), 1)

    def iterate(self, value: Tensor, candidates: SortedCandidates, gate: Tensor, updates: int) -> Tensor:
        """Choose and close several times, by kernels and without a control.

        Args:
            value: Values of the nodes.
            candidates: The candidates, of one group.
            gate: What values are multiplied by after every choice.
            updates: How often.
        """
        return self._loop(value, candidates.base, candidates, gate, updates)

    def _loop(self, values: Tensor, base: Tensor, candidates: SortedCandidates, gate: Tensor, updates: int) -> Tensor:
        difference, choice = self.maps()
        neighbours, step = candidates.neighbours, candidates.step
        return select_loop(values, base, step, neighbours, difference, choice, gate, updates=updates)

    def maps(self) -> tuple[Tensor, Tensor]:
        """Return the map of differences of values, and that of the choice, as sharp as it is now."""
        return self.difference.weight, self.sharpness * self.choice.weight

    def read_values(self, given: Tensor, value: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
        """Return what the gate reads in a global step; here what :meth:`read_input` returned, whatever the values.

        Args:
            given: What :meth:`read_input` returned.
            value: What the last global step arrived at, in steps :math:`(N, m)`.
            batch: Graph of every node.
            num_graphs: Number of graphs.
        """
        return given

    def close(self, value: Tensor, given: Tensor | None, control: Tensor | None) -> Tensor:
        """Return values after the gate.

        Args:
            value: What was chosen :math:`(N, m)`.
            given: What :meth:`read_values` returned.
            control: Of the nodes :math:`(N, d)`.
        """
        gate = self.open(given, control)
        return value if gate is None else gate * value

    def open(self, given: Tensor | None, control: Tensor | None) -> Tensor | None:
        r"""Return what values are multiplied by, :math:`1 - \rho`; ``None`` without a gate."""
        if not self.has_gate:
            return None
        parts = [] if given is None else [given]
        if self.gate_control is not None and control is not None:
            parts.append(self.gate_control(control))
        hidden = torch.stack(parts).sum(dim=0) if len(parts) > 1 else parts[0]
        return torch.sigmoid(-self.sharpness * self.gate(hidden.relu()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.channels}, control={self.control})"


class CandidateEncoder(nn.Module):
    """Says what the features of candidates mean for the choice, and how much is added to their values.

    Args:
        edge_dim: Width of the features, or the sizes of columns of codes; ``0`` without any.
        hidden_channels: Width of the maps.
        channels: Width of the values.
    """

    def __init__(self, edge_dim: Width, hidden_channels: int, channels: int) -> None:
        super().__init__()
        self.edge_dim = edge_dim
        width = edge_dim or 1
        self.base = make_encoder(width, hidden_channels)
        self.step = nn.Sequential(make_encoder(width, hidden_channels), nn.ReLU(), nn.Linear(hidden_channels, channels))

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)

    def forward(self, features: Tensor | None, like: Tensor) -> tuple[Tensor, Tensor]:
        """Return what is read at the choice, and the steps; `features` are ``None`` without any."""
        rows = like.new_ones(1, 1) if features is None else features
        return self.base(rows), F.softplus(self.step(rows))
