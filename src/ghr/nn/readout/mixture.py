"""Predictions that are a mean of values, times a factor."""

import math

import torch
from torch import Tensor, nn

from ghr.nn.readout.base import Readout, ReadoutInput

ROWS = {"node": 1, "graph": 3, "edge": 3}  # values that a prediction is made of, for each channel


class MixtureReadout(Readout):
    r"""A weighted mean of the channels of values, times a factor, :math:`\hat y = s\, \mathrm{softmax}(\theta)^\top v`.

    There is no constant, so twice the values are twice the prediction, at any size. Weights that add up to one keep
    channels that went astray from cancelling each other. A graph is read by the largest, the mean and the smallest
    value of its nodes, an edge by its source, its target and the difference of both.

    Args:
        level: ``"node"``, ``"graph"`` or ``"edge"``.
        channels: Width :math:`m` of the values.
        out_channels: Width :math:`C` of the predictions.
        peak: Whether the largest of all channels, each times a learned factor, is one more of them:
            :math:`v_{m+1} = \max_c e^{p_c} v_c`.

    Shapes:
        - **output:** :math:`(N, C)`, :math:`(B, C)` or :math:`(E, C)`
    """

    def __init__(self, level: str, channels: int, out_channels: int, *, peak: bool = False) -> None:
        nn.Module.__init__(self)  # the layers of a Readout have constants
        self.layers, self.level, self.out_channels = 1, level, out_channels
        self.peak = nn.Parameter(torch.empty(channels)) if peak else None
        self.weight = nn.Parameter(torch.empty(out_channels, ROWS[level] * (channels + peak)))
        self.factor = nn.Parameter(torch.empty(out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset to the mean of all; the peak, if there is one, is half of it."""
        nn.init.zeros_(self.weight)
        nn.init.ones_(self.factor)
        if self.peak is not None:
            nn.init.zeros_(self.peak)
            channels = len(self.peak)
            with torch.no_grad():
                self.weight.view(self.out_channels, -1, channels + 1)[:, :, -1] = math.log(channels)

    def rows(self, given: ReadoutInput) -> Tensor:
        """Return the values that every prediction is made of."""
        values = given.values
        if values is None:
            raise ValueError("A MixtureReadout reads values; build the model with values='select' or values='sum'.")
        if self.peak is not None:
            values = torch.cat([values, (values * self.peak.exp()).amax(dim=1, keepdim=True)], dim=1)
        if self.level == "node":
            return values
        if self.level == "edge":
            source, target = (values.index_select(0, ends) for ends in given.edge_index)
            return torch.cat([source, target, (source - target).abs()], dim=1)
        index, shape = given.batch.unsqueeze(1).expand_as(values), (given.num_graphs, values.size(1))
        kinds = ("amax", "mean", "amin")
        return torch.cat(
            [values.new_zeros(shape).scatter_reduce(0, index, values, kind, include_self=False) for kind in kinds],
            dim=1,
        )

    def forward(self, given: ReadoutInput) -> Tensor:
        """Predict from the values."""
        return self.factor * (self.rows(given) @ self.weight.softmax(dim=1).t())
