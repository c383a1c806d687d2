"""Values that are distances from nodes which are chosen anew in every global step."""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ghr.nn.encoder import Width
from ghr.nn.values.select import CandidateEncoder, SelectCell

SOFT = 3.0  # how sharp a choice is at the start, where values differ by one step
STEEP = 20.0  # what is learned as one of the scores of nodes; soft gates leave no value its size


class SweepCell(SelectCell):
    r"""Lets every channel choose a node of the graph, from which its values then grow, step by step.

    .. math::
        v_i \gets (1 - \rho_i) \odot \sum_j \alpha_{ij} \odot (v_j + \delta_{ij}), \qquad
        \rho_i = \exp\big( k (s_i - \max_{l \in G} s_l) \big)

    The nodes of a graph compete for being where a channel starts: the one of the highest score :math:`s` has
    :math:`\rho = 1`, so that its value is zero. Scores read the input, and how far the values that the last global step
    arrived at are from the largest :math:`\bar v` and the smallest of the graph,

    .. math::
        s_i = \mathrm{MLP}\big( x_i, \tanh(v_i - \bar v), \tanh(v_i - \min_l v_l) \big) + f \odot \tanh(v_i - \bar v),

    with :math:`f` learned, and one at the start: **a global step starts from the node that the last one found farthest,
    until training finds better**. Two or three such sweeps find the ends of a tree, and the largest of all channels is
    then how far the farthest node is.

    A channel chooses among neighbours by its own values alone, measured in steps, which all channels share,

    .. math::
        \alpha_{ij} = \mathrm{softmax}_j\, k \big( a\, \mathrm{ReLU}(d_{ij}) - b\, \mathrm{ReLU}(-d_{ij})
        + \mathrm{MLP}(e_{ij}) \big), \qquad d_{ij} = (v_j - v_i) / \bar\delta,

    with :math:`a` and :math:`b` learned. They start at a negative value: the nearer a neighbour is to where the channel
    started, the more it counts, so that **values are soft distances from the first step of training on**, as those of
    min-plus are. What has to be learned is from where, and what to make of them. There is no control.

    Args:
        channels: Width :math:`m` of the values.
        hidden_channels: Width of the maps.
        edge_dim: Width of the edge features; ``0`` without any.
        in_channels: Width of the input, which only the finest level has.
        members: Whether nodes also choose from the level below.
        cluster: Whether nodes also choose from the level above.
    """

    def __init__(
        self,
        channels: int,
        hidden_channels: int,
        edge_dim: Width,
        in_channels: Width | None,
        *,
        members: bool = False,
        cluster: bool = False,
    ) -> None:
        super().__init__(channels, hidden_channels, edge_dim, in_channels, members=members, cluster=cluster)
        del self.difference
        self.slopes = nn.Parameter(torch.empty(2, channels))
        self.gate_graph = None
        if self.has_gate:
            self.gate_graph = nn.Linear(2 * channels, hidden_channels)
            self.gate = nn.Linear(hidden_channels, channels, bias=False)  # nodes compete: a constant changes nothing
            self.farthest = nn.Parameter(torch.empty(channels))
        self.reset_parameters()

    @staticmethod
    def encode_candidates(edge_dim: Width, hidden_channels: int, channels: int) -> CandidateEncoder:
        """Return what reads the features of candidates."""
        return SweepEncoder(edge_dim, hidden_channels, channels)

    def reset_parameters(self) -> None:
        """Reset all parameters; the choice starts as a soft minimum, the next sweep at the farthest node."""
        super().reset_parameters()
        if "slopes" in self._parameters:  # not yet while the base class is built
            nn.init.constant_(self.slopes, -SOFT)
        if "farthest" in self._parameters:
            nn.init.ones_(self.farthest)

    def maps(self) -> tuple[Tensor, Tensor]:
        """Return the map of differences, in steps and by their sign, and that of the choice, as sharp as it is now."""
        one = torch.eye(self.channels, dtype=self.slopes.dtype, device=self.slopes.device)
        apart = one / cast(SweepEncoder, self.edges).unit()
        nothing = apart.new_zeros(self.choice.in_features, self.channels)
        above, below = self.slopes
        choice = torch.cat([one * above, -one * below, self.choice.weight], dim=1)
        return torch.cat([apart, -apart, nothing]), self.sharpness * choice

    def read_values(self, given: Tensor, value: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
        """Return the scores of nodes, as far as they are below the best of their graph; once per global step."""
        if self.gate_graph is None:
            return given
        apart = _from_extremes(value, batch, num_graphs)
        hidden = given + self.gate_graph(apart)
        score = STEEP * (self.gate(hidden.relu()) + self.farthest * apart[:, : self.channels])
        return score - _best(score, batch, num_graphs, "amax")  # type: ignore[no-any-return]

    def open(self, given: Tensor | None, control: Tensor | None) -> Tensor | None:
        r"""Return what values are multiplied by, :math:`1 - \rho`; ``None`` without a gate."""
        return None if given is None else -torch.expm1(self.sharpness * given)


class SweepEncoder(CandidateEncoder):
    """Says what the features of candidates mean for the choice, and the step, the same for all channels.

    Args:
        edge_dim: Width of the features, or the sizes of columns of codes; ``0`` without any.
        hidden_channels: Width of the maps.
        channels: Width of the values.
    """

    def __init__(self, edge_dim: Width, hidden_channels: int, channels: int) -> None:
        super().__init__(edge_dim, hidden_channels, 1)
        self.channels = channels

    def unit(self) -> Tensor:
        """Return the step of features that are all zero, or that of all edges where they have none; without gradient.

        It only says in which unit differences are read, so that the slopes of the choice need not follow the steps.
        """
        like = next(self.parameters())
        if not self.edge_dim:
            rows = like.new_ones(1, 1)
        elif isinstance(self.edge_dim, int):
            rows = like.new_zeros(1, self.edge_dim)
        else:
            rows = torch.zeros(1, len(self.edge_dim), dtype=torch.long, device=like.device)
        return F.softplus(self.step(rows)).detach()

    def forward(self, features: Tensor | None, like: Tensor) -> tuple[Tensor, Tensor]:
        """Return what is read at the choice, behind the places of the differences of values, and the steps."""
        base, step = super().forward(features, like)
        return F.pad(base, (2 * self.channels, 0)), step.expand(-1, self.channels)


def _from_extremes(value: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
    """Return how far values are from the largest and the smallest of their graph, bounded: :math:`(N, 2m)`."""
    return torch.cat([torch.tanh(value - _best(value, batch, num_graphs, kind)) for kind in ("amax", "amin")], dim=1)


def _best(value: Tensor, batch: Tensor, num_graphs: int, kind: str) -> Tensor:
    """Return for every node the largest or the smallest value of its graph."""
    index, shape = batch.unsqueeze(1).expand_as(value), (num_graphs, value.size(1))
    return value.new_zeros(shape).scatter_reduce(0, index, value, kind, include_self=False).index_select(0, batch)
