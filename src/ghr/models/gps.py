"""The fixed-depth baseline with attention: local message passing beside attention over the whole graph."""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.data import Data
from torch_geometric.nn import BatchNorm
from torch_geometric.transforms import BaseTransform

from ghr.checks import check_whole
from ghr.hierarchy.data import num_graphs_of
from ghr.models.base import GraphModel
from ghr.models.cell import EdgeEncoder
from ghr.models.inputs import MOST_LAYERS, check_channels, read_input
from ghr.models.network import check_dropout
from ghr.nn.attention import GraphAttention, check_attention, graph_starts
from ghr.nn.conv import Conv, ConvLike, make_conv
from ghr.nn.encoder import Width, make_encoder
from ghr.nn.encodings import make_encoding
from ghr.nn.readout import Readout, make_readout, readout_name
from ghr.nn.reset import reset_children


class GPSLayer(nn.Module):
    r"""Message passing and attention side by side, then an MLP, each with a residual and a batch norm.

    .. math::
        y = \mathrm{N}_1\big(x + \mathrm{MP}(x, e)\big) + \mathrm{N}_2\big(x + \mathrm{MHA}(x)\big), \qquad
        x' = \mathrm{N}_3\big( y + \mathrm{MLP}(y) \big)

    The weights have the names that they have in PyG's ``GPSConv``, which computes the same.

    Args:
        conv: Message passing.
        heads: Heads of the attention.
        dropout: Probability of dropping an entry, after message passing and attention, and inside the MLP.

    Shapes:
        - **x, output:** :math:`(N, d)`
    """

    def __init__(self, conv: Conv, channels: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.channels, self.dropout = channels, dropout
        self.conv = conv
        self.attn = GraphAttention(channels, heads)
        self.mlp = nn.Sequential(
            nn.Linear(channels, 2 * channels),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(2 * channels, channels),
            nn.Dropout(dropout),
        )
        self.norm1, self.norm2, self.norm3 = (BatchNorm(channels) for _ in range(3))

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None, start: Tensor) -> Tensor:
        """Update the nodes; `start` is where the nodes of every graph start."""
        local = self.norm1(x + F.dropout(self.conv(x, edge_index, edge_attr), self.dropout, self.training))
        y = local + self.norm2(x + F.dropout(self.attn(x, start), self.dropout, self.training))
        return self.norm3(y + self.mlp(y))  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"GPSLayer({self.conv!r}, heads={self.attn.num_heads}, dropout={self.dropout})"


