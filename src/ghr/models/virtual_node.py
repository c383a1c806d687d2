"""Stacks with virtual nodes: one more node per graph, which all its nodes write to and read from."""

from torch import Tensor

from ghr.checks import check_choice, check_flag, check_whole
from ghr.models.inputs import MOST_LAYERS
from ghr.models.network import LayerInput, Network, check_dropout
from ghr.models.stack import drop_unread
from ghr.nn.conv.bare import BARE_CONVS, WITH_HEADS, WITHOUT_EDGE_FEATURES, BareOptions
from ghr.nn.encoder import Width
from ghr.nn.layer import make_layers, prepare_layers
from ghr.nn.readout import Readout
from ghr.nn.virtual import AGGREGATIONS, LocalThenGlobal, VirtualState

CONVS = tuple(conv for conv in BARE_CONVS if conv not in (*WITH_HEADS, "pna"))
MODES = ("pre", "post")


class VirtualNode(Network):
    r"""A stack of message passing layers that also reads, in every layer, a summary of the whole graph.

    .. math::
        h^{(0)} = W_n x, \qquad u^{(l)} = \mathrm{Drop}\big( \mathrm{act}( \mathrm{Norm}( \mathrm{conv}_l(h^{(l-1)}, e)
        ) ) \big) \quad [\; + h^{(l-1)} \;]

    With ``mode="pre"``, the virtual node of OGB, the summary is that of the layer's input. It has a state :math:`v` of
    its own, zero at first, which is learned and added to :math:`h^{(0)}`:

    .. math::
        v^{(l)} = \mathrm{MLP}_l\big( \operatorname{mean}_{j \in G} h_j^{(l-1)} + v^{(l-1)} \big), \qquad
        h_i^{(l)} = u_i^{(l)} + v^{(l)}

    Of a node beyond the neighbourhood, a node learns as much as of any other. With ``mode="post"`` the summary is that
    of the layer's output, after Southern et al. ("VN_G"; written from secondary sources), so it depends on the graph
    how much that is:

    .. math::
        w_i = W_l u_i^{(l)} + c_l, \qquad h_i^{(l)} = w_i + \operatorname{mean}_{j \in G} w_j

    Every layer costs :math:`O(|E| + N)`, and two nodes of a graph are at most one layer apart.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`d` of the states.
        out_channels: Width of a prediction.
        layers: Number of layers :math:`L`.
        conv: ``"gcn"``, ``"gin"``, ``"gine"``, ``"gated_gcn"`` or ``"sage"``, as in :class:`~ghr.models.Stack`.
        mode: ``"pre"`` or ``"post"``.
        agg: ``"mean"`` or ``"sum"``, which OGB has, in place of the mean above.
        size_norm: Whether the summary of a graph of :math:`n` nodes is also divided by :math:`\sqrt n`.
        residual: Whether the state before a layer is added behind its message passing, and that of a virtual node
            behind its MLP.
        norm: As in :class:`~ghr.models.Stack`; the MLP has none, since a batch may be a single graph.
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
        layers: int = 5,
        conv: str = "gcn",
        mode: str = "pre",
        agg: str = "mean",
        size_norm: bool = False,
        residual: bool = False,
        norm: str | None = "batch",
        dropout: float = 0.0,
        act: str = "relu",
        edge_dim: Width | None = None,
        readout: str | Readout = "node",
    ) -> None:
        conv, layers = check_choice("conv", conv, CONVS), check_whole("layers", layers, most=MOST_LAYERS)
        mode, agg = check_choice("mode", mode, MODES), check_choice("agg", agg, AGGREGATIONS)
        size_norm, residual = check_flag("size_norm", size_norm), check_flag("residual", residual)
        dropout = check_dropout(dropout)
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            edge_dim=drop_unread(edge_dim, readout) if conv in WITHOUT_EDGE_FEATURES else edge_dim,
            readout=readout,
            layers=layers,
            conv=conv,
            mode=mode,
            agg=agg,
            size_norm=size_norm,
            residual=residual,
            norm=norm,
            dropout=dropout,
            act=act,
        )
        options = BareOptions(self.channels, self.edge_width)
        self.layers = make_layers(conv, options, layers, norm=norm, act=act, dropout=dropout, residual=residual)
        self.summary: VirtualState | LocalThenGlobal = (
            VirtualState(self.channels, layers, agg, size_norm, act=act, dropout=dropout, residual=residual)
            if mode == "pre"
            else LocalThenGlobal(self.channels, layers, agg, size_norm)
        )

    def run(self, state: Tensor, graph: LayerInput) -> Tensor:
        """Return the states after the last layer."""
        edges = prepare_layers(self.layers, graph.edge_index, graph.edge_attr, state.size(0))
        state, virtual = self.summary.start(state, graph.batch, graph.num_graphs)
        for number, layer in enumerate(self.layers):
            local, edges = layer(state, edges)
            state, virtual = self.summary(number, state, local, virtual, graph.batch)
        return state
