"""Graph Hierarchical Recurrence."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.checks import check_choice, check_flag, check_whole
from ghr.hierarchy import Coarsen, Level
from ghr.hierarchy.data import num_graphs_of
from ghr.hierarchy.lattice import shift_lattices
from ghr.hierarchy.near import bring_near, drop_edges
from ghr.models.cell import LevelCell, LevelCellUpdate, LevelState
from ghr.models.coarsening import COARSENING, choose_coarse_dim, choose_coarsen, coarse_width, make_transform
from ghr.models.ghr_options import complete_options, suggested_names
from ghr.models.inputs import Widths, check_channels, dtype_of, read_input
from ghr.models.levels import LevelCells, sort_levels
from ghr.models.reading import read_out
from ghr.models.recurrence import Recurrence, Step
from ghr.models.state import INITIAL_STATES, Encoded, Shown, State, check_parts
from ghr.models.values import (
    CarryValues,
    Gate,
    SelectValues,
    SumValues,
    ValueOptions,
    begin_values,
    explain_sweeps,
    make_value_readout,
)
from ghr.nn.conv import ConvLike, Edges
from ghr.nn.encoder import MOST_WIDTH, Width, check_width, make_encoder
from ghr.nn.readout import BilinearReadout, MixtureReadout, Readout, make_readout, readout_name
from ghr.ops import Pool, check_pool

STARTS = ("scaled", "paper")
SOFT, SHARP = 0.5, 0.85  # from where to where in a training the choice of values becomes sharp


class GHR(Recurrence[Encoded]):
    r"""Message passing on a graph and on its pooled copies, inside one weight-shared recurrence.

    After the input encoding :math:`f_L = W_n x`, :math:`e_L \gets W_{e_L} e_L`, :math:`e_H \gets W_{e_H} e_H`, one
    global step runs :math:`T_H` times

    .. math::
        g_H &\gets g_H + \mathrm{MP}_{W_H}\big( \hat g_H + \mathrm{Pool}(\hat g_L),\; e_H \big)
        \qquad \text{and, } T_L \text{ times after each,} \\
        g_L &\gets g_L + \mathrm{MP}_{W_L'}\big( f_L + \hat g_L + W_L''\, \mathrm{Unpool}(g_H),\; e_L \big),

    where :math:`\hat g = \mathrm{RMSNorm}(g)`. A readout maps :math:`h_L = g_L` to a prediction after every step.
    With more than two levels the loops nest from the coarsest level down; a level between reads the pooled state from
    below and the projected unpooled state from above.

    Args:
        in_channels: Width of the node features, which get a linear map; or, for integer codes, the number of codes of
            every column, each of which gets an embedding.
        hidden_channels: Width :math:`d` of all states.
        out_channels: Width of a prediction.
        conv: Message passing: ``"gine"``, ``"gated_gine"``, ``"gcn"``, ``"gated_gcn"``, ``"gat"``, ``"adgn"``; or a
            module ``(x, edge_index, edge_attr) -> x``, of which every level gets a copy with parameters reset; or
            ``channels -> module``, whose modules stay as they are. Where there are values it is their control;
            ``None`` moves them without.
        edge_dim: Width of the edge features of the graph, or the number of codes of every column; ``None`` if there
            are none or they shall not be used. An ``edge_weight`` is one more feature.
        coarse_edge_dim: Width of the edge features of coarse levels; ``None`` for the same as ``edge_dim``, ``0`` for
            none. Codes become the shares of each code among the edges merged, as many columns as there are codes.
        levels: Number of levels :math:`K`, the graph included; ``1`` is a flat recurrence.
        share_coarse: Give all coarse levels the same weights, and all levels the same projection :math:`W''`. The
            model then takes graphs with any number of levels from two up.
        pool: How a cluster reads its members: ``"max"``, ``"sum"`` or ``"mean"``.
        steps: Number of global steps :math:`R`.
        t_high: Updates :math:`T_H` of a coarse level in one pass of its loop; a sequence gives one number per coarse
            level, level 1 first.
        t_low: Updates :math:`T_L` of the graph itself after every update above it.
        readout: ``"node"``, ``"graph"``, ``"edge"`` (behind it ``"-mlp"`` for two layers), or a readout object.
        time_informed: Tell the lowest level which step it is at, by adding :math:`W^{time} (t_H, t_L)` (both counted
            from one) to what its message passing reads.
        initial_state: ``"learned"`` vectors, one per level, or ``"random"`` ones for every node and forward pass.
        checkpoint: Keep only the states between global steps for the backward pass and compute the rest again.
        coarsen: How :attr:`transform` makes the coarse levels; by default by three rounds of Graclus. Graphs that are
            coarsened already may come from any other.
        values: ``None`` is the model of the paper. ``"select"`` and ``"sum"``, which are not in the paper, add values:
            a second kind of state that is never normalised and so keeps its size. They are chosen from neighbours
            (:class:`~ghr.nn.values.SelectCell`) or added up over levels (:class:`~ghr.nn.values.SumCell`). Predictions
            are read from the values; readouts with ``"-mlp"`` read values and control.
        value_channels: Width :math:`m` of the values.
        value_gate: Where chosen values start: ``"node"`` where the input (and the control) of a node says so;
            ``"graph"`` at one node of the graph for each channel, chosen anew in every global step
            (:class:`~ghr.nn.values.SweepCell`), without control.
        value_reach: How far values that are added up move within a level; with `value_carry` how often a coarse
            level chooses in one update.
        value_carry: Choose values by the same weights on all levels, coarse edges being as long as paths, and carry
            down how the values of a cluster change, in place of letting nodes choose from clusters and members
            (:class:`~ghr.models.values.CarryValues`). Without control, and with at most one edge feature, a length.
        directions: Whether values that are added up tell directions and places apart, which needs periodic square
            lattices in blocks of 2 x 2.
        scale_law: How much training asks for a law of scale (:class:`~ghr.models.scale_law.ScaleLaw`); ``0`` for not at
            all. Only with ``directions`` and one number per node as prediction.
        value_sharpness: How sharp the choice of values is at the end of training; it starts at one.
        start: ``"scaled"`` makes the updates of every level smaller before training, the more there are
            (:meth:`~ghr.nn.Conv.shrink`), so that states start at the size of one, a readout of graphs starts with
            little of their sums, and on a benchmark training starts around the mean of the targets. ``"paper"`` draws
            all weights as the paper does, with which first predictions reach :math:`10^7` on graphs with hubs. The
            equations are the same.

    Shapes:
        - **input:** a (batch of) :class:`~ghr.HierarchicalData` with ``x`` of shape :math:`(N, \text{in\_channels})`
        - **output:** :math:`(N, C)` for nodes, :math:`(B, C)` for graphs, :math:`(E, C)` for edges

    Example:
        >>> import torch
        >>> from ghr import Coarsen, Graclus
        >>> ring = Data(x=torch.eye(6)[:, :1], edge_index=torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]]))
        >>> model = GHR(in_channels=1, hidden_channels=8, out_channels=1, steps=2)
        >>> model(Coarsen(Graclus(rounds=1))(ring)).shape
        torch.Size([6, 1])
    """

    def __init__(
        self,
        in_channels: Width,
        hidden_channels: int,
        out_channels: int,
        *,
        conv: ConvLike | None = "gated_gine",
        edge_dim: Width | None = None,
        coarse_edge_dim: int | None = None,
        levels: int = 2,
        share_coarse: bool = False,
        pool: Pool = "max",
        steps: int = 4,
        t_high: int | Sequence[int] = 1,
        t_low: int = 1,
        readout: str | Readout = "node",
        time_informed: bool = False,
        initial_state: Literal["learned", "random"] = "learned",
        checkpoint: bool = False,
        coarsen: Coarsen | Mapping[str, Any] | None = None,
        values: Literal["select", "sum"] | None = None,
        value_channels: int = 8,
        value_gate: Gate = "node",
        value_reach: int = 3,
        value_carry: bool = False,
        directions: bool = False,
        scale_law: float = 0.0,
        value_sharpness: float = 6.0,
        start: Literal["scaled", "paper"] = "scaled",
    ) -> None:
        super().__init__(
            levels=levels, share_coarse=share_coarse, steps=steps, t_high=t_high, t_low=t_low, checkpoint=checkpoint
        )
        self.in_channels, hidden_channels, out_channels = check_channels(in_channels, hidden_channels, out_channels)
        edge_dim = None if edge_dim is None else check_width("edge_dim", edge_dim)
        check_pool(pool)
        check_choice("initial_state", initial_state, INITIAL_STATES)
        check_flag("time_informed", time_informed)
        self.start = check_choice("start", start, STARTS)
        options = ValueOptions(
            values, value_channels, value_gate, value_reach, value_carry, directions, scale_law, value_sharpness
        )
        self.scale_weight, self.sharpness = options.scale_law, options.value_sharpness
        if share_coarse and self.levels < 2:
            raise ValueError("share_coarse needs a coarse level; got levels=1.")
        self.pool: Pool = pool

        if coarse_edge_dim is not None:
            coarse_edge_dim = check_whole("coarse_edge_dim", coarse_edge_dim, 0, MOST_WIDTH)
        coarse_dim = choose_coarse_dim(coarse_edge_dim, edge_dim, lengths=value_carry and self.levels > 1)
        self._transform = make_transform(
            options.choose_coarsen(coarsen, self.levels), self.levels, edge_dim, coarse_dim, share_coarse=share_coarse
        )
        if conv is None and values is None:
            raise ValueError("conv=None is for models with values, such as values='select'; name a conv.")
        kept = min(self.levels, 2) if share_coarse else self.levels
        self.state_channels = 0 if conv is None else hidden_channels
        widths: list[Width | None] = [edge_dim, *[coarse_dim] * (kept - 1)]
        self.values = options.make(
            self.in_channels, hidden_channels, widths, control=self.state_channels, levels=self.levels
        )
        if self.values is not None:
            widths = [self.values.control_edge_dim(k) for k in range(kept)]
            if time_informed:
                raise ValueError("time_informed is for models without values; leave it out.")
        self.scale_law = options.make_scale_law()
        edge_width = None
        if conv is not None:
            self.node_encoder = make_encoder(self.in_channels, hidden_channels)
            self.cells = LevelCells(LevelCell(hidden_channels, conv, width, initial_state) for width in widths)
            self.down = nn.ModuleList(nn.Linear(hidden_channels, hidden_channels, bias=False) for _ in widths[1:])
            self.time = nn.Linear(2, hidden_channels, bias=False) if time_informed else None
            if values != "select":  # the edges of their control change at every update
                edge_width = self.cells.of(0).edge_encoder.out_channels
        if self.values is None:
            self.readout = make_readout(readout, hidden_channels, out_channels, edge_width)
        else:
            self.readout = make_value_readout(self.values, readout, self.state_channels, out_channels, edge_width)
        self._shrink(readout)
        self.remember(
            in_channels=self.in_channels,
            hidden_channels=hidden_channels,
            out_channels=out_channels,
            conv=conv,
            edge_dim=edge_dim,
            coarse_edge_dim=coarse_edge_dim,
            levels=self.levels,
            share_coarse=share_coarse,
            pool=pool,
            steps=self.steps,
            t_high=self.t_high,
            t_low=self.t_low,
            readout=readout if isinstance(readout, str) else readout_name(self.readout, edge_width) or self.readout,
            time_informed=time_informed,
            initial_state=initial_state,
            checkpoint=checkpoint,
            coarsen=None if self._transform is None else self._transform.config or self._transform,
            **vars(options),
            start=self.start,
        )

    @property
    def takes_shift(self) -> bool:
        """Not where values are read: they start at zero, and a shift would break what makes them extrapolate."""
        return not isinstance(self.readout, (BilinearReadout, MixtureReadout))

    @property
    def wants_unit(self) -> bool:
        """Whether training starts around the mean of the targets; not so in the paper, and values have their size."""
        return self.start == "scaled" and self.values is None

    @property
    def transform(self) -> Coarsen | None:
        """What puts the coarse levels on a graph; ``None`` for a flat model."""
        return self._transform

    @classmethod
    def complete_config(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return a config with ``start="paper"`` where it was saved before there was a choice."""
        return {"start": "paper", **config}

    def explain_weights(self, weights: Mapping[str, Tensor]) -> str | None:
        """Return what was another in the version that saved such weights, and what to do; ``None`` if it is unknown."""
        return explain_sweeps(weights) if self.config["value_gate"] == "graph" else None

    def reset_parameters(self) -> None:
        """Reset all parameters, as :attr:`start` says."""
        super().reset_parameters()
        self._shrink(self.config["readout"])

    def _shrink(self, readout: str | Readout) -> None:
        """Make the updates of every level smaller, the more there are, unless the start is the paper's.

        A readout that was given as an object stays as it is.
        """
        if self.start == "scaled" and self.state_channels:
            self.cells.shrink(self.steps, self._updates(self.levels, None, None))
            if self.values is None and isinstance(readout, str):
                self.readout.shrink(self.cells.of(0).conv.readout_start)

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """Return the names of the options that :meth:`for_data` takes, those of the coarsening among them."""
        return (*super().option_names(), *COARSENING)

    @classmethod
    def suggested_names(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Return which options a benchmark may suggest for a model with these options."""
        return suggested_names(options)

    @classmethod
    def _arguments(cls, widths: Widths, options: Mapping[str, Any], example: Any) -> dict[str, Any]:
        chosen, others = choose_coarsen(complete_options(options), widths, default_levels=2)
        arguments = super()._arguments(widths, others, example)
        if options.get("values") is not None and "readout" not in options and widths.classes:
            arguments["readout"] = f"{widths.level}-mlp"  # a class has no size that could be read off values
        if chosen is not None:
            arguments["coarsen"] = chosen
            if "edge_dim" not in options or options["edge_dim"] is not None:
                arguments.setdefault("coarse_edge_dim", coarse_width(chosen, example))
        return arguments

    @property
    def loops(self) -> tuple[str, ...]:
        """Names of the numbers that the model can be given at inference; sums without control have no inner loops."""
        return ("steps",) if isinstance(self.values, SumValues) and self.state_channels == 0 else super().loops

    def anneal(self, progress: float) -> None:
        """Make the choice of values sharper from the middle of the training on, and ask for the law of scale."""
        if self.scale_law is not None:
            self.scale_law.anneal(progress)
        if isinstance(self.values, (SelectValues, CarryValues)):
            sharpness = self.sharpness ** min(max((progress - SOFT) / (SHARP - SOFT), 0.0), 1.0)
            self.values.sharpen(sharpness)
            if isinstance(self.readout, MixtureReadout):
                self.readout.sharpen(sharpness)

    def augment(self, data: Data) -> Data:
        """Shift lattices against their blocks at random, where the model tells places apart."""
        return shift_lattices(data) if self.scale_law is not None or self.config["directions"] else data

    def penalty(self, data: Data) -> Tensor | None:
        """Return how far the law of scale is from holding, where training asks for it."""
        distance = None if self.scale_law is None else self.scale_law(self, self.prepare, data)
        return None if distance is None else self.scale_weight * distance

    def initial_state(self, data: Data | Encoded) -> State:
        """Return the state before the first step."""
        encoded = self.encode(data)
        sizes, like = [level.num_nodes for level in encoded.levels], next(self.parameters())
        if encoded.x is None:
            states = tuple(like.new_zeros(size, 0) for size in sizes)
        else:
            states = self.cells.begin(encoded.x, encoded.levels)
        if self.values is None:
            return State(states)
        return State(states, tuple(like.new_zeros(size, self.values.channels) for size in sizes))

    @property
    def _state_width(self) -> int:
        return self.state_channels

    def _check_state(self, encoded: Encoded, state: State) -> None:
        super()._check_state(encoded, state)
        if self.values is not None:
            name, width = "The part of the state that holds values", self.values.channels
            check_parts(name, state.values, encoded.levels, width, dtype_of(self))

    def _read(self, encoded: Encoded, state: State) -> Tensor:
        return read_out(self.readout, encoded, state)

    def encode(self, data: Data | Encoded) -> Encoded:
        """Encode node and edge features, once per forward pass; what is encoded already is returned as it is."""
        if isinstance(data, Encoded):
            return self._check_encoded(data)
        given, levels = read_input(data, self.in_channels, self)
        return self._encode(self._check_levels(levels), given, num_graphs_of(data))

    def _encode_unseen(self, data: Data | Encoded) -> Encoded:
        if isinstance(data, Encoded):
            return self._check_encoded(data)
        given, levels = read_input(data, self.in_channels, self)
        levels = self._check_levels(levels)
        near = None if isinstance(self.values, SumValues) else bring_near(levels)  # lattices stay row by row
        if near is None:
            return self._encode(levels, given, num_graphs_of(data))
        encoded = self._encode(near.levels, given.index_select(0, near.order), num_graphs_of(data))
        if self.values is None:  # nobody asks for their edges again: layers and readouts have lists of their own
            encoded = encoded._replace(levels=tuple(map(drop_edges, near.levels)))
        return encoded._replace(shown=Shown(near.place, levels[0], given))

    def _encode(self, levels: tuple[Level, ...], given: Tensor, num_graphs: int) -> Encoded:
        config = self.config
        parts = () if self.values is None else self.values.prepare(levels, given, num_graphs)
        if self.state_channels == 0:
            return Encoded(levels, None, (), (), None, num_graphs, config, given, parts)
        if isinstance(self.values, SelectValues):  # the edges of their control are encoded at every update
            edge_attr: list[Tensor | None] = [None for _ in levels]
            edges = tuple(Edges(level.edge_index, None) for level in levels)
        else:
            edge_attr, edges = self.cells.encode_edges(levels)
        x = self.node_encoder(given)
        return Encoded(levels, x, edges, sort_levels(levels, x), edge_attr[0], num_graphs, config, given, parts)

    def _begin(self, encoded: Encoded, state: State, *, own: bool = False) -> Step:
        cells = [self._update_of(k, encoded) for k in range(len(state.levels))] if self.state_channels else []
        states = [
            LevelState(value, edges, own) for value, edges in zip(state.levels, encoded.edges, strict=bool(cells))
        ]
        if self.values is None:
            return Step(cells, states, lambda after: State(tuple(level.state for level in after)))
        return begin_values(self.values, encoded, state, cells, states)

    def _update_of(self, k: int, encoded: Encoded) -> LevelCellUpdate:
        """Return how the state of level `k` of a batch is updated."""
        return self.cells.update_of(k, encoded, self.down, self.time, self.pool)
