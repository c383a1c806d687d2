"""GCN: the symmetric normalised sum."""

import torch
from torch import Tensor, nn

from ghr.nn.conv.base import Conv, Edges, weight_and_eps
from ghr.nn.shrink import shrink_parameters
from ghr.ops import aggregate_sum, kernels_for, sort_edges
from ghr.ops.weighted import weighted_loop


def positive_weight_encoder(edge_dim: int) -> tuple[nn.Module, int]:
    """Return a learned map from edge features to one weight above zero, for layers that take weights alone."""
    return nn.Sequential(nn.Linear(edge_dim, 1), nn.Softplus()), 1


def normalise(edge_index: Tensor, weight: Tensor | None, num_nodes: int, dtype: torch.dtype) -> Edges:
    r"""Return the entries of :math:`\tilde D^{-1/2} \tilde A \tilde D^{-1/2}`, :math:`\tilde A = A + I`, as edges.

    The self loop has weight one; a self loop that the graph itself has is replaced by it.

    Shapes:
        - **weight:** :math:`(E)` or :math:`(E, 1)`, at least zero; ``None`` for ones
        - **output:** edge_index :math:`(2, E + N)`, attr :math:`(E + N, 1)`
    """
    source, target = edge_index
    value = torch.ones_like(source, dtype=dtype) if weight is None else weight.reshape(-1)
    value = torch.where(source == target, torch.zeros_like(value), value)
    loop = torch.arange(num_nodes, device=edge_index.device)
    index = torch.cat([edge_index, torch.stack([loop, loop])], dim=1)
    value = torch.cat([value, value.new_ones(num_nodes)])
    scale = aggregate_sum(value, index[1], num_nodes).rsqrt()
    value = scale.index_select(0, index[0]) * value * scale.index_select(0, index[1])
    return Edges(index, value.unsqueeze(1))


class GCN(Conv):
    r"""Averages the neighbourhood with symmetric normalisation.

    .. math::
        X' = \mathrm{ReLU}\big( \tilde D^{-1/2} \tilde A \tilde D^{-1/2} X W + b \big), \qquad \tilde A = A + I

    Edge features enter as one learned positive weight per edge.

    Args:
        channels: Width :math:`d` of the node states.
        edge_dim: ``1`` to weigh the edges, ``None`` for weight one.
    """

    def __init__(self, channels: int, edge_dim: int | None = None) -> None:
        super().__init__(channels, edge_dim)
        self.linear = nn.Linear(channels, channels)
        self.reset_parameters()

    @staticmethod
    def edge_encoder(edge_dim: int, channels: int) -> tuple[nn.Module, int]:
        """Return the map from edge features to weights."""
        return positive_weight_encoder(edge_dim)

    def reset_parameters(self) -> None:
        """Reset all parameters (Glorot weights, zero bias, as PyG does)."""
        nn.init.xavier_uniform_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def shrink(self, factor: float) -> None:
        """Multiply the map of the update."""
        shrink_parameters(factor, self.linear)

    def prepare(self, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int) -> Edges:
        """Normalise the weights."""
        weight = None if self.edge_dim is None else edge_attr
        return sort_for_kernels(normalise(edge_index, weight, num_nodes, self.linear.weight.dtype), num_nodes)

    def propagate(self, x: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
        """Aggregate and update."""
        total = weighted_sum(x, edges)
        return self.linear(total).relu(), edges

    def iterate(
        self, norm: nn.RMSNorm, state: Tensor, injection: Tensor, edges: Edges, updates: int
    ) -> tuple[Tensor, Edges]:
        """Update a state several times, in one fused operation where the kernels compute."""
        if edges.neighbours is None or edges.attr is None:
            return super().iterate(norm, state, injection, edges, updates)
        weight, bias = self.linear.weight, self.linear.bias
        state = weighted_loop(
            state,
            injection,
            weight_and_eps(norm),
            edges.attr.squeeze(1),
            edges.neighbours,
            None,
            weight,
            bias,
            rate=None,
            updates=updates,
        )
        return state, edges


def sort_for_kernels(edges: Edges, num_nodes: int) -> Edges:
    """Return edges with their features sorted by node, where the kernels are to compute."""
    attr = edges.attr
    if attr is None or not kernels_for(attr):
        return edges
    neighbours = sort_edges(edges.edge_index, num_nodes)
    order = neighbours.order
    return Edges(edges.edge_index.index_select(1, order), attr.index_select(0, order), neighbours=neighbours)


def weighted_sum(x: Tensor, edges: Edges) -> Tensor:
    """Sum the neighbours, each times the weight of its edge."""
    assert edges.attr is not None
    return aggregate_sum(x.index_select(0, edges.edge_index[0]) * edges.attr, edges.edge_index[1], x.size(0))
