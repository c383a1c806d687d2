"""GHR as one writes it with PyTorch Geometric: what the library is tested and measured against."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.data import Data
from torch_geometric.nn import GINEConv, MessagePassing

from ghr.hierarchy.data import levels_of
from ghr.models import GHR
from ghr.testing.plain_convs import LAYERS, NAMES

# How PyG's GINEConv calls what GHR's layers call otherwise.
_GINE_NAMES = {"conv.epsilon": "conv.eps", "conv.edge.": "conv.lin.", "conv.update.": "conv.nn."}
CONVS: dict[str, dict[str, str]] = {"gine": _GINE_NAMES, "gated_gine": _GINE_NAMES, "gated_gcn": {}, **NAMES}


class PlainGHR(nn.Module):
    r"""The equations of :class:`~ghr.GHR`, line by line: two levels, predictions for nodes, nothing computed ahead.

    Message passing is PyG's own ``GINEConv``, which projects the edge features at every inner step, or a
    ``MessagePassing`` layer for GatedGCN; :math:`\mathrm{Unpool}(g_H)` is gathered once per high-level step, and
    :math:`W_L''` is applied to it on the fine nodes at every low-level step; autograd keeps everything.

    Args:
        config: The arguments of :class:`~ghr.GHR`, as in its ``config``.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        _check(config)
        channels, edge_dim, coarse = config["hidden_channels"], config["edge_dim"], config["coarse_edge_dim"]
        self.conv, self.pool = config["conv"], config["pool"]
        self.steps, self.t_high, self.t_low = config["steps"], config["t_high"], config["t_low"]
        self.node_encoder = nn.Linear(config["in_channels"], channels)
        coarse_dim = edge_dim if coarse is None else coarse or None
        self.cells = nn.ModuleList(PlainCell(self.conv, channels, dim) for dim in (edge_dim, coarse_dim))
        self.down = nn.Linear(channels, channels, bias=False)
        self.readout = nn.Linear(channels, config["out_channels"])

    @classmethod
    def like(cls, model: GHR) -> "PlainGHR":
        """Return the plain version of a model, with a copy of its weights."""
        plain = cls(model.config)
        own = {name: value.detach().clone() for name, value in model.named_parameters()}
        first = next(iter(own.values()))
        plain.to(device=first.device, dtype=first.dtype)
        state = plain.state_dict()
        plain.load_state_dict({(twin := plain.twin(name)): own[name].view_as(state[twin]) for name in own})
        return plain

    def twin(self, name: str) -> str:
        """Return the name that a parameter of :class:`~ghr.GHR` has here."""
        renamed = {"edge_encoder.map.": "edge_encoder.", "initial.value": "initial", "down.0.": "down."}
        for theirs, ours in {**renamed, "readout.mlp.0.": "readout.", **CONVS[self.conv]}.items():
            name = name.replace(theirs, ours)
        return name

    def forward(self, data: Data, steps: int | None = None) -> Tensor:
        """Return the prediction after the last step."""
        state_low, _ = self._run(data, steps)[-1]
        return self.readout(state_low)  # type: ignore[no-any-return]

    def rollout(self, data: Data, steps: int | None = None) -> list[Tensor]:
        """Return the predictions after every step, the first step first."""
        return [self.readout(state_low) for state_low, _ in self._run(data, steps)]

    def _run(self, data: Data, steps: int | None) -> list[tuple[Tensor, Tensor]]:
        fine, coarse = levels_of(data)
        low, high = (cell for cell in self.cells if isinstance(cell, PlainCell))
        assert coarse.assignment is not None
        f_low = self.node_encoder(data.x)
        e_low, e_high = low.encode(fine.edge_index, fine.edge_attr), high.encode(coarse.edge_index, coarse.edge_attr)
        g_low, g_high = low.initial.expand(fine.num_nodes, -1), high.initial.expand(coarse.num_nodes, -1)
        states = []
        for _ in range(self.steps if steps is None else steps):
            edge_low, edge_high = e_low, e_high
            for _ in range(self.t_high):
                below = _pool(low.norm(g_low), coarse.assignment, coarse.num_nodes, self.pool)
                g_high, edge_high = high(g_high, high.norm(g_high) + below, coarse.edge_index, edge_high, e_high)
                above = g_high[coarse.assignment]
                for _ in range(self.t_low):
                    x = f_low + low.norm(g_low) + self.down(above)
                    g_low, edge_low = low(g_low, x, fine.edge_index, edge_low, e_low)
            states.append((g_low, g_high))
        return states

    def __repr__(self) -> str:
        return f"PlainGHR(conv={self.conv!r}, pool={self.pool!r})"


