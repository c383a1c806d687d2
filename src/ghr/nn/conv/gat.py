"""GAT: attention over the neighbourhood, in its second version."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ghr.hierarchy.data import at_hand
from ghr.nn.conv.base import Conv, Edges, weight_and_eps
from ghr.nn.shrink import shrink_parameters
from ghr.ops import aggregate_sum, kernels_for, pool, sort_edges
from ghr.ops.gat import gat_loop


class GAT(Conv):
    r"""Weighs the neighbours by attention that depends on both ends and on the edge (GATv2).

    .. math::
        x_i' = \mathrm{ReLU}\Big( \sum_{j \in \mathcal{N}_i \cup \{i\}} \alpha_{ij}\, W_s x_j + b \Big), \quad
        \alpha_{ij} = \operatorname*{softmax}_{j}\; a^\top \mathrm{LeakyReLU}_{0.2}
        \big( W_s x_j + W_t x_i + W_g e_{ji} \big)

    A node's own self loop carries the mean of its incoming edge features.

    Args:
        channels: Width :math:`d` of the node states.
        edge_dim: Width of the edge features; ``None`` for attention without them.
    """

    def __init__(self, channels: int, edge_dim: int | None = None) -> None:
        super().__init__(channels, edge_dim)
        self.source = nn.Linear(channels, channels)
        self.target = nn.Linear(channels, channels)
        self.edge = None if edge_dim is None else nn.Linear(edge_dim, channels, bias=False)
        self.attention = nn.Parameter(torch.empty(channels))
        self.bias = nn.Parameter(torch.empty(channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset all parameters (Glorot weights, zero biases, as PyG does)."""
        for linear in (self.source, self.target, self.edge):
            if linear is not None:
                nn.init.xavier_uniform_(linear.weight)
                if linear.bias is not None:
                    nn.init.zeros_(linear.bias)
        nn.init.xavier_uniform_(self.attention.view(1, -1))
        nn.init.zeros_(self.bias)

    def shrink(self, factor: float) -> None:
        """Multiply the map of what is averaged."""
        shrink_parameters(factor, self.source)

    def prepare(self, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int) -> Edges:
        """Append the self loops, project the edge features, and sort the edges if the kernels are to compute."""
        loop = torch.arange(num_nodes, device=edge_index.device)
        given = edge_index[0] == edge_index[1]
        dropped = None
        if at_hand(edge_index):
            edge_index, edge_attr = edge_index[:, ~given], None if edge_attr is None else edge_attr[~given]
            kept = edge_index.new_ones(edge_index.size(1), 1)
        else:
            dropped, kept = torch.cat([given, torch.zeros_like(loop, dtype=torch.bool)]), (~given).unsqueeze(1)
        index = torch.cat([edge_index, torch.stack([loop, loop])], dim=1)
        attr = None
        if self.edge is not None and edge_attr is not None:
            attr, target = self.edge(edge_attr), edge_index[1]
            count = aggregate_sum(kept.to(attr.dtype), target, num_nodes).clamp(min=1)
            attr = torch.cat([attr, aggregate_sum(attr * kept, target, num_nodes) / count])
        if dropped is not None or not kernels_for(self.attention):
            return Edges(index, attr, dropped=dropped)
        neighbours = sort_edges(index, num_nodes)
        index, attr = index[:, neighbours.order], None if attr is None else attr.index_select(0, neighbours.order)
        return Edges(index, attr, neighbours=neighbours)

    def propagate(self, x: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
        """Attend and aggregate."""
        source, target = edges.edge_index
        value = self.source(x).index_select(0, source)
        query = value + self.target(x).index_select(0, target)
        if edges.attr is not None:
            query = query + edges.attr
        score = F.leaky_relu(query, 0.2) @ self.attention
        if edges.dropped is not None:
            score = score.masked_fill(edges.dropped, -torch.inf)
        top = pool(score.detach().unsqueeze(1), target, x.size(0), "max").index_select(0, target)
        weight = (score.unsqueeze(1) - top).exp()
        total = aggregate_sum(weight, target, x.size(0))
        out = aggregate_sum(weight * value, target, x.size(0)) / total + self.bias
        return out.relu(), edges

    def iterate(
        self, norm: nn.RMSNorm, state: Tensor, injection: Tensor, edges: Edges, updates: int
    ) -> tuple[Tensor, Edges]:
        """Update a state several times, in one fused operation where the kernels compute."""
        if edges.neighbours is None:
            return super().iterate(norm, state, injection, edges, updates)
        state = gat_loop(
            state,
            injection,
            weight_and_eps(norm),
            edges.attr,
            edges.neighbours,
            torch.stack([self.source.weight, self.target.weight]),
            torch.stack([self.source.bias, self.target.bias]),
            self.attention,
            self.bias,
            updates=updates,
        )
        return state, edges
