"""Cache-GNN: a recurrent network whose nodes look up their own earlier states; a reconstruction."""

import math
from collections import deque
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ghr.checks import check_whole
from ghr.models.iterated import Iterated
from ghr.models.network import LayerInput
from ghr.nn.conv import GINE
from ghr.nn.encoder import Width
from ghr.nn.readout import Readout


class CacheEntry(NamedTuple):
    """An earlier state, and what is made of it once when it is stored.

    Attributes:
        state: The states of all nodes :math:`(N, d)`.
        key: What a query is compared with.
        value: What is read.
    """

    state: Tensor
    key: Tensor
    value: Tensor


class StateCache(nn.Module):
    r"""Lets every node read its own last states by attention.

    .. math::
        c_i = \sum_s \operatorname*{softmax}_s\big( (W_q h_i)^\top (W_k C_{s,i}) / \sqrt d \big)\, W_v C_{s,i}

    Args:
        channels: Width :math:`d` of the states.

    Shapes:
        - **input:** :math:`(N, d)`
        - **output:** :math:`(N, d)`
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.query = nn.Linear(channels, channels, bias=False)
        self.key = nn.Linear(channels, channels, bias=False)
        self.value = nn.Linear(channels, channels, bias=False)

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        for linear in (self.query, self.key, self.value):
            linear.reset_parameters()

    def store(self, state: Tensor) -> CacheEntry:
        """Return what is kept of a state."""
        return CacheEntry(state, self.key(state), self.value(state))

    def forward(self, state: Tensor, entries: deque[CacheEntry]) -> Tensor:
        """Read what is stored; at least one entry is needed."""
        query = self.query(state) / math.sqrt(state.size(1))
        weight = torch.stack([(query * entry.key).sum(dim=1) for entry in entries]).softmax(dim=0)
        values = torch.stack([entry.value for entry in entries])
        return (weight.unsqueeze(2) * values).sum(dim=0)

    def __repr__(self) -> str:
        return f"StateCache({self.query.in_features})"


class CacheGNN(Iterated):
    r"""A reconstruction of Cache-GNN: a recurrent network whose nodes look up their own earlier states.

    No code or equations of Cache-GNN were published where they can be read. This is one form of what its abstract
    says, and its results are not those of the authors.

    .. math::
        h^{(t)} = \mathrm{GRU}\big( \mathrm{GINE}(h^{(t-1)}, e),\; c^{(t-1)} \big), \qquad
        c^{(t)}_i = \mathrm{read}\big( h^{(t)}_i;\, h^{(t)}_i, h^{(t-1)}_i, \dots, h^{(t-S+1)}_i \big)

    from :math:`h^{(0)} = W_n x`, with the attention of :class:`StateCache` as read; the second argument of the GRU is
    the state that it updates. One set of weights serves all steps, so their number may be changed at inference. With
    ``window=1`` the attention has nothing to choose from, and it is a plain recurrent network.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`d` of the states.
        out_channels: Width of a prediction.
        layers: Number of steps.
        window: Number :math:`S` of states that a node remembers; ``None`` for all.
        edge_dim: Width of the edge features; ``None`` if there are none or they shall not be used.
        readout: As in :class:`~ghr.GHR`.

    Shapes:
        - **input:** a (batch of) graphs with ``x`` of shape :math:`(N, \text{in\_channels})`
        - **output:** as of :class:`~ghr.GHR`
    """

    def __init__(
        self,
        in_channels: Width,
        hidden_channels: int,
        out_channels: int,
        *,
        layers: int = 20,
        window: int | None = None,
        edge_dim: Width | None = None,
        readout: str | Readout = "node",
    ) -> None:
        window = None if window is None else check_whole("window", window, also=", or None for all states")
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            layers=layers,
            edge_dim=edge_dim,
            readout=readout,
            window=window,
        )
        self.window = window
        self.conv = GINE(self.channels, self.edge_width)
        self.cell = nn.GRUCell(self.channels, self.channels)
        self.cache = StateCache(self.channels)

    def remember_states(self, state: Tensor, graph: LayerInput, layers: int) -> tuple[Tensor, deque[CacheEntry]]:
        """Return the states after a number of steps, and the cache with the last of them."""
        edges = self.conv.prepare(graph.edge_index, graph.edge_attr, state.size(0))
        entries = deque([self.cache.store(state)], maxlen=self.window)
        for _ in range(layers):
            message, edges = self.conv.propagate(state, edges)
            state = self.cell(message, self.cache(state, entries))
            entries.append(self.cache.store(state))
        return state, entries

    def iterate(self, state: Tensor, graph: LayerInput, layers: int) -> Tensor:
        """Return the states after a number of steps."""
        return self.remember_states(state, graph, layers)[0]
