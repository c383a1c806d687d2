"""An energy of node states, with the exact gradient in closed form."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ghr.nn.aggregation import Aggregation
from ghr.nn.reset import reset_children


class GraphEnergy(nn.Module):
    r"""A learned energy of the states of all nodes.

    .. math::
        E(y) = \sum_i \mathbf 1^\top \log\cosh\Big( W y_i + \sum_j a_{ij} (V y_j + U e_{ji}) + b \Big)

    With :math:`s = \tanh(\cdot)` of the same argument, and symmetric :math:`a`, its gradient is

    .. math::
        \nabla E(y)_i = W^\top s_i + \sum_j a_{ij} V^\top s_j.

    Args:
        channels: Width :math:`h` of the states.
        edge_dim: Width of the encoded edge features; ``None`` without any.

    Shapes:
        - **input:** :math:`(N, h)`, and of the summed edge features :math:`(N, D)`
        - **output:** scalar; of the gradient :math:`(N, h)`
    """

    def __init__(self, channels: int, edge_dim: int | None = None) -> None:
        super().__init__()
        self.own = nn.Linear(channels, channels)
        self.edge = None if edge_dim is None else nn.Linear(edge_dim, channels, bias=False)
        self.neighbour = nn.Parameter(torch.empty(channels, channels))
        nn.init.xavier_uniform_(self.neighbour)

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)
        nn.init.xavier_uniform_(self.neighbour)

    def argument(self, state: Tensor, aggregation: Aggregation, edge_sum: Tensor | None) -> Tensor:
        r"""Return what :math:`\log\cosh` is taken of."""
        value: Tensor = self.own(state) + aggregation(state) @ self.neighbour.T
        if self.edge is not None and edge_sum is not None:
            value = value + self.edge(edge_sum)
        return value

    def forward(self, state: Tensor, aggregation: Aggregation, edge_sum: Tensor | None = None) -> Tensor:
        """Return the energy."""
        size = self.argument(state, aggregation, edge_sum).abs()
        return (size + F.softplus(-2 * size) - math.log(2)).sum()

    def gradient(self, state: Tensor, aggregation: Aggregation, edge_sum: Tensor | None = None) -> Tensor:
        """Return the gradient of the energy in the states; the aggregation must be symmetric."""
        slope = self.argument(state, aggregation, edge_sum).tanh()
        return slope @ self.own.weight + aggregation(slope @ self.neighbour)

    def __repr__(self) -> str:
        edge_dim = None if self.edge is None else self.edge.in_features
        return f"GraphEnergy({self.own.in_features}, edge_dim={edge_dim})"
