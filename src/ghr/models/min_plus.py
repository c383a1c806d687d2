"""The recurrence with min-plus message passing: distances that stay exact beyond the trained range."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Data

from ghr.hierarchy.data import Level, at_hand, num_graphs_of
from ghr.models.cell import all_alike
from ghr.models.inputs import check_dtype, check_input, check_positive
from ghr.models.pretrained import load_pretrained
from ghr.models.recurrence import Recurrence
from ghr.models.state import State
from ghr.nn.conv import Edges
from ghr.nn.min_plus import EdgeLength, MinPlusCell
from ghr.nn.readout import ProportionalReadout, Readout, make_readout, readout_name
from ghr.ops import Members, add_unpooled, aggregate_sum, kernels_for, min_plus, sort_edges, sort_members


class Rise(NamedTuple):
    """The way from a level up to its clusters and down again.

    Attributes:
        edges: From every node to its cluster, with the costs.
        cost: The costs again, in the order of the nodes :math:`(N, d)`.
        members: The nodes sorted by cluster, where kernels compute.
    """

    edges: Edges
    cost: Tensor
    members: Members | None


class MinPlusEncoded(NamedTuple):
    """A batch with its costs: computed once, read at every step.

    Attributes:
        levels: The hierarchy.
        caps: For every level, the value of a node that nothing has reached :math:`(N_k, 1)`.
        injection: What marked nodes take off :math:`(N, d)`.
        edges: The edges of every level with their costs.
        rises: For every level, the way to it from the level below; none to level 0.
        edge_attr: None.
        num_graphs: Number of graphs in the batch.
    """

    levels: tuple[Level, ...]
    caps: tuple[Tensor, ...]
    injection: Tensor
    edges: tuple[Edges, ...]
    rises: tuple[Rise | None, ...]
    edge_attr: Tensor | None
    num_graphs: int


class MinPlusGHR(Recurrence[MinPlusEncoded]):
    r"""GHR with min-plus message passing, an extension that the paper does not have.

    Every node takes the smallest of what arrives, from its neighbours and from its cluster, instead of a sum of it:

    .. math::
        a_i &= \min\Big( S,\; \min_{j \to i} (h_j + w\, e_{ji}),\; H_{c(i)} + w\, r_i \Big), \\
        h_i &\gets \min\Big( S,\; \mathrm{ReLU}\big( a_i + W_2\, \mathrm{ReLU}( W_1 (a_i - \bar a_i) )
        - S\, x_i\, \mathrm{softplus}(V) \big) \Big), \qquad \hat y_i = R\, h_i

    where :math:`x` marks sources, :math:`\bar a_i` is a mean over channels, and :math:`r_i` is how far a node is from
    the centre of its cluster. A cluster reads :math:`\min_{i \in c} (h_i + w\, r_i)` from its members and otherwise
    does the same with the same weights, on edges as long as the paths between centres (:class:`~ghr.CentrePaths`). So
    any number of levels runs with the weights trained on any other. The start is :math:`S` everywhere but at marked
    nodes, with :math:`S` the number of nodes times the largest :math:`w\, e` of the graph, which no path exceeds.

    **What it is.** With :math:`W_1 = W_2 = 0` this is the algorithm of Bellman and Ford with lengths scaled by
    :math:`w`: shortest paths are close to the initialisation, and training mostly learns a scale. What is smallest
    does not change with further steps, so accuracy does not depend on their number once it suffices; ``steps="auto"``
    finds it.

    Args:
        in_channels: Width of the marks ``x``, each between 0 and 1.
        hidden_channels: Width :math:`d` of all states.
        out_channels: Width of a prediction.
        levels: ``1`` for a flat recurrence; otherwise the model takes graphs with any number of levels from two up.
        steps: Number of global steps.
        t_high: Updates of a coarse level in one pass of its loop; a sequence gives one number per coarse level.
        t_low: Updates of the graph itself after every update above it.
        edge_dim: Width of edge features from which the lengths are learned (:class:`~ghr.nn.EdgeLength`), for a flat
            recurrence; ``None`` where ``edge_attr`` holds the lengths themselves.
        readout: ``"proportional"``, which is :math:`R\, h_i`, or as in :class:`~ghr.GHR`.
        cap_jitter: In training, :math:`S` is multiplied by a number between 1 and ``cap_jitter``, uniform in the
            logarithm, for every graph and forward pass: nothing that depends on it is learned.
        sparsity: What :meth:`penalty` multiplies the absolute values of :math:`W_1` and :math:`W_2` by.
        checkpoint: Keep only the states between global steps for the backward pass and compute the rest again.

    Shapes:
        - **input:** a (batch of) graphs with ``x`` of shape :math:`(N, \text{in\_channels})`; ``edge_attr``, where
          there is one, has one column, the length of an edge; without it every edge is one long. With ``edge_dim``
          it has so many columns
        - **output:** as of :class:`~ghr.GHR`

    Example:
        >>> from ghr import CentrePaths, Coarsen, Graclus
        >>> from ghr.testing import path_graph
        >>> model = MinPlusGHR()
        >>> model(Coarsen(Graclus(rounds=1), CentrePaths())(path_graph(6)), steps="auto").shape
        torch.Size([6, 1])
    """

    def __init__(
        self,
        in_channels: int = 1,
        hidden_channels: int = 8,
        out_channels: int = 1,
        *,
        levels: int = 2,
        steps: int = 2,
        t_high: int | Sequence[int] = 1,
        t_low: int = 6,
        edge_dim: int | None = None,
        readout: str | Readout = "proportional",
        cap_jitter: float = 4.0,
        sparsity: float = 1e-4,
        checkpoint: bool = False,
    ) -> None:
        super().__init__(
            levels=levels, share_coarse=True, steps=steps, t_high=t_high, t_low=t_low, checkpoint=checkpoint
        )
        sizes = {"in_channels": in_channels, "hidden_channels": hidden_channels, "out_channels": out_channels}
        for name, value in sizes.items():
            check_positive(name, value)
        if not 1 <= cap_jitter < math.inf:
            raise ValueError(f"cap_jitter must be a finite number of at least 1, which does nothing; got {cap_jitter}.")
        if not 0 <= sparsity < math.inf:
            raise ValueError(f"sparsity must be a finite number of at least 0; got {sparsity}.")
        if edge_dim is not None:
            check_positive("edge_dim", edge_dim)
            if levels > 1:
                raise ValueError(
                    "Lengths learned from edge features (edge_dim) need levels=1: the lengths between clusters are "
                    f"computed before the model knows those of the edges; got levels={levels}."
                )
        self.in_channels = in_channels
        self.length = None if edge_dim is None else EdgeLength(edge_dim)
        self.cap_jitter = cap_jitter
        self.sparsity = sparsity
        self.cell = MinPlusCell(in_channels, hidden_channels)
        if readout == "proportional":
            readout = ProportionalReadout(hidden_channels, out_channels)
        self.readout = make_readout(readout, hidden_channels, out_channels, None)
        self.config = {
            **sizes,
            "levels": levels,
            "steps": steps,
            "t_high": self.t_high if isinstance(self.t_high, int) else list(self.t_high),
            "t_low": t_low,
            "edge_dim": edge_dim,
            "readout": "proportional" if type(readout) is ProportionalReadout else readout_name(self.readout, None),
            "cap_jitter": cap_jitter,
            "sparsity": sparsity,
            "checkpoint": checkpoint,
        }

    def penalty(self) -> Tensor:
        r"""Return :math:`\lambda (\lVert W_1 \rVert_1 + \lVert W_2 \rVert_1)`, which training adds to the loss."""
        return self.sparsity * self.cell.l1_norm()

    @classmethod
    def from_pretrained(cls, name_or_path: str | Path, *, readout: Readout | None = None) -> "MinPlusGHR":
        """Load a model that :meth:`save_pretrained` wrote.

        Args:
            name_or_path: The folder, or the name of a model that comes with the package.
            readout: The readout, for a model that was built with one of one's own.
        """
        return load_pretrained(cls, name_or_path, {} if readout is None else {"readout": readout})

    def initial_state(self, data: Data | MinPlusEncoded) -> State:
        """Return the state before the first step: of a node that nothing has reached, or that is marked."""
        encoded = self.encode(data)
        nothing = [cap.expand(-1, self.cell.channels) for cap in encoded.caps]
        return State((self.cell(nothing[0], encoded.caps[0], encoded.injection), *nothing[1:]))

    def encode(self, data: Data | MinPlusEncoded) -> MinPlusEncoded:
        """Compute costs and caps, once per forward pass; what is encoded already is returned as it is."""
        if isinstance(data, MinPlusEncoded):
            return data
        check_input(data, self.in_channels, self)
        levels = self._levels(data)
        assert data.x is not None
        self._check_marks(data.x)
        lengths = [self._lengths(level, k, data.x) for k, level in enumerate(levels)]
        cap = self._caps(levels[0], lengths[0], num_graphs_of(data))
        caps = tuple(cap.index_select(0, level.batch) for level in levels)
        edges = tuple(self._edges(level, length) for level, length in zip(levels, lengths, strict=True))
        rises = tuple(None if k == 0 else self._rise(levels[k - 1], levels[k], k) for k in range(len(levels)))
        injection = self.cell.injection(data.x, caps[0])
        return MinPlusEncoded(levels, caps, injection, edges, rises, None, num_graphs_of(data))

    def _lengths(self, level: Level, k: int, x: Tensor) -> Tensor:
        """Return the length of every edge :math:`(E)`."""
        if level.edge_attr is None and self.length is None:
            return x.new_ones(level.edge_index.size(1))
        wanted = 1 if self.length is None else self.length.directions.size(1)
        width = 0 if level.edge_attr is None else level.edge_attr.size(1)
        if width != wanted:
            raise ValueError(
                f"MinPlusGHR reads {'one length' if self.length is None else f'{wanted} features'} per edge, but level "
                f"{k} has {width} edge features; edge_dim is for learning lengths from several features."
            )
        assert level.edge_attr is not None
        check_dtype(f"edge_attr of level {k}", level.edge_attr, self)
        if self.length is not None:
            learned: Tensor = self.length(level.edge_attr)
            return learned.squeeze(1)
        length = level.edge_attr.squeeze(1)
        if at_hand(length) and length.numel() and length.min() < 0:
            raise ValueError(f"The length of an edge cannot be negative; level {k} has one of {length.min().item():g}.")
        return length

    @staticmethod
    def _check_marks(x: Tensor) -> None:
        if at_hand(x):
            low, high = (value.item() for value in torch.aminmax(x))
            if low < 0 or high > 1:
                raise ValueError(f"MinPlusGHR reads marks between 0 and 1; x runs from {low:g} to {high:g}.")

    def _caps(self, level: Level, length: Tensor, num_graphs: int) -> Tensor:
        """Return the number of nodes times the largest cost of an edge in any channel, for every graph."""
        cost = length.detach() * self.cell.cost(length.new_ones(1)).detach().max()
        graph = level.batch.index_select(0, level.edge_index[0])
        largest = cost.new_zeros(num_graphs).scatter_reduce(0, graph, cost, "amax").unsqueeze(1)
        nodes = aggregate_sum(cost.new_ones(level.num_nodes, 1), level.batch, num_graphs)
        cap = nodes * torch.where(largest > 0, largest, torch.ones_like(largest))
        if self.training and self.cap_jitter > 1:
            cap = cap * self.cap_jitter ** torch.rand_like(cap)
        return cap

    def _edges(self, level: Level, length: Tensor) -> Edges:
        one = all_alike(length.unsqueeze(1))
        if not kernels_for(self.cell.rate):
            return Edges(level.edge_index, self.cell.cost(length[:1] if one else length))
        neighbours = sort_edges(level.edge_index, level.num_nodes)
        lengths = length[:1] if one else length.index_select(0, neighbours.order)
        return Edges(level.edge_index, self.cell.cost(lengths), neighbours=neighbours)

    def _rise(self, below: Level, level: Level, k: int) -> Rise:
        assert level.assignment is not None
        distance = level.centre_distance
        if distance is None:
            raise ValueError(
                f"Level {k} says not how far nodes are from the centres of its clusters; coarsen the graph with "
                "Coarsen(..., CentrePaths())."
            )
        check_dtype(f"centre_distance of level {k}", distance, self)
        cost = self.cell.cost(distance)
        up = torch.stack([torch.arange(below.num_nodes, device=level.assignment.device), level.assignment])
        if not kernels_for(self.cell.rate):
            return Rise(Edges(up, cost), cost, None)
        neighbours = sort_edges(up, level.num_nodes, below.num_nodes)
        edges = Edges(up, cost.index_select(0, neighbours.order), neighbours=neighbours)
        return Rise(edges, cost, sort_members(level.assignment, level.num_nodes))

    def _advance(self, encoded: MinPlusEncoded, state: State, counts: tuple[int, ...]) -> State:
        states = list(state.levels)
        self._loop(len(states) - 1, states, encoded, counts)
        return State(tuple(states))

    def _loop(self, k: int, states: list[Tensor], encoded: MinPlusEncoded, counts: tuple[int, ...]) -> None:
        """Update level `k` as often as it is its turn, and after each update run the loop of the level below."""
        cap, rise, edges = encoded.caps[k], encoded.rises[k], encoded.edges[k]
        fixed = self._from_above(k, states, encoded)
        for _ in range(counts[k]):
            first = fixed if rise is None else self._arrive(states[k - 1], rise.edges, fixed)
            arrived = self._arrive(states[k], edges, first)
            states[k] = self.cell(arrived, cap, encoded.injection if k == 0 else None)
            if k > 0:
                self._loop(k - 1, states, encoded, counts)

    def _arrive(self, x: Tensor, edges: Edges, first: Tensor) -> Tensor:
        """Return the smallest of `first` and of what comes along the edges."""
        assert edges.attr is not None
        return min_plus(x, edges.attr, edges.edge_index, first, edges.neighbours)

    def _from_above(self, k: int, states: list[Tensor], encoded: MinPlusEncoded) -> Tensor:
        """Return what does not change while level `k` loops: the state from above, or that nothing arrived."""
        cap = encoded.caps[k]
        if k + 1 == len(states):
            return cap.expand(-1, self.cell.channels)
        rise, assignment = encoded.rises[k + 1], encoded.levels[k + 1].assignment
        assert rise is not None
        assert assignment is not None
        return torch.minimum(add_unpooled(rise.cost, states[k + 1], assignment, rise.members), cap)
