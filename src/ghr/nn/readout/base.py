"""What the recurrence hands a readout."""

from typing import NamedTuple

from torch import Tensor, nn

from ghr.checks import check_whole
from ghr.nn.encoder import MOST_WIDTH, check_map
from ghr.nn.mlp import MLP
from ghr.nn.shrink import shrink_parameters


class ReadoutInput(NamedTuple):
    """The finest level, as a readout sees it.

    Attributes:
        state: Node states :math:`(N, d)`.
        batch: Graph of every node :math:`(N)`.
        num_graphs: Number of graphs.
        edge_index: Edges :math:`(2, E)`.
        edge_attr: Encoded edge features :math:`(E, D)`, or ``None``.
        values: Values beside the state :math:`(N, m)`, of a model that has them.
        x: The input as it was given :math:`(N, D)`, for readouts of values.
    """

    state: Tensor
    batch: Tensor
    num_graphs: int
    edge_index: Tensor
    edge_attr: Tensor | None
    values: Tensor | None = None
    x: Tensor | None = None


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
        self.channels = check_whole("channels", hidden_channels, most=MOST_WIDTH)
        self.out_channels = check_whole("out_channels", out_channels, most=MOST_WIDTH)
        self.layers = check_whole("layers", layers, most=2)
        in_channels = check_whole("in_channels", in_channels)
        check_map("channels", in_channels, self.channels if self.layers == 2 else 1)
        check_map("out_channels", self.out_channels, self.channels)
        self.mlp = MLP(in_channels, self.channels, self.out_channels, self.layers)

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        self.mlp.reset_parameters()

    def shrink(self, factor: float) -> None:
        """Make predictions smaller by a factor, so that they start at a moderate size."""
        shrink_parameters(factor, self.mlp[-1])

    def rows(self, given: ReadoutInput) -> Tensor:
        """Return one row of features per prediction."""
        raise NotImplementedError

    def forward(self, given: ReadoutInput) -> Tensor:
        """Predict from the finest states."""
        return self.mlp(self.rows(given))  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(out_channels={self.out_channels}, layers={self.layers})"
