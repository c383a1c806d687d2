"""A floor that sees no graph: every node by itself."""

from torch import Tensor, nn

from ghr.checks import check_whole
from ghr.models.inputs import MOST_LAYERS
from ghr.models.network import LayerInput, Network, check_dropout
from ghr.models.stack import drop_unread
from ghr.nn.activation import make_activation
from ghr.nn.encoder import Width
from ghr.nn.norm import make_norm
from ghr.nn.readout import Readout


class NodeMLP(Network):
    r"""An MLP on the features of every node, which reads no edges.

    .. math::
        h^{(0)} = W_n x, \qquad h^{(l)} = \mathrm{Drop}\big( \mathrm{act}( \mathrm{Norm}( W_l h^{(l-1)} + b_l ) ) \big),
        \qquad l = 1, \dots, L

    Whatever a model of graphs cannot do better, it has not learned from the graph. Only the readout puts nodes
    together; one on edges also reads their features.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`d` of the states.
        out_channels: Width of a prediction.
        layers: Number of layers :math:`L`.
        norm: ``None``, ``"batch"`` or ``"layer"``.
        dropout: Probability of dropping an entry, in ``[0, 1)``.
        act: As in :class:`~ghr.models.Stack`.
        edge_dim: Width of the edge features, for a readout on edges.
        readout: As in :class:`~ghr.GHR`.

    Shapes:
        - **input:** a (batch of) graphs with ``x`` of shape :math:`(N, \text{in\_channels})`
        - **output:** as of :class:`~ghr.GHR`
    """

    def __init__(
        self,
        in_channels: Width,
        hidden_channels: int,
        out_channels: int,
        *,
        layers: int = 3,
        norm: str | None = None,
        dropout: float = 0.0,
        act: str = "relu",
        edge_dim: Width | None = None,
        readout: str | Readout = "node",
    ) -> None:
        layers, dropout = check_whole("layers", layers, most=MOST_LAYERS), check_dropout(dropout)
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            edge_dim=drop_unread(edge_dim, readout),
            readout=readout,
            layers=layers,
            norm=norm,
            dropout=dropout,
            act=act,
        )
        self.layers = nn.ModuleList(
            nn.Sequential(
                nn.Linear(self.channels, self.channels),
                make_norm(norm, self.channels),
                make_activation(act),
                nn.Dropout(dropout),
            )
            for _ in range(layers)
        )

    def run(self, state: Tensor, graph: LayerInput) -> Tensor:
        """Return the states after the last layer."""
        for layer in self.layers:
            state = layer(state)
        return state
