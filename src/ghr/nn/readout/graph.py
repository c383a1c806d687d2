"""Predictions for whole graphs."""

import torch
from torch import Tensor

from ghr.checks import check_whole
from ghr.nn.readout.base import Readout, ReadoutInput
from ghr.ops import pool


class GraphReadout(Readout):
    r"""One prediction per graph from the maximum, mean and sum of its node states.

    .. math::
        \hat y_g = W \big[ \max_{i \in g} h_i \,\|\, \operatorname{mean}_{i \in g} h_i \,\|\,
        {\textstyle \sum_{i \in g}} h_i \big] + b

    Args:
        channels: Width :math:`d` of the node states.
        out_channels: Width :math:`C` of the predictions.
        layers: ``1`` for a linear map, ``2`` for an MLP.

    Shapes:
        - **output:** :math:`(B, C)` for :math:`B` graphs
    """

    summed = 0.02  # what multiplies the weights of sums at a scaled start: all nodes of a graph enter them

    def __init__(self, channels: int, out_channels: int, *, layers: int = 1) -> None:
        super().__init__(3 * check_whole("channels", channels), channels, out_channels, layers)

    @torch.no_grad()
    def shrink(self, factor: float) -> None:
        """Make predictions smaller by a factor, and what sums add to them by another."""
        super().shrink(factor)
        self.mlp[0].weight[:, 2 * self.channels :] *= self.summed  # type: ignore[index, operator]

    def rows(self, given: ReadoutInput) -> Tensor:
        """Return the three reductions side by side."""
        return torch.cat([pool(given.state, given.batch, given.num_graphs, how) for how in ("max", "mean", "sum")], 1)