class GPS(GraphModel):
    r"""A stack of GPS layers: message passing and multi-head attention over all nodes of a graph, side by side.

    .. math::
        h^{(0)} = W_n x \,\|\, p, \qquad h^{(l)} = h^{(l-1)} + \mathrm{GPSConv}_l\big(
        \mathrm{RMSNorm}_l(h^{(l-1)}),\; e \big), \qquad l = 1, \dots, L

    where, with batch norms :math:`\mathrm{N}_1, \mathrm{N}_2, \mathrm{N}_3`,

    .. math::
        y = \mathrm{N}_1\big(z + \mathrm{MP}(z, e)\big) + \mathrm{N}_2\big(z + \mathrm{MHA}(z)\big), \qquad
        \mathrm{GPSConv}(z, e) = \mathrm{N}_3\big( y + \mathrm{MLP}(y) \big).

    Attention sees every node of the same graph and none of another, so distance is no limit to what a node may read;
    it costs time in the square of the size of a graph, and off the CPU memory too. Without an ``encoding`` there is no
    :math:`p`; with one, :math:`p` has a quarter of the channels and tells where a node stands in its graph.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`d` of the states; a multiple of ``heads``.
        out_channels: Width of a prediction.
        layers: Number of layers :math:`L`.
        heads: Heads of the attention.
        dropout: Probability of dropping an entry after message passing, attention and inside the MLP, in ``[0, 1)``.
        conv: Message passing, as in :class:`~ghr.GHR`; edge states, as ``"gated_gcn"`` has, start again in every layer.
        edge_dim: Width of the edge features; ``None`` if there are none or they shall not be used.
        readout: As in :class:`~ghr.GHR`.
        encoding: ``"rwse"`` for the return probabilities of random walks
            (:class:`~ghr.nn.encodings.WalkEncoder`), ``"laplacian"`` for eigenvectors of the Laplacian
            (:class:`~ghr.nn.encodings.LaplacianEncoder`); ``None`` for neither. Graphs get them from :attr:`transform`.

    Shapes:
        - **input:** a (batch of) graphs with ``x`` of shape :math:`(N, \text{in\_channels})`
        - **output:** as of :class:`~ghr.GHR`
    """

    layer_lists: ClassVar[tuple[str, ...]] = ("layers", "norms")

    def __init__(
        self,
        in_channels: Width,
        hidden_channels: int,
        out_channels: int,
        *,
        layers: int = 10,
        heads: int = 4,
        dropout: float = 0.3,
        conv: ConvLike = "gine",
        edge_dim: Width | None = None,
        readout: str | Readout = "node",
        encoding: str | None = None,
    ) -> None:
        super().__init__()
        self.in_channels, hidden_channels, out_channels = check_channels(in_channels, hidden_channels, out_channels)
        layers, heads = check_whole("layers", layers, most=MOST_LAYERS), check_whole("heads", heads)
        dropout = check_dropout(dropout)
        self.encoding = make_encoding(encoding, hidden_channels)
        own = 0 if self.encoding is None else self.encoding.out_channels
        self.node_encoder = make_encoder(self.in_channels, hidden_channels - own)
        self.edge_encoder = EdgeEncoder(conv, edge_dim, hidden_channels)
        width = self.edge_encoder.out_channels
        convs = [make_conv(conv, hidden_channels, width) for _ in range(layers)]
        self.one_row_for_all_edges = convs[0].one_row_for_all_edges
        self.layers = nn.ModuleList(GPSLayer(layer, hidden_channels, heads, dropout) for layer in convs)
        self.norms = nn.ModuleList(nn.RMSNorm(hidden_channels, eps=1e-6) for _ in range(layers))
        self.readout = make_readout(readout, hidden_channels, out_channels, width)
        self.remember(
            in_channels=self.in_channels,
            hidden_channels=hidden_channels,
            out_channels=out_channels,
            layers=layers,
            heads=heads,
            dropout=dropout,
            conv=conv,
            edge_dim=self.edge_encoder.edge_dim,
            readout=readout_name(self.readout, width) or self.readout,
            encoding=encoding,
        )

    @classmethod
    def width_multiple(cls, options: Mapping[str, Any]) -> int:
        """Return the number of heads."""
        return check_whole("heads", options.get("heads", 4))

    @property
    def transform(self) -> BaseTransform | None:
        """What adds the encoding to a graph; ``None`` without one."""
        return None if self.encoding is None else self.encoding.transform

    def rollout(self, data: Data, **loops: Any) -> list[Tensor]:
        """Return the one prediction, in the form in which a recurrent model returns several."""
        self.check_loops(loops)
        x, (level, *_) = read_input(data, self.in_channels, self)
        edge_attr = self.edge_encoder(level, "The graph")
        rows = edge_attr
        if edge_attr is not None and not self.one_row_for_all_edges:
            rows = edge_attr.expand(level.edge_index.size(1), -1)
        if self.training and level.num_nodes == 1:
            raise ValueError(
                "GPS has batch norms, which cannot be trained on a single node; give it more in one batch."
            )
        start = graph_starts(level.batch, num_graphs_of(data), "GPS")
        first = cast(GPSLayer, self.layers[0])
        check_attention(start, first.attn.in_proj_weight, first.attn.num_heads, len(self.layers))
        state = self.node_encoder(x)
        if self.encoding is not None:
            state = torch.cat([state, self.encoding(data, level.batch)], dim=1)
        for layer, norm in zip(self.layers, self.norms, strict=True):
            state = state + layer(norm(state), level.edge_index, rows, start)
        return [self.read(data, state, edge_attr)]
