"""Linear maps over the neighbours of every node, with fixed weights."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.utils import remove_self_loops, to_undirected

from ghr.checks import check_choice
from ghr.nn.conv.gcn import normalise
from ghr.ops import aggregate_sum

AGGREGATIONS = ("naive", "gcn")


@dataclass(frozen=True)
class Aggregation:
    r"""The map :math:`x_i \mapsto \sum_j a_{ij} x_j` over the nodes of a graph.

    Args:
        edge_index: Where :math:`a` is not zero :math:`(2, M)`, :math:`j` first.
        weight: Its entries :math:`(M, 1)`.
        given: The edges as the graph has them :math:`(2, E)`.
        given_weight: The entry of each :math:`(E, 1)`, for the features of the edges.
        num_nodes: Number of nodes.

    Shapes:
        - **input:** :math:`(N, C)`
        - **output:** :math:`(N, C)`
    """

    edge_index: Tensor
    weight: Tensor
    given: Tensor
    given_weight: Tensor
    num_nodes: int

    def __call__(self, x: Tensor) -> Tensor:
        """Sum the states of the neighbours."""
        source, target = self.edge_index
        return aggregate_sum(x.index_select(0, source) * self.weight, target, self.num_nodes)

    def sum_features(self, features: Tensor) -> Tensor:
        r"""Sum the features of the given edges that arrive at a node, :math:`\sum_j a_{ij} e_{ji}`."""
        return aggregate_sum(features * self.given_weight, self.given[1], self.num_nodes)


def make_aggregation(
    name: str, edge_index: Tensor, num_nodes: int, dtype: torch.dtype, *, undirected: bool = False
) -> Aggregation:
    r"""Return an aggregation by its name.

    Args:
        name: ``"naive"`` for the sum, :math:`a = A`; or ``"gcn"`` for :math:`\tilde D^{-1/2} \tilde A \tilde D^{-1/2}`
            with :math:`\tilde A = A + I`.
        edge_index: The edges :math:`(2, E)`.
        num_nodes: Number of nodes.
        dtype: Type of the weights.
        undirected: Whether :math:`A` is that of :func:`make_undirected`, so that :math:`a` is symmetric.
    """
    check_choice("aggregation", name, AGGREGATIONS)
    used = make_undirected(edge_index, num_nodes) if undirected else edge_index
    source, target = edge_index
    if name == "naive":
        weight = torch.ones(used.size(1), 1, dtype=dtype, device=used.device)
        given_weight = torch.ones(edge_index.size(1), 1, dtype=dtype, device=used.device)
        if undirected:
            given_weight = given_weight.masked_fill((source == target).unsqueeze(1), 0)
        return Aggregation(used, weight, edge_index, given_weight, num_nodes)
    normalised = normalise(used, None, num_nodes, dtype)
    index, entries = normalised.edge_index, normalised.attr
    if entries is None:
        raise ValueError("The normalised edges have no weights.")
    scale = entries[used.size(1) :].sqrt()  # of the self loops, which are one over the degree
    given_weight = scale.index_select(0, source) * scale.index_select(0, target)
    given_weight = given_weight.masked_fill((source == target).unsqueeze(1), 0)
    return Aggregation(index, entries, edge_index, given_weight, num_nodes)


def make_undirected(edge_index: Tensor, num_nodes: int) -> Tensor:
    """Return both directions of every edge, each once, without self loops."""
    proper: Tensor = remove_self_loops(edge_index)[0]
    both: Tensor = to_undirected(proper, num_nodes=num_nodes)
    return both


def count_degree(edge_index: Tensor, num_nodes: int, dtype: torch.dtype) -> Tensor:
    r"""Return how many edges arrive at every node, at least one :math:`(N, 1)`."""
    ones = torch.ones(edge_index.size(1), 1, dtype=dtype, device=edge_index.device)
    return aggregate_sum(ones, edge_index[1], num_nodes).clamp(min=1)
