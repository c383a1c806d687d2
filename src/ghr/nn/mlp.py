"""The plain feed-forward block."""

from torch import nn


class MLP(nn.Sequential):
    r"""One or two linear layers with a ReLU between them.

    Args:
        in_channels: Width of the input.
        hidden_channels: Width between the layers.
        out_channels: Width of the output.
        layers: ``1`` for a linear map, ``2`` for linear, ReLU, linear.
    """

    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int, layers: int = 2) -> None:
        if layers == 1:
            super().__init__(nn.Linear(in_channels, out_channels))
        elif layers == 2:
            super().__init__(
                nn.Linear(in_channels, hidden_channels), nn.ReLU(), nn.Linear(hidden_channels, out_channels)
            )
        else:
            raise ValueError(f"An MLP here has one or two layers; got layers={layers!r}.")

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        for layer in self:
            if isinstance(layer, nn.Linear):
                layer.reset_parameters()