class PlainCell(nn.Module):
    """The weights of one level."""

    def __init__(self, conv: str, channels: int, edge_dim: int | None) -> None:
        super().__init__()
        self.channels = channels
        self.edge_encoder: nn.Module | None = None if edge_dim is None else nn.Linear(edge_dim, channels)
        if edge_dim is not None and conv in ("gcn", "adgn"):  # which read one positive weight
            self.edge_encoder = nn.Sequential(nn.Linear(edge_dim, 1), nn.Softplus())
        self.norm = nn.RMSNorm(channels, eps=1e-6)
        self.initial = nn.Parameter(torch.zeros(channels))
        if conv == "gated_gcn":
            self.conv: nn.Module = PlainGatedGCN(channels)  # type: ignore[abstract]
        elif conv in LAYERS:
            self.conv = LAYERS[conv](channels)
        else:
            mlp = nn.Sequential(nn.Linear(channels, channels), nn.ReLU(), nn.Linear(channels, channels))
            block = PlainSwiGLU(channels) if conv == "gated_gine" else mlp
            self.conv = GINEConv(block, train_eps=True, edge_dim=channels)  # type: ignore[abstract]

    def encode(self, edge_index: Tensor, edge_attr: Tensor | None) -> Tensor:
        """Encode the edge features; without any, edges start from zero."""
        if self.edge_encoder is None:
            return self.initial.new_zeros(edge_index.size(1), self.channels)
        return self.edge_encoder(edge_attr)  # type: ignore[no-any-return]

    def forward(
        self, state: Tensor, x: Tensor, edge_index: Tensor, edge_state: Tensor, encoded: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the updated states of the nodes and of the edges."""
        if isinstance(self.conv, PlainGatedGCN):
            change, edge_state = self.conv(x, edge_index, edge_state, encoded)
        else:
            change = self.conv(x, edge_index, edge_state)
        return state + change, edge_state


class PlainSwiGLU(nn.Module):
    """The gated feed-forward block; ``in_channels`` is what GINEConv asks of it."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.in_channels = channels
        inner = (4 * channels // 3 + 7) // 8 * 8
        self.gate_content = nn.Linear(channels, 2 * inner, bias=False)
        self.down = nn.Linear(inner, channels, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the block to every row."""
        gate, content = self.gate_content(x).chunk(2, dim=-1)
        return self.down(F.silu(gate) * content)  # type: ignore[no-any-return]


class PlainGatedGCN(MessagePassing):
    """GatedGCN with normalised gates, in the form it has in most repositories."""

    def __init__(self, channels: int) -> None:
        super().__init__(aggr="add")
        self.own = nn.Linear(channels, channels)
        self.neighbour = nn.Linear(channels, channels)
        self.edge = nn.Linear(channels, channels)
        self.edge_target = nn.Linear(channels, channels)
        self.edge_source = nn.Linear(channels, channels)
        self.norm = nn.RMSNorm(channels, eps=1e-6)
        self.edge_norm = nn.RMSNorm(channels, eps=1e-6)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, initial: Tensor) -> tuple[Tensor, Tensor]:
        """Return new node features and new edge states."""
        raw: Tensor = self.edge_updater(
            edge_index, to=self.edge_target(x), over=self.edge_source(x), edge_attr=self.edge(edge_attr)
        )
        gate = raw.sigmoid()
        passed = self.propagate(edge_index, x=self.neighbour(x), gate=gate)
        total = gate.new_zeros(x.size(0), gate.size(1)).index_add(0, edge_index[1], gate)
        out = self.norm(self.own(x) + passed / (total + 1e-6)).relu()
        return out, self.edge_norm(raw).relu() + initial

    def edge_update(self, to_i: Tensor, over_j: Tensor, edge_attr: Tensor) -> Tensor:  # type: ignore[override]
        """Return the edge states before the sigmoid."""
        return to_i + over_j + edge_attr

    def message(self, x_j: Tensor, gate: Tensor) -> Tensor:  # type: ignore[override]
        """Return what passes the gates."""
        return gate * x_j


def _pool(x: Tensor, assignment: Tensor, num_clusters: int, how: str) -> Tensor:
    out = torch.zeros(num_clusters, x.size(1), dtype=x.dtype, device=x.device)
    if how == "max":
        return out.scatter_reduce(0, assignment[:, None].expand_as(x), x, "amax", include_self=False)
    out = out.index_add(0, assignment, x)
    count = torch.bincount(assignment, minlength=num_clusters).clamp(min=1)
    return out / count[:, None] if how == "mean" else out


def _check(config: dict[str, Any]) -> None:
    if config["conv"] not in list(CONVS):  # a module of one's own stands there as a dict
        raise ValueError(f"PlainGHR knows the convs {', '.join(CONVS)}; got {config['conv']!r}.")
    if config["conv"] != "gated_gcn" and (config["edge_dim"] is None or config["coarse_edge_dim"] == 0):
        raise ValueError(f"PlainGHR with conv={config['conv']!r} needs edge features on both levels.")
    wanted = {"levels": 2, "readout": "node", "time_informed": False, "initial_state": "learned"}
    for name, value in wanted.items():
        if config[name] != value:
            raise ValueError(f"PlainGHR is written for {name}={value!r}; got {config[name]!r}.")
    if not isinstance(config["t_high"], int):
        raise ValueError(f"PlainGHR is written for one number t_high; got {config['t_high']!r}.")
