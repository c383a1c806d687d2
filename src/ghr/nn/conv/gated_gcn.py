"""GatedGCN: normalised edge gates, and edges with a state of their own."""

import torch
from torch import Tensor, nn

from ghr.nn.conv.base import Edges, weight_and_eps
from ghr.nn.conv.gated_sum import GatedSum
from ghr.nn.shrink import shrink_parameters
from ghr.ops import gated_gcn_loop, kernels_for, sort_edges


class GatedGCN(GatedSum):
    r"""Lets every edge carry a state that gates what passes over it, channel by channel.

    .. math::
        \hat e_{ji} &= D x_i + E x_j + C e_{ji}, \qquad
        \eta_{ji} = \frac{\sigma(\hat e_{ji})}{\sum_{k \in \mathcal{N}_i} \sigma(\hat e_{ki}) + 10^{-6}} \\
        x_i' &= \mathrm{ReLU}\Big( \mathrm{RMSNorm}\Big( A x_i + \sum_{j \in \mathcal{N}_i} \eta_{ji} \odot B x_j
        \Big) \Big) \\
        e_{ji}' &= \mathrm{ReLU}\big( \mathrm{RMSNorm}(\hat e_{ji}) \big) + e_{ji}^{(0)}

    The encoded features :math:`e^{(0)}` are injected again at every update; the edge state starts from them at every
    global step of the recurrence. Without edge features it starts from zero.

    Args:
        channels: Width :math:`d` of the node states.
        edge_dim: Width of the encoded edge features, which must be :math:`d`; ``None`` for none.
    """

    one_row_for_all_edges = True
    readout_start = 0.1  # no update is negative: states grow one way, and a readout adds that up

    def __init__(self, channels: int, edge_dim: int | None = None) -> None:
        super().__init__(channels, edge_dim)
        self.norm = nn.RMSNorm(channels, eps=1e-6)
        self.edge_norm = nn.RMSNorm(channels, eps=1e-6)

    def shrink(self, factor: float) -> None:
        """Multiply the weight of the norm: smaller maps before it would be divided out again.

        By the fourth root of the factor, since every update is of the size of this weight: smaller ones learn slowly.
        """
        shrink_parameters(factor**0.25, self.norm)

    def prepare(self, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int) -> Edges:
        """Start the edge states, and sort the edges if the kernels are to compute."""
        edges = super().prepare(edge_index, edge_attr, num_nodes)
        neighbours = sort_edges(edge_index, num_nodes) if kernels_for(self.own.weight) else None
        return edges._replace(neighbours=neighbours)

    def propagate(self, x: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
        """Gate, aggregate and update nodes and edges."""
        out, renewed = super().propagate(x, edges)
        assert renewed.attr is not None
        assert renewed.initial is not None
        return self.norm(out).relu(), renewed._replace(attr=self.edge_norm(renewed.attr).relu() + renewed.initial)

    def iterate(
        self, norm: nn.RMSNorm, state: Tensor, injection: Tensor, edges: Edges, updates: int
    ) -> tuple[Tensor, Edges]:
        """Update a state several times, in one fused operation where the kernels compute."""
        neighbours, attr, initial = edges.neighbours, edges.attr, edges.initial
        if neighbours is None:
            return super().iterate(norm, state, injection, edges, updates)
        assert attr is not None
        assert initial is not None
        if attr.size(0) == initial.size(0) == 1:  # all other rows are yet to be made: let them lie as they are read
            edge_index = edges.edge_index.index_select(1, neighbours.order)
            neighbours = neighbours._replace(order=torch.arange(edge_index.size(1)))
            edges = edges._replace(edge_index=edge_index, neighbours=neighbours)
        maps = (self.neighbour, self.own, self.edge_target, self.edge_source)
        state, attr = gated_gcn_loop(
            state,
            injection,
            weight_and_eps(norm),
            attr,
            initial,
            neighbours,
            (torch.cat([part.weight for part in maps]), torch.cat([part.bias for part in maps])),
            (self.edge.weight, self.edge.bias),
            weight_and_eps(self.norm),
            weight_and_eps(self.edge_norm),
            updates=updates,
        )
        return state, edges._replace(attr=attr)
