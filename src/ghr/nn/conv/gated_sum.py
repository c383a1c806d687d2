"""The gated sum that all forms of GatedGCN have in common."""

from torch import Tensor, nn

from ghr.nn.conv.base import Conv, Edges
from ghr.ops import aggregate_sum


class GatedSum(Conv):
    r"""Weighs the neighbours by gates that every edge opens, channel by channel, and adds them up.

    .. math::
        \hat e_{ji} = D x_i + E x_j + C e_{ji}, \qquad
        \eta_{ji} = \frac{\sigma(\hat e_{ji})}{\sum_{k \in \mathcal{N}_i} \sigma(\hat e_{ki}) + 10^{-6}}, \qquad
        x_i' = A x_i + \sum_{j \in \mathcal{N}_i} \eta_{ji} \odot B x_j

    What becomes of :math:`x'` and :math:`\hat e`, norms and activations, is up to who calls it. Without edge features
    :math:`e` starts from zero.

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

    def prepare(self, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int) -> Edges:
        """Start the edge states."""
        if edge_attr is None:
            edge_attr = self.own.weight.new_zeros(1, self.channels)
        return Edges(edge_index, edge_attr, edge_attr)

    def propagate(self, x: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
        r"""Return :math:`x'`, and the edges with :math:`\hat e`."""
        assert edges.attr is not None
        source, target = edges.edge_index
        to, over = self.edge_target(x).index_select(0, target), self.edge_source(x).index_select(0, source)
        raw = to + over + self.edge(edges.attr)
        gate = raw.sigmoid()
        passed = aggregate_sum(gate * self.neighbour(x).index_select(0, source), target, x.size(0))
        open_ = aggregate_sum(gate, target, x.size(0))
        return self.own(x) + passed / (open_ + 1e-6), edges._replace(attr=raw)
