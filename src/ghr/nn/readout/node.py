"""Predictions for nodes."""

from torch import Tensor

from ghr.nn.readout.base import Readout, ReadoutInput


class NodeReadout(Readout):
    r"""One prediction per node, :math:`\hat y_i = W h_i + b`.

    Args:
        channels: Width :math:`d` of the node states.
        out_channels: Width :math:`C` of the predictions.
        layers: ``1`` for a linear map, ``2`` for an MLP.

    Shapes:
        - **output:** :math:`(N, C)`
    """

    def __init__(self, channels: int, out_channels: int, *, layers: int = 1) -> None:
        super().__init__(channels, channels, out_channels, layers)

    def rows(self, given: ReadoutInput) -> Tensor:
        """Return the node states."""
        return given.state
