"""The fixed-depth baseline with attention: local message passing beside attention over the whole graph."""

from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GPSConv

from ghr.checks import check_number, check_whole
from ghr.hierarchy.data import at_hand, levels_of, num_graphs_of
from ghr.memory import check_memory
from ghr.models.base import GraphModel
from ghr.models.cell import EdgeEncoder
from ghr.models.inputs import MOST_LAYERS, check_channels, check_input
from ghr.nn.conv import ConvLike, make_conv
from ghr.nn.encoder import Width, make_encoder
from ghr.nn.readout import Readout, make_readout, readout_name
from ghr.nn.reset import reset_children


class GPS(GraphModel):
    r"""A stack of GPS layers: message passing and multi-head attention over all nodes of a graph, side by side.

    .. math::
        h^{(0)} = W_n x, \qquad h^{(l)} = h^{(l-1)} + \mathrm{GPSConv}_l\big( \mathrm{RMSNorm}_l(h^{(l-1)}),\; e
        \big), \qquad l = 1, \dots, L

    where, with batch norms :math:`\mathrm{N}_1, \mathrm{N}_2, \mathrm{N}_3`,

    .. math::
        y = \mathrm{N}_1\big(z + \mathrm{MP}(z, e)\big) + \mathrm{N}_2\big(z + \mathrm{MHA}(z)\big), \qquad
        \mathrm{GPSConv}(z, e) = \mathrm{N}_3\big( y + \mathrm{MLP}(y) \big).

    Attention sees every node of the same graph and none of another, so distance is no limit to what a node may read;
    it costs memory in the square of the size of a graph.

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
    ) -> None:
        super().__init__()
        self.in_channels, hidden_channels, out_channels = check_channels(in_channels, hidden_channels, out_channels)
        layers, heads = check_whole("layers", layers, most=MOST_LAYERS), check_whole("heads", heads)
        dropout = check_number("dropout", dropout, least=0)
        if hidden_channels % heads:
            raise ValueError(f"hidden_channels must be a multiple of heads={heads}; got {hidden_channels}.")
        if dropout >= 1:
            raise ValueError(f"dropout must lie in [0, 1); got {dropout!r}.")
        self.node_encoder = make_encoder(self.in_channels, hidden_channels)
        self.edge_encoder = EdgeEncoder(conv, edge_dim, hidden_channels)
        width = self.edge_encoder.out_channels
        convs = [make_conv(conv, hidden_channels, width) for _ in range(layers)]
        self.one_row_for_all_edges = convs[0].one_row_for_all_edges
        self.layers = nn.ModuleList(
            GPSConv(hidden_channels, cast(Any, layer), heads=heads, dropout=dropout) for layer in convs
        )
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
        )

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)
        for layer in self.layers:
            attention = cast(GPSConv, layer).attn
            attention.out_proj.reset_parameters()  # the attention's own way of starting leaves this weight as it is
            attention._reset_parameters()

    def rollout(self, data: Data, **loops: Any) -> list[Tensor]:
        """Return the one prediction, in the form in which a recurrent model returns several."""
        self.check_loops(loops)
        x = check_input(data, self.in_channels, self)
        level = levels_of(data)[0]
        edge_attr = self.edge_encoder(level, "The graph")
        rows = edge_attr
        if edge_attr is not None and not self.one_row_for_all_edges:
            rows = edge_attr.expand(level.edge_index.size(1), -1)
        self._check_batch(level.batch, num_graphs_of(data), x)
        state = self.node_encoder(x)
        for layer, norm in zip(self.layers, self.norms, strict=True):
            state = state + layer(norm(state), level.edge_index, level.batch, edge_attr=rows)
        return [self.read(data, state, edge_attr)]

    def _check_batch(self, batch: Tensor, num_graphs: int, x: Tensor) -> None:
        """Say it before the attention over all pairs of nodes mixes graphs or runs out of memory."""
        if self.training and batch.numel() == 1:
            raise ValueError(
                "GPS has batch norms, which cannot be trained on a single node; give it more in one batch."
            )
        if not at_hand(batch):
            return
        if bool((batch.diff() < 0).any()):
            raise ValueError(
                "GPS needs the nodes of a graph side by side, but batch is not sorted; sort the nodes by it."
            )
        largest = int(torch.bincount(batch, minlength=1).max())
        pairs = num_graphs * cast(GPSConv, self.layers[0]).heads * largest**2
        copies = 2 * len(self.layers) if torch.is_grad_enabled() else 2  # weights and scores, kept for the gradient
        check_memory(
            f"Attention over all pairs of {largest:,} nodes in {num_graphs} graphs",
            copies * pairs * x.element_size(),
            "take smaller batches or graphs, or a model without attention",
        )
