"""The recurrence with min-plus message passing: distances that stay exact beyond the trained range."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from ghr.checks import check_number, check_whole
from ghr.datasets.task import Task
from ghr.hierarchy import Coarsen
from ghr.hierarchy.data import Level, at_hand, num_graphs_of
from ghr.models.cell import all_alike
from ghr.models.coarsening import COARSENING, choose_coarsen, read_coarsen
from ghr.models.inputs import Widths, check_channels, dtype_of, read_input
from ghr.models.min_plus_update import MinPlusEncoded, MinPlusUpdate, Rise, Ways
from ghr.models.recurrence import Recurrence, Step
from ghr.models.state import State
from ghr.nn.encoder import check_dtype, check_map
from ghr.nn.min_plus import EdgeLength, MinPlusCell
from ghr.nn.readout import ProportionalReadout, Readout, make_readout, readout_name
from ghr.ops import aggregate_sum, kernels_for, sort_edges, sort_members


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
        coarsen: How :attr:`transform` makes the coarse levels; by default by three rounds of Graclus. Their edges must
            be as long as paths between centres, as ``edge_reduce="centre_paths"`` makes them.

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

    default_channels: ClassVar[int] = 8

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
        coarsen: Coarsen | Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            levels=levels, share_coarse=True, steps=steps, t_high=t_high, t_low=t_low, checkpoint=checkpoint
        )
        in_channels = check_whole("in_channels", in_channels)
        _, hidden_channels, out_channels = check_channels(in_channels, hidden_channels, out_channels)
        if edge_dim is not None:
            edge_dim = check_whole("edge_dim", edge_dim)
            check_map("edge_dim", edge_dim, EdgeLength.default_channels)
            if self.levels > 1:
                raise ValueError(
                    "Lengths learned from edge features (edge_dim) need levels=1: the lengths between clusters are "
                    f"computed before the model knows those of the edges; got levels={levels}."
                )
        self.in_channels = in_channels
        self.length = None if edge_dim is None else EdgeLength(edge_dim)
        self.cap_jitter = check_number("cap_jitter", cap_jitter, least=1, most=1e6, also=", which does nothing")
        self.sparsity = check_number("sparsity", sparsity, least=0)
        if self.levels == 1 and coarsen is not None:
            raise ValueError("coarsen is for models with coarse levels, but levels is 1; leave it out.")
        if coarsen is None and self.levels > 1:
            coarsen = {"edge_reduce": "centre_paths", "levels": self.levels - 1}
        self._transform = None if coarsen is None else read_coarsen(coarsen)
        self.cell = MinPlusCell(in_channels, hidden_channels)
        if isinstance(readout, str) and readout == "proportional":
            readout = ProportionalReadout(hidden_channels, out_channels)
        self.readout = make_readout(readout, hidden_channels, out_channels, None)
        name = "proportional" if type(readout) is ProportionalReadout else readout_name(self.readout, None)
        self.remember(
            in_channels=in_channels,
            hidden_channels=hidden_channels,
            out_channels=out_channels,
            levels=self.levels,
            steps=self.steps,
            t_high=self.t_high,
            t_low=self.t_low,
            edge_dim=edge_dim,
            readout=name or self.readout,
            cap_jitter=self.cap_jitter,
            sparsity=self.sparsity,
            checkpoint=checkpoint,
            coarsen=None if self._transform is None else self._transform.config or self._transform,
        )

    @property
    def transform(self) -> Coarsen | None:
        """What puts the coarse levels on a graph; ``None`` for a flat model."""
        return self._transform

    @property
    def takes_unit(self) -> bool:
        """Never: a shift would break what makes it extrapolate, that twice the lengths are twice the prediction."""
        return False

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """Return the names of the options that :meth:`for_data` takes, those of the coarsening among them."""
        return (*super().option_names(), *COARSENING)

    @classmethod
    def suggested_names(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Return no name: what suits GHR, such as a readout with a constant, does not suit distances."""
        return ()

    @classmethod
    def for_data(cls, example: Any, task: Task, **options: Any) -> "MinPlusGHR":
        """Build a model for data; one with marks between 0 and 1 as node features, and numbers as targets."""
        if isinstance(task, Task) and (task.has_classes or task.loss == "bce"):
            raise ValueError(f"MinPlusGHR predicts numbers that add up along paths, not classes; the task is {task}.")
        return super().for_data(example, task, **options)

    @classmethod
    def _arguments(cls, widths: Widths, options: Mapping[str, Any], example: Any) -> dict[str, Any]:
        if not isinstance(widths.in_channels, int) or not (widths.edge_dim is None or isinstance(widths.edge_dim, int)):
            raise ValueError(
                "MinPlusGHR reads marks between 0 and 1 and lengths of edges, but the graphs have codes; convert whole "
                "numbers to floating point if they are marks or lengths."
            )
        cls._check_marks((example if isinstance(example, Data) else example[0])["x"])
        learned = None if widths.edge_dim == 1 else widths.edge_dim  # one feature is the length itself
        levels = check_whole("levels", options.get("levels", 2 if learned is None else 1))
        ruled = levels == 1 or "coarsen" in options
        given = options if ruled else {"edge_reduce": "centre_paths", **options}
        chosen, others = choose_coarsen(given, widths, default_levels=levels)
        arguments = super()._arguments(widths, {"edge_dim": learned, "levels": levels, **others}, example)
        if "readout" not in others and widths.level == "node":
            arguments["readout"] = "proportional"
        return arguments if chosen is None else {**arguments, "coarsen": chosen}

    def penalty(self, data: Data) -> Tensor:
        r"""Return :math:`\lambda (\lVert W_1 \rVert_1 + \lVert W_2 \rVert_1)`, which training adds to the loss."""
        return self.sparsity * self.cell.l1_norm()

    def initial_state(self, data: Data | MinPlusEncoded) -> State:
        """Return the state before the first step: of a node that nothing has reached, or that is marked."""
        encoded = self.encode(data)
        nothing = [cap.expand(-1, self.cell.channels) for cap in encoded.caps]
        return State((self.cell(nothing[0], encoded.caps[0], encoded.injection), *nothing[1:]))

    def encode(self, data: Data | MinPlusEncoded) -> MinPlusEncoded:
        """Compute costs and caps, once per forward pass; what is encoded already is returned as it is."""
        if isinstance(data, MinPlusEncoded):
            return self._check_encoded(data)
        x, levels = read_input(data, self.in_channels, self)
        levels = self._check_levels(levels)
        self._check_marks(x)
        lengths = [self._lengths(level, k, x) for k, level in enumerate(levels)]
        cap = self._caps(levels[0], lengths[0], num_graphs_of(data))
        caps = tuple(cap.index_select(0, level.batch) for level in levels)
        ways = tuple(self._ways(level, length) for level, length in zip(levels, lengths, strict=True))
        rises = tuple(self._rise(levels[k - 1], levels[k], k) for k in range(1, len(levels)))
        injection = self.cell.injection(x, caps[0])
        return MinPlusEncoded(levels, caps, injection, ways, rises, None, num_graphs_of(data), self.config)

    def _lengths(self, level: Level, k: int, x: Tensor) -> Tensor:
        """Return the length of every edge :math:`(E)`."""
        features = level.edge_attr
        if features is None and self.length is None:
            return x.new_ones(level.edge_index.size(1))
        wanted = 1 if self.length is None else self.length.directions.size(1)
        width = 0 if features is None else features.size(1)
        if features is None or width != wanted:
            raise ValueError(
                f"MinPlusGHR reads {'one length' if self.length is None else f'{wanted} features'} per edge, but level "
                f"{k} has {width} edge features; edge_dim is for learning lengths from several features."
            )
        check_dtype(f"edge_attr of level {k}", features, dtype_of(self))
        if self.length is not None:
            learned: Tensor = self.length(features)
            return learned.squeeze(1)
        length = features.squeeze(1)
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

    def _ways(self, level: Level, length: Tensor) -> Ways:
        one = all_alike(length.unsqueeze(1))
        if not kernels_for(self.cell.rate):
            return Ways(level.edge_index, self.cell.cost(length[:1] if one else length), None)
        neighbours = sort_edges(level.edge_index, level.num_nodes)
        lengths = length[:1] if one else length.index_select(0, neighbours.order)
        return Ways(level.edge_index, self.cell.cost(lengths), neighbours)

    def _rise(self, below: Level, level: Level, k: int) -> Rise:
        clusters, distance = level.clusters, level.centre_distance
        if distance is None:
            raise ValueError(
                f"Level {k} says not how far nodes are from the centres of its clusters; coarsen the graph with "
                "Coarsen(..., CentrePaths())."
            )
        check_dtype(f"centre_distance of level {k}", distance, dtype_of(self))
        cost = self.cell.cost(distance)
        up = torch.stack([torch.arange(below.num_nodes, device=clusters.device), clusters])
        if not kernels_for(self.cell.rate):
            return Rise(Ways(up, cost, None), cost, None)
        neighbours = sort_edges(up, level.num_nodes, below.num_nodes)
        ways = Ways(up, cost.index_select(0, neighbours.order), neighbours)
        return Rise(ways, cost, sort_members(clusters, level.num_nodes))

    def _begin(self, encoded: MinPlusEncoded, state: State, *, own: bool = False) -> Step:
        levels = [MinPlusUpdate(self.cell, encoded, k) for k in range(len(state.levels))]
        return Step(levels, state.levels, lambda states: State(tuple(states)))
