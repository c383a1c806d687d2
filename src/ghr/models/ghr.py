"""Graph Hierarchical Recurrence."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Literal

from torch import nn
from torch_geometric.data import Data

from ghr.checks import check_choice, check_flag, check_whole
from ghr.hierarchy import Coarsen
from ghr.hierarchy.data import num_graphs_of
from ghr.models.cell import LevelCell, LevelCellUpdate, LevelState, prepare_edges
from ghr.models.coarsening import COARSENING, choose_coarsen, coarse_width, make_transform
from ghr.models.global_step import run_global_step
from ghr.models.inputs import Widths, check_channels, check_input
from ghr.models.recurrence import Recurrence
from ghr.models.state import INITIAL_STATES, Encoded, State
from ghr.nn.conv import ConvLike
from ghr.nn.encoder import Width, check_width, make_encoder
from ghr.nn.readout import Readout, make_readout, readout_name
from ghr.ops import Pool, check_pool, kernels_for, sort_members


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
            ``channels -> module``, whose modules stay as they are.
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
        conv: ConvLike = "gated_gine",
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
    ) -> None:
        super().__init__(
            levels=levels, share_coarse=share_coarse, steps=steps, t_high=t_high, t_low=t_low, checkpoint=checkpoint
        )
        self.in_channels, hidden_channels, out_channels = check_channels(in_channels, hidden_channels, out_channels)
        edge_dim = None if edge_dim is None else check_width("edge_dim", edge_dim)
        check_pool(pool)
        check_choice("initial_state", initial_state, INITIAL_STATES)
        check_flag("time_informed", time_informed)
        if share_coarse and self.levels < 2:
            raise ValueError("share_coarse needs a coarse level; got levels=1.")
        self.pool: Pool = pool

        if coarse_edge_dim is not None:
            coarse_edge_dim = check_whole("coarse_edge_dim", coarse_edge_dim, 0)
        same = sum(edge_dim) if isinstance(edge_dim, Sequence) else edge_dim
        coarse_dim = same if coarse_edge_dim is None else coarse_edge_dim or None
        self._transform = make_transform(coarsen, self.levels, edge_dim, coarse_dim)
        if self._transform is not None and not share_coarse and self._transform.levels != self.levels - 1:
            raise ValueError(
                f"coarsen makes {self._transform.levels} coarse levels, but with levels={self.levels} the model has "
                f"{self.levels - 1}; make both the same."
            )
        self.node_encoder = make_encoder(self.in_channels, hidden_channels)
        kept = min(self.levels, 2) if share_coarse else self.levels
        self.cells = nn.ModuleList(
            LevelCell(hidden_channels, conv, edge_dim if k == 0 else coarse_dim, initial_state) for k in range(kept)
        )
        self.down = nn.ModuleList(nn.Linear(hidden_channels, hidden_channels, bias=False) for _ in range(kept - 1))
        self.time = nn.Linear(2, hidden_channels, bias=False) if time_informed else None
        edge_width = self._cell(0).edge_encoder.out_channels
        self.readout = make_readout(readout, hidden_channels, out_channels, edge_width)
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
            readout=readout_name(self.readout, edge_width) or self.readout,
            time_informed=time_informed,
            initial_state=initial_state,
            checkpoint=checkpoint,
            coarsen=None if self._transform is None else self._transform.config or self._transform,
        )

    @property
    def transform(self) -> Coarsen | None:
        """What puts the coarse levels on a graph; ``None`` for a flat model."""
        return self._transform

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """Return the names of the options that :meth:`for_data` takes, those of the coarsening among them."""
        return (*super().option_names(), *COARSENING)

    @classmethod
    def suggested_names(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Return which options a benchmark may suggest for a model with these options."""
        names = ("hidden_channels", "conv", "steps", "t_low", "readout", "time_informed", "checkpoint")
        levels = options.get("levels")
        if isinstance(levels, Integral) and levels == 1:
            return names
        chosen = "partition" in options or options.get("coarsen") is not None
        return (*names, "t_high", "pool", *(() if chosen else COARSENING))

    @classmethod
    def _arguments(cls, widths: Widths, options: Mapping[str, Any], example: Any) -> dict[str, Any]:
        chosen, others = choose_coarsen(options, widths, default_levels=2)
        arguments = super()._arguments(widths, others, example)
        if chosen is not None:
            arguments["coarsen"] = chosen
            if "edge_dim" not in options or options["edge_dim"] is not None:
                arguments.setdefault("coarse_edge_dim", coarse_width(chosen, example))
        return arguments

    def initial_state(self, data: Data | Encoded) -> State:
        """Return the state before the first step."""
        encoded = self.encode(data)
        return State(tuple(self._cell(k).initial(encoded.x, level.num_nodes) for k, level in enumerate(encoded.levels)))

    def encode(self, data: Data | Encoded) -> Encoded:
        """Encode node and edge features, once per forward pass; what is encoded already is returned as it is."""
        if isinstance(data, Encoded):
            return self._check_encoded(data)
        given = check_input(data, self.in_channels, self)
        levels = self._levels(data)
        edge_attr = [self._cell(k).edge_encoder(level, f"Level {k}") for k, level in enumerate(levels)]
        edges = tuple(prepare_edges(self._cell(k).conv, level, edge_attr[k]) for k, level in enumerate(levels))
        x = self.node_encoder(given)
        sort = kernels_for(x)
        members = tuple(
            sort_members(level.assignment, level.num_nodes) if sort and level.assignment is not None else None
            for level in levels
        )
        return Encoded(levels, x, edges, members, edge_attr[0], num_graphs_of(data), self.config)

    def _cell(self, k: int) -> Any:
        return self.cells[min(k, len(self.cells) - 1)]

    def _advance(self, encoded: Encoded, state: State, updates: tuple[int, ...]) -> State:
        levels = [self._update_of(k, encoded) for k in range(len(state.levels))]
        states = [LevelState(value, edges) for value, edges in zip(state.levels, encoded.edges, strict=True)]
        return State(tuple(after.state for after in run_global_step(levels, states, updates)))

    def _update_of(self, k: int, encoded: Encoded) -> LevelCellUpdate:
        """Return how level `k` of a batch is updated."""
        top = len(encoded.levels) - 1
        above = None
        if k < top:
            above = (self.down[min(k, len(self.down) - 1)], encoded.levels[k + 1], encoded.members[k + 1])
        return LevelCellUpdate(
            self._cell(k),
            encoded.levels[k],
            below=(self._cell(k - 1), encoded.members[k]) if k > 0 else None,
            pool=self.pool,
            above=above,
            x=encoded.x if k == 0 else None,
            time=self.time if k == 0 else None,
        )
