"""GRIT: attention over all pairs of nodes, which have states of their own that start from random walks."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from ghr.checks import check_choice, check_whole
from ghr.memory import check_memory
from ghr.models.inputs import MOST_LAYERS
from ghr.models.network import LayerInput, Network, check_dropout
from ghr.nn.attention import count_pairs, graph_starts
from ghr.nn.encoder import Width
from ghr.nn.encodings import read_rows
from ghr.nn.grit import GRITLayer
from ghr.nn.readout import Readout
from ghr.transforms.pairs import all_pairs
from ghr.transforms.relative_random_walk import walk_powers

Pairs = Literal["all", "edges"]
KEPT = 12  # numbers for every pair and channel that a layer keeps for the gradient


class WalkMap(nn.Linear):
    """A linear map of random walks to channels, without bias and with Glorot's start."""

    def __init__(self, steps: int, channels: int) -> None:
        super().__init__(steps, channels, bias=False)

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        nn.init.xavier_uniform_(self.weight)


class GRIT(Network):
    r"""A graph transformer whose attention reads states of all pairs of nodes, which start from random walks.

    .. math::
        P_{ij} = \big[ I_{ij}, M_{ij}, \dots, (M^{K-1})_{ij} \big], \quad M = D^{-1} A, \qquad
        h_i^{(0)} = W_n x_i + W_1 P_{ii}, \quad e_{ij}^{(0)} = W_2 P_{ij} + [\,j \to i\,]\, W_e e_{ji}

    followed by :math:`L` layers :class:`~ghr.nn.grit.GRITLayer`. The pair states of the last layer are read by nobody,
    so it does not update them. Every node reads every node of its graph in one layer, at a cost in time and memory
    of the number of pairs times the width; or, with ``pairs="edges"``, its neighbours alone, as in some published
    comparisons. The random walks :math:`P` are taken from the graph if :class:`~ghr.transforms.RelativeRandomWalk` has
    stored them there, and computed otherwise: for all pairs they take more space on disk than most data sets are worth.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`d` of nodes and pairs; a multiple of ``heads``.
        out_channels: Width of a prediction.
        layers: Number of layers :math:`L`.
        heads: Heads of the attention.
        walk_steps: Number of powers :math:`K`.
        pairs: Which pairs have a state: ``"all"`` nodes of a graph, or those that ``"edges"`` join.
        dropout: Probability of dropping an entry, in ``[0, 1)``.
        attention_dropout: Probability of dropping a weight of the attention, in ``[0, 1)``.
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
        layers: int = 3,
        heads: int = 2,
        walk_steps: int = 16,
        pairs: Pairs = "all",
        dropout: float = 0.05,
        attention_dropout: float = 0.2,
        edge_dim: Width | None = None,
        readout: str | Readout = "node",
    ) -> None:
        layers, heads = check_whole("layers", layers, most=MOST_LAYERS), check_whole("heads", heads)
        dropout, attention_dropout = check_dropout(dropout), check_dropout(attention_dropout)
        check_choice("pairs", pairs, get_args(Pairs))
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            edge_dim=edge_dim,
            readout=readout,
            layers=layers,
            heads=heads,
            walk_steps=walk_steps,
            pairs=pairs,
            dropout=dropout,
            attention_dropout=attention_dropout,
        )
        self.pairs = pairs
        self.walk_steps = check_whole("walk_steps", walk_steps)
        self.node_walk = WalkMap(self.walk_steps, self.channels)
        self.pair_walk = WalkMap(self.walk_steps, self.channels)
        self.layers = nn.ModuleList(
            GRITLayer(
                self.channels,
                heads,
                dropout=dropout,
                attention_dropout=attention_dropout,
                update_pairs=layer < layers - 1,
            )
            for layer in range(layers)
        )

    @classmethod
    def width_multiple(cls, options: Mapping[str, Any]) -> int:
        """Return the number of heads."""
        return check_whole("heads", options.get("heads", 2))

    def run(self, state: Tensor, graph: LayerInput) -> Tensor:
        """Return the states after the last layer."""
        if self.training and state.size(0) == 1:
            raise ValueError(
                "GRIT has batch norms, which cannot be trained on a single node; give it more in one batch."
            )
        start = graph_starts(graph.batch, graph.num_graphs, "GRIT")
        self._check_memory(start, graph.edge_index.size(1), state)
        walks, node = self._walks(graph, start, state), torch.arange(state.size(0), device=state.device)
        state = state + self.node_walk(walks[_find(torch.stack([node, node]), graph.batch, start)])
        place = _find(graph.edge_index, graph.batch, start)
        if self.pairs == "edges":
            pairs, pair_state = graph.edge_index, self.pair_walk(walks[place])
            pair_state = pair_state if graph.edge_attr is None else pair_state + graph.edge_attr
        else:
            pairs, pair_state = batch_pairs(start).to(state.device), self.pair_walk(walks)
            pair_state = pair_state if graph.edge_attr is None else pair_state.index_add(0, place, graph.edge_attr)
        degree = torch.bincount(graph.edge_index[1], minlength=state.size(0)).to(state.dtype)
        log_degree = degree.log1p().unsqueeze(1)
        for layer in self.layers:
            state, pair_state = layer(state, pairs, pair_state, log_degree)
        return state

    def _check_memory(self, start: Tensor, num_edges: int, state: Tensor) -> None:
        kept = KEPT * len(self.layers) if torch.is_grad_enabled() else KEPT
        everywhere = self.pairs == "all"
        walks = count_pairs(start)
        pairs = walks if everywhere else num_edges
        what = "Attention over all pairs" if everywhere else "Attention that reads random walks between all pairs"
        check_memory(
            f"{what} of {int(start.diff().max()):,} nodes in {start.numel() - 1} graphs",
            state.element_size() * (pairs * kept * self.channels + walks * self.walk_steps),
            "take smaller batches or graphs, or a model without states of pairs",
        )

    def _walks(self, graph: LayerInput, start: Tensor, like: Tensor) -> Tensor:
        """Return the random walks between all pairs, stored or computed."""
        if "rrwp" in graph.data:
            return read_rows(graph.data, "rrwp", (count_pairs(start), self.walk_steps)).to(like)
        edges = graph.edge_index.cpu()
        of_edge = graph.batch.cpu()[edges[0]]
        order = of_edge.argsort(stable=True)
        counts = torch.bincount(of_edge, minlength=graph.num_graphs).tolist()
        walks = []
        for own, (first, size) in zip(torch.split(edges[:, order], counts, 1), _places(start), strict=True):
            walks.append(walk_powers(own - first, size, self.walk_steps, like.dtype).flatten(0, 1))
        return torch.cat(walks).to(like.device)


def batch_pairs(start: Tensor) -> Tensor:
    """Return the pairs of all nodes of every graph, source first and sorted by target, as a batch of them has them."""
    return torch.cat([all_pairs(size) + first for first, size in _places(start)], dim=1)


def _places(start: Tensor) -> list[tuple[int, int]]:
    """Return the first node and the number of nodes of every graph."""
    return list(zip(start[:-1].tolist(), start.diff().tolist(), strict=True))


def _find(pairs: Tensor, batch: Tensor, start: Tensor) -> Tensor:
    """Return where some pairs are among the pairs of all nodes of every graph."""
    source, target = pairs
    start = start.to(source.device)
    size = start.diff()
    before = size.square().cumsum(0) - size.square()
    of_pair = batch[source]
    first = start[of_pair]
    place: Tensor = before[of_pair] + (target - first) * size[of_pair] + (source - first)
    return place
