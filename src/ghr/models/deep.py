"""The flat feed-forward baseline: distinct layers, one after the other."""

from typing import cast

from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.hierarchy.data import levels_of, num_graphs_of
from ghr.models.cell import EdgeEncoder, prepare_edges
from ghr.models.inputs import check_input, check_positive, reset_all
from ghr.models.state import LearnedState
from ghr.nn.conv import Conv, ConvLike, make_conv
from ghr.nn.readout import Readout, ReadoutInput, check_readout, make_readout


class DeepGNN(nn.Module):
    r"""A stack of distinct message passing layers on the graph alone, the baseline that GHR is compared with.

    .. math::
        h^{(0)} = h_0, \qquad h^{(l)} = h^{(l-1)} + \mathrm{MP}_{W_l}\big( \mathrm{RMSNorm}_l(h^{(l-1)}) + W_n x,\; e
        \big), \qquad l = 1, \dots, L

    Each layer has weights of its own, so the stack reaches exactly :math:`L` hops, in training and after.

    Args:
        in_channels: Width of the node features.
        hidden_channels: Width :math:`d` of the states.
        out_channels: Width of a prediction.
        layers: Number of layers :math:`L`.
        conv: Message passing, as in :class:`~ghr.GHR`.
        edge_dim: Width of the edge features; ``None`` if there are none or they shall not be used.
        readout: As in :class:`~ghr.GHR`.

    Shapes:
        - **input:** a (batch of) graphs with ``x`` of shape :math:`(N, \text{in\_channels})`
        - **output:** as of :class:`~ghr.GHR`
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        layers: int = 10,
        conv: ConvLike = "gine",
        edge_dim: int | None = None,
        readout: str | Readout = "node",
    ) -> None:
        super().__init__()
        sizes = {"in_channels": in_channels, "hidden_channels": hidden_channels, "out_channels": out_channels}
        for name, value in {**sizes, "layers": layers}.items():
            check_positive(name, value)
        self.in_channels = in_channels
        self.node_encoder = nn.Linear(in_channels, hidden_channels)
        self.edge_encoder = EdgeEncoder(conv, edge_dim, hidden_channels)
        width = self.edge_encoder.out_channels
        self.initial = LearnedState(hidden_channels)
        self.convs = nn.ModuleList(make_conv(conv, hidden_channels, width) for _ in range(layers))
        self.norms = nn.ModuleList(nn.RMSNorm(hidden_channels, eps=1e-6) for _ in range(layers))
        if isinstance(readout, str):
            readout = make_readout(readout, hidden_channels, out_channels, width)
        self.readout = check_readout(readout)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_all(self)

    def forward(self, data: Data) -> Tensor:
        """Return the prediction."""
        check_input(data, self.in_channels, self)
        level = levels_of(data)[0]
        x, edge_attr = self.node_encoder(data.x), self.edge_encoder(level, "The graph")
        state = self.initial(x, level.num_nodes)
        for layer, norm in zip(self.convs, self.norms, strict=True):
            conv = cast(Conv, layer)
            edges = prepare_edges(conv, level, edge_attr)
            state, _ = conv.iterate(cast(nn.RMSNorm, norm), state, x, edges, 1)
        given = ReadoutInput(state, level.batch, num_graphs_of(data), level.edge_index, edge_attr)
        return self.readout(given)  # type: ignore[no-any-return]

    def rollout(self, data: Data, steps: None = None) -> list[Tensor]:
        """Return the one prediction, in the form in which a recurrent model returns several."""
        return [self(data)]

    def __repr__(self) -> str:
        count = sum(parameter.numel() for parameter in self.parameters())
        return f"DeepGNN(layers={len(self.convs)}, conv={self.convs[0]!r}) with {count:,} parameters"
