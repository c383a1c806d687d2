"""The layer of GRIT: attention by the states of pairs, which it updates too."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ghr.nn.reset import reset_children
from ghr.ops import aggregate_sum

BOUND = 5.0  # of the logits of the attention
TINY = 1e-30  # below it a root counts as zero, where its slope is infinite


class GRITLayer(nn.Module):
    r"""Lets every node attend to all nodes of its graph by the states of the pairs, and updates nodes and pairs.

    .. math::
        [w_{ij} \,\|\, b_{ij}] &= E\, e_{ij}, \qquad
        \hat e_{ij} = \mathrm{ReLU}\big( \rho( (Q x_i + K x_j) \odot w_{ij} ) + b_{ij} \big), \qquad
        \rho(s) = \operatorname{sign}(s) \sqrt{|s|} \\
        \alpha_{ij} &= \operatorname*{softmax}_{j}\; \operatorname{clamp}\big( a^\top \hat e_{ij}, -5, 5 \big), \qquad
        o_i = \sum_j \alpha_{ij}\, V x_j + U \sum_j \alpha_{ij}\, \hat e_{ij} \\
        h_i &= \mathrm{N}\big( x_i + O_h ( o_i \odot t_1 + \log(1 + \deg_i)\, o_i \odot t_2 ) \big), \qquad
        x_i' = \mathrm{N}\big( h_i + \mathrm{FFN}(h_i) \big) \\
        e_{ij}' &= \mathrm{N}\big( e_{ij} + O_e\, \hat e_{ij} \big)

    with batch norms :math:`\mathrm{N}`; attention, :math:`a` and :math:`U` are those of a head.

    Args:
        channels: Width :math:`d` of nodes and pairs, a multiple of ``heads``.
        heads: Number of heads.
        dropout: Probability of dropping an entry of :math:`o`, of :math:`\hat e` in its last use, and in the FFN.
        attention_dropout: Probability of dropping a weight of the attention.
        update_pairs: Whether pairs get new states; where nobody reads them, ``False`` saves the weights.

    Shapes:
        - **x:** :math:`(N, d)`
        - **pairs:** :math:`(2, P)`, source first
        - **pair_state:** :math:`(P, d)`
        - **log_degree:** :math:`(N, 1)`, of the graph itself
        - **output:** new states of nodes and pairs, the latter as they came without ``update_pairs``
    """

    def __init__(
        self, channels: int, heads: int, *, dropout: float, attention_dropout: float, update_pairs: bool = True
    ) -> None:
        super().__init__()
        if channels % heads:
            raise ValueError(f"hidden_channels must be a multiple of heads={heads}; got {channels}.")
        self.channels, self.heads, self.width = channels, heads, channels // heads
        self.dropout, self.attention_dropout = dropout, attention_dropout
        self.query = nn.Linear(channels, channels)
        self.key = nn.Linear(channels, channels, bias=False)
        self.value = nn.Linear(channels, channels, bias=False)
        self.pair = nn.Linear(channels, 2 * channels)
        self.score = nn.Parameter(torch.empty(self.width, heads, 1))
        self.pair_value = nn.Parameter(torch.empty(self.width, heads, self.width))
        self.degree_scale = nn.Parameter(torch.empty(1, channels, 2))
        self.node_out = nn.Linear(channels, channels)
        self.pair_out = nn.Linear(channels, channels) if update_pairs else None
        self.ffn = nn.Sequential(
            nn.Linear(channels, 2 * channels), nn.ReLU(), nn.Dropout(dropout), nn.Linear(2 * channels, channels)
        )
        self.norm, self.ffn_norm = nn.BatchNorm1d(channels), nn.BatchNorm1d(channels)
        self.pair_norm = nn.BatchNorm1d(channels) if update_pairs else None
        self._reset_own()

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)
        self._reset_own()

    def _reset_own(self) -> None:
        maps = (self.query.weight, self.key.weight, self.value.weight, self.pair.weight)
        for weight in (*maps, self.score, self.pair_value, self.degree_scale):
            nn.init.xavier_normal_(weight)

    def forward(self, x: Tensor, pairs: Tensor, pair_state: Tensor, log_degree: Tensor) -> tuple[Tensor, Tensor]:
        """Update nodes and pairs."""
        source, target = pairs
        raised = self.raise_pairs(x, pairs, pair_state)
        weight = F.dropout(self.weigh(raised, target, x.size(0)), self.attention_dropout, self.training).unsqueeze(2)
        split = raised.view(-1, self.heads, self.width)
        value = self.value(x).index_select(0, source).view_as(split)
        read = aggregate_sum(weight * torch.cat([value, split], dim=2), target, x.size(0))
        own, seen = torch.split(read, self.width, dim=2)
        out = (own + torch.einsum("nhc,chd->nhd", seen, self.pair_value)).flatten(1)
        out = F.dropout(out, self.dropout, self.training)
        scale, by_degree = self.degree_scale.unbind(dim=2)
        state = self.norm(x + self.node_out(out * scale + log_degree * out * by_degree))
        state = self.ffn_norm(state + F.dropout(self.ffn(state), self.dropout, self.training))
        if self.pair_out is None or self.pair_norm is None:
            return state, pair_state
        change = self.pair_out(F.dropout(raised, self.dropout, self.training))
        return state, self.pair_norm(pair_state + change)

    def raise_pairs(self, x: Tensor, pairs: Tensor, pair_state: Tensor) -> Tensor:
        r"""Return :math:`\hat e`, what pairs are when both of their nodes have been seen."""
        source, target = pairs
        factor, shift = torch.chunk(self.pair(pair_state), 2, dim=1)
        seen = (self.query(x).index_select(0, target) + self.key(x).index_select(0, source)) * factor
        root: Tensor = seen.sign() * seen.abs().clamp(min=TINY).sqrt()
        return (root + shift).relu()

    def rate(self, raised: Tensor) -> Tensor:
        """Return the logit of every pair and head."""
        split = raised.view(-1, self.heads, self.width)
        logit: Tensor = torch.einsum("phc,ch->ph", split, self.score.squeeze(2))
        return logit.clamp(-BOUND, BOUND)

    def weigh(self, raised: Tensor, target: Tensor, num_nodes: int) -> Tensor:
        """Return the weight of every pair and head: over the sources of a target they add up to one."""
        grown = self.rate(raised).exp()  # the bound keeps it from overflowing
        return grown / (aggregate_sum(grown, target, num_nodes) + 1e-16).index_select(0, target)

    def __repr__(self) -> str:
        return f"GRITLayer({self.channels}, heads={self.heads}, update_pairs={self.pair_out is not None})"
