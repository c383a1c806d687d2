"""Graph Hierarchical Recurrence."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.hierarchy.data import num_graphs_of
from ghr.models.cell import LevelCell, prepare_edges
from ghr.models.inputs import check_input, check_positive
from ghr.models.pretrained import load_pretrained
from ghr.models.recurrence import Recurrence
from ghr.models.state import INITIAL_STATES, Encoded, State
from ghr.nn.conv import ConvLike, Edges
from ghr.nn.readout import Readout, make_readout, readout_name
from ghr.ops import Pool, add_unpooled, check_pool, kernels_for, pool_normalised, sort_members, unpool


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
        in_channels: Width of the node features.
        hidden_channels: Width :math:`d` of all states.
        out_channels: Width of a prediction.
        conv: Message passing: ``"gine"``, ``"gated_gine"``, ``"gcn"``, ``"gated_gcn"``, ``"gat"``, ``"adgn"``; or a
            module ``(x, edge_index, edge_attr) -> x``, of which every level gets a copy with parameters drawn anew; or
            ``channels -> module``, whose modules stay as they are.
        edge_dim: Width of the edge features of the graph; ``None`` if there are none or they shall not be used.
        coarse_edge_dim: Width of the edge features of coarse levels; ``None`` for the same as ``edge_dim``, ``0`` for
            none.
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
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        conv: ConvLike = "gated_gine",
        edge_dim: int | None = None,
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
    ) -> None:
        super().__init__(
            levels=levels, share_coarse=share_coarse, steps=steps, t_high=t_high, t_low=t_low, checkpoint=checkpoint
        )
        sizes = {"in_channels": in_channels, "hidden_channels": hidden_channels, "out_channels": out_channels}
        for name, value in sizes.items():
            check_positive(name, value)
        check_pool(pool)
        if initial_state not in INITIAL_STATES:
            known = ", ".join(INITIAL_STATES)
            raise ValueError(f"Unknown initial_state {initial_state!r}; known are {known}.")
        if share_coarse and levels < 2:
            raise ValueError("share_coarse needs a coarse level; got levels=1.")
        self.in_channels = in_channels
        self.pool: Pool = pool

        if coarse_edge_dim not in (None, 0):
            check_positive("coarse_edge_dim", coarse_edge_dim)
        coarse_dim = edge_dim if coarse_edge_dim is None else coarse_edge_dim or None
        self.node_encoder = nn.Linear(in_channels, hidden_channels)
        kept = min(levels, 2) if share_coarse else levels
        self.cells = nn.ModuleList(
            LevelCell(hidden_channels, conv, edge_dim if k == 0 else coarse_dim, initial_state) for k in range(kept)
        )
        self.down = nn.ModuleList(nn.Linear(hidden_channels, hidden_channels, bias=False) for _ in range(kept - 1))
        self.time = nn.Linear(2, hidden_channels, bias=False) if time_informed else None
        edge_width = self._cell(0).edge_encoder.out_channels
        self.readout = make_readout(readout, hidden_channels, out_channels, edge_width)
        self.config: dict[str, Any] = {
            **sizes,
            "conv": conv if isinstance(conv, str) else None,
            "edge_dim": edge_dim,
            "coarse_edge_dim": coarse_edge_dim,
            "levels": levels,
            "share_coarse": share_coarse,
            "pool": pool,
            "steps": steps,
            "t_high": self.t_high if isinstance(self.t_high, int) else list(self.t_high),
            "t_low": t_low,
            "readout": readout_name(self.readout, edge_width),
            "time_informed": time_informed,
            "initial_state": initial_state,
            "checkpoint": checkpoint,
        }

    def initial_state(self, data: Data | Encoded) -> State:
        """Return the state before the first step."""
        encoded = self.encode(data)
        return State(tuple(self._cell(k).initial(encoded.x, level.num_nodes) for k, level in enumerate(encoded.levels)))

    def encode(self, data: Data | Encoded) -> Encoded:
        """Encode node and edge features, once per forward pass; what is encoded already is returned as it is."""
        if isinstance(data, Encoded):
            return data
        check_input(data, self.in_channels, self)
        levels = self._levels(data)
        edge_attr = [self._cell(k).edge_encoder(level, f"Level {k}") for k, level in enumerate(levels)]
        edges = tuple(prepare_edges(self._cell(k).conv, level, edge_attr[k]) for k, level in enumerate(levels))
        x = self.node_encoder(data.x)
        sort = kernels_for(x)
        members = tuple(
            sort_members(level.assignment, level.num_nodes) if sort and level.assignment is not None else None
            for level in levels
        )
        return Encoded(levels, x, edges, members, edge_attr[0], num_graphs_of(data))

    @classmethod
    def from_pretrained(
        cls, name_or_path: str | Path, *, conv: ConvLike | None = None, readout: Readout | None = None
    ) -> "GHR":
        """Load a model that :meth:`save_pretrained` wrote.

        Args:
            name_or_path: The folder, or the name of a model that comes with the package.
            conv: The message passing, for a model that was built with a module of one's own.
            readout: Likewise the readout.
        """
        own = {name: value for name, value in {"conv": conv, "readout": readout}.items() if value is not None}
        return load_pretrained(cls, name_or_path, own)

    def _cell(self, k: int) -> Any:
        return self.cells[min(k, len(self.cells) - 1)]

    def _advance(self, encoded: Encoded, state: State, counts: tuple[int, ...]) -> State:
        """One global step, Algorithm 2."""
        states, edges = list(state.levels), list(encoded.edges)
        self._loop(len(states) - 1, states, edges, encoded, counts, 1)
        return State(tuple(states))

    def _loop(
        self, k: int, states: list[Tensor], edges: list[Edges], encoded: Encoded, counts: tuple[int, ...], above: int
    ) -> None:
        """Update level `k` as often as it is its turn, and after each update run the loop of the level below."""
        fixed = self._fixed_injection(k, states, encoded)
        if k == 0 and self.time is None:
            states[0], edges[0] = self._cell(0)(states[0], fixed, edges[0], counts[0])
            return
        for turn in range(1, counts[k] + 1):
            changing = self._changing_injection(k, states, encoded, above, turn)
            injection = changing if fixed is None else fixed + changing
            states[k], edges[k] = self._cell(k)(states[k], injection, edges[k])
            if k > 0:
                self._loop(k - 1, states, edges, encoded, counts, turn)

    def _fixed_injection(self, k: int, states: list[Tensor], encoded: Encoded) -> Tensor | None:
        """Return what does not change while level `k` loops: the input at the finest, and the state from above."""
        if k + 1 == len(states):
            return encoded.x if k == 0 else None
        assignment, members = encoded.levels[k + 1].assignment, encoded.members[k + 1]
        assert assignment is not None
        projected = self.down[min(k, len(self.down) - 1)](states[k + 1])  # on clusters: fewer rows than on members
        return add_unpooled(encoded.x, projected, assignment, members) if k == 0 else unpool(projected, assignment)

    def _changing_injection(self, k: int, states: list[Tensor], encoded: Encoded, above: int, turn: int) -> Tensor:
        """Return what is new at every turn of level `k`: the state from below or, at the finest, the time."""
        if k == 0:
            assert self.time is not None
            return self.time(encoded.x.new_tensor([above, turn]))  # type: ignore[no-any-return]
        level, norm = encoded.levels[k], self._cell(k - 1).norm
        assert level.assignment is not None
        return pool_normalised(states[k - 1], norm, level.assignment, level.num_nodes, self.pool, encoded.members[k])
