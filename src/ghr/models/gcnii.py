"""GCNII: graph convolutions that keep the input and stay close to the identity, so that they can be many."""

from collections.abc import Callable
from typing import cast

from torch import Tensor, nn
from torch_geometric.nn import GCN2Conv

from ghr.checks import check_flag, check_number, check_whole
from ghr.models.inputs import MOST_LAYERS
from ghr.models.network import LayerInput, Network, check_dropout
from ghr.nn.activation import make_activation
from ghr.nn.conv.gcn import normalise, positive_weight_encoder
from ghr.nn.encoder import Width
from ghr.nn.readout import Readout


class GCNII(Network):
    r"""A deep stack of graph convolutions with initial residual and identity map.

    .. math::
        h^{(l)} = \mathrm{Drop}\Big( \mathrm{act}\Big( \big( (1 - \alpha) P h^{(l-1)} + \alpha h^{(0)} \big)
        \big( (1 - \beta_l) I + \beta_l W_l \big) \Big) \Big), \qquad
        \beta_l = \log\Big( \frac{\theta}{l} + 1 \Big), \qquad l = 1, \dots, L

    with :math:`P = \tilde D^{-1/2} \tilde A \tilde D^{-1/2}`, :math:`\tilde A = A + I`, and :math:`h^{(0)} = W_n x`.
    Without the identity map :math:`\beta_l = 1`, as several published comparisons have it. Edge features enter as one
    learned positive weight per edge, the same in all layers.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`d` of the states.
        out_channels: Width of a prediction.
        layers: Number of layers :math:`L`.
        alpha: Share :math:`\alpha` of the input, in ``[0, 1]``.
        theta: How fast the maps turn into the identity, :math:`\theta > 0`.
        identity_map: Whether they do so at all.
        dropout: Probability of dropping an entry, in ``[0, 1)``.
        act: As in :class:`~ghr.models.Stack`.
        edge_dim: Width of the edge features; ``None`` if there are none or they shall not be used.
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
        layers: int = 16,
        alpha: float = 0.1,
        theta: float = 0.5,
        identity_map: bool = True,
        dropout: float = 0.0,
        act: str = "relu",
        edge_dim: Width | None = None,
        readout: str | Readout = "node",
    ) -> None:
        layers, identity_map = check_whole("layers", layers, most=MOST_LAYERS), check_flag("identity_map", identity_map)
        alpha, theta = check_number("alpha", alpha, least=0, most=1), check_number("theta", theta, above=0)
        dropout = check_dropout(dropout)
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            edge_dim=edge_dim,
            readout=readout,
            layers=layers,
            alpha=alpha,
            theta=theta,
            identity_map=identity_map,
            dropout=dropout,
            act=act,
        )
        self.weigh = None if self.edge_width is None else positive_weight_encoder(self.edge_width)[0]
        make = cast(Callable[..., nn.Module], GCN2Conv)  # it looks abstract to a type checker
        maps = [{"theta": theta, "layer": number} if identity_map else {} for number in range(1, layers + 1)]
        self.layers = nn.ModuleList(make(self.channels, alpha, normalize=False, **options) for options in maps)
        self.act, self.dropout = make_activation(act), nn.Dropout(dropout)

    def run(self, state: Tensor, graph: LayerInput) -> Tensor:
        """Return the states after the last layer."""
        weight = None if self.weigh is None else self.weigh(graph.edge_attr)
        edges = normalise(graph.edge_index, weight, state.size(0), state.dtype)
        initial = state
        for layer in self.layers:
            state = self.dropout(self.act(layer(state, initial, edges.edge_index, edges.attr)))
        return state
