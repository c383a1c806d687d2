"""GatedGCN: normalised edge gates, and edges with a state of their own."""

from torch import Tensor, nn

from ghr.nn.conv.base import Conv, Edges
from ghr.ops import aggregate_sum


class GatedGCN(Conv):
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

    def __init__(self, channels: int, edge_dim: int | None = None) -> None:
        super().__init__(channels, edge_dim)
        if edge_dim not in (None, channels):
            raise ValueError(
                f"GatedGCN needs edge features as wide as its states, {channels}; got edge_dim={edge_dim}."
            )
        self.own = nn.Linear(channels, channels)
        self.neighbour = nn.Linear(channels, channels)
        self.edge = nn.Linear(channels, channels)
        self.edge_target = nn.Linear(channels, channels)
        self.edge_source = nn.Linear(channels, channels)
        self.norm = nn.RMSNorm(channels, eps=1e-6)
        self.edge_norm = nn.RMSNorm(channels, eps=1e-6)

    def prepare(self, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int) -> Edges:
        """Start the edge states."""
        if edge_attr is None:
            edge_attr = self.own.weight.new_zeros(edge_index.size(1), self.channels)
        return Edges(edge_index, edge_attr, edge_attr)

    def propagate(self, x: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
        """Gate, aggregate and update nodes and edges."""
        assert edges.attr is not None
        assert edges.initial is not None
        source, target = edges.edge_index
        to, over = self.edge_target(x).index_select(0, target), self.edge_source(x).index_select(0, source)
        raw = to + over + self.edge(edges.attr)
        gate = raw.sigmoid()
        passed = aggregate_sum(gate * self.neighbour(x).index_select(0, source), target, x.size(0))
        open_ = aggregate_sum(gate, target, x.size(0))
        out = self.own(x) + passed / (open_ + 1e-6)
        return self.norm(out).relu(), edges._replace(attr=self.edge_norm(raw).relu() + edges.initial)
