"""GINE: sum aggregation that sees edge features."""

import torch
from torch import Tensor, nn

from ghr.nn.conv.base import Conv, Edges
from ghr.nn.mlp import MLP
from ghr.ops import aggregate_sum


class GINE(Conv):
    r"""Sums the neighbours with their edge features and passes the result through a two-layer MLP.

    .. math::
        x_i' = \mathrm{MLP}\Big( (1 + \epsilon)\, x_i + \sum_{j \in \mathcal{N}_i}
        \mathrm{ReLU}\big( x_j + W_g\, e_{ji} \big) \Big)

    with learned :math:`\epsilon`, zero at the start.

    Args:
        channels: Width :math:`d` of the node states.
        edge_dim: Width of the edge features; ``None`` for messages without them.
    """

    def __init__(self, channels: int, edge_dim: int | None = None) -> None:
        super().__init__(channels, edge_dim)
        self.epsilon = nn.Parameter(torch.zeros(()))
        self.edge = None if edge_dim is None else nn.Linear(edge_dim, channels)
        self.update = self.make_update(channels)

    @staticmethod
    def make_update(channels: int) -> nn.Module:
        """Return the block that follows the sum."""
        return MLP(channels, channels, channels)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        super().reset_parameters()
        nn.init.zeros_(self.epsilon)

    def prepare(self, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int) -> Edges:
        """Project the edge features."""
        return Edges(edge_index, None if self.edge is None else self.edge(edge_attr))

    def propagate(self, x: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
        """Aggregate and update."""
        source, target = edges.edge_index
        message = x.index_select(0, source)
        if edges.attr is not None:
            message = message + edges.attr
        total = (1 + self.epsilon) * x + aggregate_sum(message.relu(), target, x.size(0))
        return self.update(total), edges
