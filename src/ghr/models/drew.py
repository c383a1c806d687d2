"""DRew: layers that reach farther one by one, and read distant nodes as they were some layers ago."""

import math
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.transforms import BaseTransform

from ghr.checks import check_flag, check_whole
from ghr.hierarchy.data import at_hand, check_edges
from ghr.hierarchy.tensors import check_tensor
from ghr.memory import check_memory
from ghr.models.inputs import MOST_LAYERS
from ghr.models.network import LayerInput, Network, check_dropout
from ghr.nn.aggregation import Aggregation, make_aggregation
from ghr.nn.encoder import Width
from ghr.nn.readout import Readout
from ghr.transforms.hops import HOP_NAMES, MOST_HOPS, HopEdges


class DRew(Network):
    r"""Dynamically rewired message passing with delay: layer :math:`t` reads nodes up to :math:`t + 1` hops away.

    .. math::
        h^{(t+1)} = h^{(t)} + \mathrm{ReLU}\Big( \sum_{k=1}^{\min(t+1, K)} \mathrm{ReLU}\big(
        P_k\, h^{(t - \max(k - \nu, 0))} W_{k,t} + b_{k,t} \big) \Big), \qquad t = 0, \dots, L - 1

    where :math:`P_k = \tilde D^{-1/2} (A_k + I) \tilde D^{-1/2}`, and :math:`A_k` joins nodes whose shortest path has
    exactly :math:`k` edges. A node at distance :math:`k` is read as it was :math:`k - \nu` layers ago. A graph that has
    no pair at distance :math:`k > 1` leaves that hop out. Encoded features of an edge are added to the state that comes
    over it, at :math:`k = 1` alone. The published models also have batch norms inside the sum.

    A graph needs its pairs: :attr:`transform` is :class:`~ghr.transforms.HopEdges`.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`d` of the states.
        out_channels: Width of a prediction.
        layers: Number of layers :math:`L`.
        max_hops: The farthest that a layer reads, :math:`K`; ``None`` for as many hops as layers.
        nu: Distance :math:`\nu` up to which there is no delay: ``1`` for the full delay, ``None`` (or infinity) for
            none, which reaches :math:`L (L + 1) / 2` hops in place of :math:`L`.
        normalise: Whether the states are scaled to length one after every layer.
        dropout: Probability of dropping an entry of what a hop gives, in ``[0, 1)``.
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
        layers: int = 5,
        max_hops: int | None = None,
        nu: float | None = 1,
        normalise: bool = True,
        dropout: float = 0.0,
        edge_dim: Width | None = None,
        readout: str | Readout = "node",
    ) -> None:
        layers = check_whole("layers", layers, most=MOST_LAYERS)
        if max_hops is not None:
            max_hops = check_whole("max_hops", max_hops, most=MOST_HOPS, also=", or None for as many as layers")
        if nu is not None:
            endless = isinstance(nu, float) and nu == math.inf
            nu = None if endless else check_whole("nu", nu, also=", or None for no delay")
        dropout = check_dropout(dropout)
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            edge_dim=edge_dim,
            readout=readout,
            layers=layers,
            max_hops=max_hops,
            nu=nu,
            normalise=check_flag("normalise", normalise),
            dropout=dropout,
        )
        self.max_hops = min(layers, layers if max_hops is None else max_hops)
        self.nu, self.normalise, self.dropout = nu, normalise, dropout
        self.layers = nn.ModuleList(
            nn.ModuleList(nn.Linear(self.channels, self.channels) for _ in range(min(layer + 1, self.max_hops)))
            for layer in range(layers)
        )

    @property
    def transform(self) -> BaseTransform | None:
        """Finds the pairs of nodes that are several hops apart; ``None`` if no layer reads them."""
        return HopEdges(self.max_hops) if self.max_hops > 1 else None

    def delay(self, hop: int) -> int:
        """Return how many layers ago a node at some distance is read."""
        return 0 if self.nu is None else max(hop - int(self.nu), 0)

    def run(self, state: Tensor, graph: LayerInput) -> Tensor:
        """Return the states after the last layer."""
        hops = self._hops(state, graph)
        edge_sum = None if graph.edge_attr is None else hops[0][0].sum_features(graph.edge_attr)
        states = [state]
        for layer in self.layers:
            total = torch.zeros_like(state)
            for hop, linear in enumerate(cast(nn.ModuleList, layer), start=1):
                aggregation, there = hops[hop - 1]
                around = aggregation(states[-1 - self.delay(hop)])
                if hop == 1 and edge_sum is not None:
                    around = around + edge_sum
                message = F.dropout(linear(around), self.dropout, self.training).relu()
                total = total + (message if there is None else message * there)
            state = states[-1] + total.relu()
            states.append(F.normalize(state, dim=1) if self.normalise else state)
        return states[-1]

    def _hops(self, state: Tensor, graph: LayerInput) -> list[tuple[Aggregation, Tensor | None]]:
        """Return the sum over the nodes at every distance, and which nodes are in a graph that has such pairs."""
        size = state.size(0)
        result: list[tuple[Aggregation, Tensor | None]] = [
            (make_aggregation("gcn", graph.edge_index, size, state.dtype), None)
        ]
        if self.max_hops == 1:
            return result
        pairs, distance = self._pairs(graph.data, size)
        pairs_at = [pairs[:, distance == hop] for hop in range(2, self.max_hops + 1)]
        largest = size + max(index.size(1) for index in pairs_at)
        check_memory(
            f"Passing messages between {pairs.size(1):,} pairs of nodes",
            40 * pairs.size(1) + 4 * largest * state.size(1) * state.element_size(),
            "take fewer hops, or smaller batches or graphs",
        )
        for index in pairs_at:
            count = torch.bincount(graph.batch.index_select(0, index[1]), minlength=graph.num_graphs)
            there = (count > 0).index_select(0, graph.batch).unsqueeze(1)
            result.append((make_aggregation("gcn", index, size, state.dtype), there))
        return result

    def _pairs(self, data: Any, num_nodes: int) -> tuple[Tensor, Tensor]:
        """Return the pairs of a batch and their distances, or raise a ValueError."""
        missing = [name for name in HOP_NAMES if data._store.get(name) is None]
        if missing:
            raise ValueError(
                f"DRew needs the pairs of nodes up to {self.max_hops} hops apart, but the graph has no "
                f"{', '.join(missing)}; call model.prepare(graph) first."
            )
        pairs, distance, limit = (check_tensor(name, data[name]) for name in HOP_NAMES)
        check_edges(pairs, num_nodes, HOP_NAMES[0], look=at_hand(pairs))
        if distance.shape != pairs.shape[1:]:
            raise ValueError(f"hop_distance has the shape {tuple(distance.shape)} for {pairs.size(1)} pairs of nodes.")
        if limit.numel() == 0:
            raise ValueError("hop_limit is empty, but says up to which distance a graph has its pairs.")
        if at_hand(limit) and int(limit.min()) < self.max_hops:
            raise ValueError(
                f"DRew reads nodes up to {self.max_hops} hops away, but hop_limit of the graph is {int(limit.min())}; "
                "call model.prepare(graph) with the original graph."
            )
        return pairs, distance
