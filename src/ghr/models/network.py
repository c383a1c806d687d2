"""What the baselines of fixed depth have in common: encoders in front, layers, and a readout behind."""

from typing import Any, NamedTuple

from torch import Tensor
from torch_geometric.data import Data

from ghr.checks import check_number
from ghr.hierarchy.data import levels_of, num_graphs_of
from ghr.models.base import GraphModel
from ghr.models.cell import EdgeEncoder
from ghr.models.inputs import check_channels, check_input
from ghr.nn.encoder import Width, make_encoder
from ghr.nn.readout import Readout, make_readout, readout_name


class LayerInput(NamedTuple):
    """A batch of graphs, as the layers of a network see it.

    Attributes:
        edge_index: Edges :math:`(2, E)`, source first.
        edge_attr: Encoded edge features :math:`(E, d)`, or ``None``.
        batch: Graph of every node :math:`(N)`.
        num_graphs: Number of graphs.
        data: The batch itself, for what a transform has added to it.
    """

    edge_index: Tensor
    edge_attr: Tensor | None
    batch: Tensor
    num_graphs: int
    data: Data


class Network(GraphModel):
    r"""A model that encodes nodes and edges, runs layers over them, and reads its prediction from the last states.

    .. math::
        h^{(0)} = W_n x, \qquad e = W_e e, \qquad h = \mathrm{layers}(h^{(0)}, e), \qquad \hat y = \mathrm{readout}(h)

    A subclass provides :meth:`run`, the layers.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`d` of the states.
        out_channels: Width of a prediction.
        edge_dim: Width of the edge features; ``None`` if there are none or they shall not be used.
        readout: As in :class:`~ghr.GHR`.
        state_channels: Width of the states that are read, where it is not :math:`d`.
        **own: The subclass's own options, which are kept in ``config`` beside these.

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
        edge_dim: Width | None,
        readout: str | Readout,
        state_channels: int | None = None,
        **own: Any,
    ) -> None:
        super().__init__()
        self.in_channels, self.channels, out_channels = check_channels(in_channels, hidden_channels, out_channels)
        self.node_encoder = make_encoder(self.in_channels, self.channels)
        self.edge_encoder = EdgeEncoder("gine", edge_dim, self.channels)
        width = self.edge_encoder.out_channels
        self.readout = make_readout(readout, state_channels or self.channels, out_channels, width)
        self.remember(
            in_channels=self.in_channels,
            hidden_channels=self.channels,
            out_channels=out_channels,
            edge_dim=self.edge_encoder.edge_dim,
            readout=readout_name(self.readout, width) or self.readout,
            **own,
        )

    @property
    def edge_width(self) -> int | None:
        """Width of the encoded edge features; ``None`` if there are none."""
        return self.edge_encoder.out_channels

    def run(self, state: Tensor, graph: LayerInput) -> Tensor:
        """Return the states after the last layer.

        Args:
            state: The encoded nodes :math:`(N, d)`.
            graph: The rest of the batch.
        """
        raise NotImplementedError

    def encode(self, data: Data) -> Tensor:
        """Return the states before the first layer."""
        return self.node_encoder(check_input(data, self.in_channels, self))  # type: ignore[no-any-return]

    def rollout(self, data: Data, **loops: Any) -> list[Tensor]:
        """Return the one prediction, in the form in which a recurrent model returns several."""
        self.check_loops(loops)
        state, graph = self.enter(data)
        return [self.read(data, self.run(state, graph), graph.edge_attr)]

    def enter(self, data: Data) -> tuple[Tensor, LayerInput]:
        """Return a batch as the first layer takes it."""
        state, level = self.encode(data), levels_of(data)[0]
        edge_attr = self.edge_encoder(level, "The graph")
        if edge_attr is not None:
            edge_attr = edge_attr.expand(level.edge_index.size(1), -1)
        return state, LayerInput(level.edge_index, edge_attr, level.batch, num_graphs_of(data), data)


def check_dropout(dropout: float) -> float:
    """Return a probability of dropping an entry, or raise a ValueError."""
    dropout = check_number("dropout", dropout, least=0)
    if dropout >= 1:
        raise ValueError(f"dropout must lie in [0, 1); got {dropout!r}.")
    return dropout
