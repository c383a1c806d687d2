"""What the recurrence hands a readout."""

from typing import NamedTuple

from torch import Tensor, nn

from ghr.nn.mlp import MLP


class ReadoutInput(NamedTuple):
    """The finest level, as a readout sees it.

    Attributes:
        state: Node states :math:`(N, d)`.
        batch: Graph of every node :math:`(N)`.
        num_graphs: Number of graphs.
        edge_index: Edges :math:`(2, E)`.
        edge_attr: Encoded edge features :math:`(E, D)`, or ``None``.
    """

    state: Tensor
    batch: Tensor
    num_graphs: int
    edge_index: Tensor
    edge_attr: Tensor | None


class Readout(nn.Module):
    """Maps the finest states to predictions with one linear layer, or two with a ReLU between.

    Args:
        in_channels: Width of the rows that the readout maps.
        hidden_channels: Width :math:`d` of the node states, and of the layer between.
        out_channels: Width :math:`C` of the predictions.
        layers: ``1`` or ``2``.
    """

    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int, layers: int) -> None:
        super().__init__()
        self.layers = layers
        self.out_channels = out_channels
        self.mlp = MLP(in_channels, hidden_channels, out_channels, layers)

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        self.mlp.reset_parameters()

    def rows(self, given: ReadoutInput) -> Tensor:
        """Return one row of features per prediction."""
        raise NotImplementedError

    def forward(self, given: ReadoutInput) -> Tensor:
        """Predict from the finest states."""
        return self.mlp(self.rows(given))  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(out_channels={self.out_channels}, layers={self.layers})"
