"""Predictions that are proportional to the states."""

import torch
from torch import Tensor, nn

from ghr.checks import check_whole
from ghr.nn.encoder import MOST_WIDTH, check_map
from ghr.nn.readout.base import Readout, ReadoutInput


class ProportionalReadout(Readout):
    r"""One prediction per node without a constant, :math:`\hat y_i = R\, h_i`.

    Twice the state is twice the prediction, at any magnitude. The weights start around :math:`1 / d`, so that a
    prediction starts as a mean of the state's channels.

    Args:
        channels: Width :math:`d` of the node states.
        out_channels: Width :math:`C` of the predictions.

    Shapes:
        - **output:** :math:`(N, C)`
    """

    def __init__(self, channels: int, out_channels: int) -> None:
        nn.Module.__init__(self)  # the two layers of a Readout have constants
        self.layers = 1
        self.channels = check_whole("channels", channels, most=MOST_WIDTH)
        self.out_channels = check_whole("out_channels", out_channels, most=MOST_WIDTH)
        check_map("out_channels", self.out_channels, self.channels)
        self.weight = nn.Parameter(torch.empty(self.out_channels, self.channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the weights."""
        nn.init.uniform_(self.weight, 0.5 / self.weight.size(1), 1.5 / self.weight.size(1))

    def rows(self, given: ReadoutInput) -> Tensor:
        """Return the node states."""
        return given.state

    def forward(self, given: ReadoutInput) -> Tensor:
        """Predict from the finest states."""
        return self.rows(given) @ self.weight.t()
