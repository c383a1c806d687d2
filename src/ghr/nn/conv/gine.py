"""GINE: sum aggregation that sees edge features."""

import torch
from torch import Tensor, nn

from ghr.nn.conv.base import Conv, Edges
from ghr.nn.mlp import MLP
from ghr.nn.shrink import shrink_parameters
from ghr.ops import Above, aggregate_sum, gine_loop, kernels_for, list_edges, sort_edges


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

    one_row_for_all_edges = True
    gated = False
    summed = 0.3  # what multiplies the first map at a scaled start: sums over many neighbours enter it

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
        """Reset all parameters."""
        super().reset_parameters()
        nn.init.zeros_(self.epsilon)

    def shrink(self, factor: float) -> None:
        """Multiply the last map of the update by the factor, and the first, which a sum enters, by ``summed``."""
        first, last = self.maps()
        shrink_parameters(self.summed, first)
        shrink_parameters(factor, last)

    def prepare(self, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int) -> Edges:
        """Project the edge features, and sort the edges if the kernels are to compute."""
        attr = None if self.edge is None else self.edge(edge_attr)
        if not kernels_for(self.epsilon):
            return Edges(edge_index, attr)
        neighbours = sort_edges(edge_index, num_nodes, leaving=torch.is_grad_enabled())
        if attr is None:
            attr = self.epsilon.new_zeros(1, self.channels)
        elif attr.size(0) > 1:
            attr = attr.index_select(0, neighbours.order)
        nothing = edge_index.new_empty(2, 0)  # of a large graph a second list of edges is large
        neighbours = neighbours._replace(order=nothing[0])
        return Edges(nothing, attr, neighbours=neighbours)

    def propagate(self, x: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
        """Aggregate and update."""
        source, target = edges.edge_index if edges.neighbours is None else list_edges(edges.neighbours)
        if edges.attr is None:
            message = x.relu().index_select(0, source)
        elif edges.attr.size(0) == 1:  # relu(x_j + e) depends on j alone
            message = (x + edges.attr).relu().index_select(0, source)
        else:
            message = x.index_select(0, source).add_(edges.attr).relu_()  # in one matrix: all edges are many
        total = (1 + self.epsilon) * x + aggregate_sum(message, target, x.size(0))
        return self.update(total), edges

    def iterate(
        self, norm: nn.RMSNorm, state: Tensor, injection: Tensor, edges: Edges, updates: int
    ) -> tuple[Tensor, Edges]:
        """Update a state several times, in one fused operation where the kernels compute."""
        if edges.neighbours is None:
            return super().iterate(norm, state, injection, edges, updates)
        return self.iterate_below(norm, state, injection, None, edges, updates)

    def iterate_below(
        self,
        norm: nn.RMSNorm,
        state: Tensor,
        injection: Tensor,
        above: Above | None,
        edges: Edges,
        updates: int,
        *,
        own: bool = False,
    ) -> tuple[Tensor, Edges]:
        """Do so where nodes also add what is above them, which the fused operation looks up."""
        if edges.neighbours is None:
            return super().iterate_below(norm, state, injection, above, edges, updates)
        assert edges.attr is not None
        assert norm.eps is not None
        up, down = self.maps()
        state = gine_loop(
            state,
            injection,
            norm.weight,
            norm.eps,
            edges.attr,
            edges.neighbours,
            self.epsilon,
            (up.weight, up.bias),
            (down.weight, down.bias),
            gated=self.gated,
            updates=updates,
            above=above,
            own=own,
        )
        return state, edges

    def maps(self) -> tuple[nn.Linear, nn.Linear]:
        """Return the two linear maps of the update."""
        assert isinstance(self.update, MLP)
        first, last = self.update[0], self.update[-1]
        assert isinstance(first, nn.Linear)
        assert isinstance(last, nn.Linear)
        return first, last
