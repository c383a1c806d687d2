"""Values that are chosen by what they arrive as, along edges that have a length."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ghr.nn.encoder import Width
from ghr.nn.values.select import CandidateEncoder, SelectCell


class CarryCell(SelectCell):
    r"""Lets every node take over values along edges whose lengths may differ by level.

    .. math::
        v_i \gets (1 - \rho_i) \odot \sum_j \alpha_{ij} \odot (v_j + \delta_{ij}), \qquad
        \delta_{ij} = e_{ij}\, \mathrm{softplus}(r), \qquad
        \alpha_{ij} = \mathrm{softmax}_j\, k\, \mathrm{MLP}(v_j + \delta_{ij} - v_i)

    A step is as large as the edge is long, and a candidate is judged by what would arrive. So what is learned on edges
    of one length is right on edges of any other, and the same weights serve all levels.

    Args:
        channels: Width :math:`m` of the values.
        hidden_channels: Width of the maps.
        in_channels: Width of the input.
    """

    def __init__(self, channels: int, hidden_channels: int, in_channels: Width) -> None:
        super().__init__(channels, hidden_channels, 1, in_channels)

    @staticmethod
    def encode_candidates(edge_dim: Width, hidden_channels: int, channels: int) -> CandidateEncoder:
        """Return what says how large a step is."""
        return Rate(hidden_channels, channels)

    def read_lengths(self, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return what is read at the choice beside differences of values, and the steps.

        Args:
            lengths: Of the edges :math:`(E, 1)`, or one row for all.
        """
        base, step = self.edges(lengths, lengths)
        return base + F.linear(step, self.difference.weight), step


class Rate(CandidateEncoder):
    """Says how large a step is for an edge that is one long, and what is added at the choice.

    Args:
        hidden_channels: Width of the maps.
        channels: Width of the values.
    """

    def __init__(self, hidden_channels: int, channels: int) -> None:
        nn.Module.__init__(self)  # no map of features
        self.edge_dim: Width = 1
        self.rate = nn.Parameter(torch.empty(channels))
        self.bias = nn.Parameter(torch.empty(hidden_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters."""
        nn.init.uniform_(self.rate, -1, 1)
        nn.init.uniform_(self.bias, -1, 1)

    def forward(self, features: Tensor | None, like: Tensor) -> tuple[Tensor, Tensor]:
        """Return what is added at the choice, one row for all, and the steps."""
        length = like.new_ones(1, 1) if features is None else features
        return self.bias.unsqueeze(0), length * F.softplus(self.rate)
