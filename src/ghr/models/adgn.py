"""A-DGN: a stable, non-dissipative differential equation on the nodes, in steps of Euler's method."""

from typing import cast

from torch import Tensor, nn

from ghr.checks import check_choice, check_flag, check_number
from ghr.models.iterated import Iterated
from ghr.models.network import LayerInput
from ghr.nn.aggregation import AGGREGATIONS, Aggregation, make_aggregation
from ghr.nn.antisymmetric import AntisymmetricLinear
from ghr.nn.encoder import Width
from ghr.nn.readout import Readout


class ADGNCell(nn.Module):
    r"""The right hand side of A-DGN, :math:`\tanh\big( (W - W^\top - \gamma I)\, x_i + \Phi(x, e)_i + b \big)`.

    Args:
        channels: Width :math:`d` of the states.
        edge_dim: Width of the encoded edge features; ``None`` without any.
        diffusion: Diffusion :math:`\gamma`.
    """

    def __init__(self, channels: int, edge_dim: int | None, diffusion: float) -> None:
        super().__init__()
        self.field = AntisymmetricLinear(channels, diffusion)
        self.neighbour = nn.Linear(channels, channels, bias=False)
        self.edge = None if edge_dim is None else nn.Linear(edge_dim, channels, bias=False)

    def forward(self, x: Tensor, aggregation: Aggregation, edge_sum: Tensor | None) -> Tensor:
        """Return how the states move; `edge_sum` are the summed edge features."""
        drive: Tensor = self.field(x) + self.neighbour(aggregation(x))
        if self.edge is not None and edge_sum is not None:
            drive = drive + self.edge(edge_sum)
        return drive.tanh()


class ADGN(Iterated):
    r"""An antisymmetric deep graph network: states neither explode nor fade, however many updates there are.

    .. math::
        h_i \gets h_i + \varepsilon \tanh\big( (W - W^\top - \gamma I)\, h_i + \Phi(h, e)_i + b \big), \qquad
        \Phi(h, e)_i = \sum_j a_{ij} \big( V h_j + E\, e_{ji} \big)

    With neighbours held fixed, the Jacobian of an update has no eigenvalue with a positive real part; nothing is said
    of the graph as a whole. One set of weights serves all updates, so their number may be changed at inference.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`d` of the states.
        out_channels: Width of a prediction.
        layers: Number of updates.
        epsilon: Step size :math:`\varepsilon`, above zero.
        diffusion: Diffusion :math:`\gamma`, at least zero.
        aggregation: ``"naive"`` for a sum over the incoming edges, ``"gcn"`` for the normalised sum with self loops.
        shared: Whether all updates have the same weights; if not, their number is fixed.
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
        layers: int = 20,
        epsilon: float = 0.1,
        diffusion: float = 0.1,
        aggregation: str = "naive",
        shared: bool = True,
        edge_dim: Width | None = None,
        readout: str | Readout = "node",
    ) -> None:
        epsilon, diffusion = check_number("epsilon", epsilon, above=0), check_number("diffusion", diffusion, least=0)
        check_choice("aggregation", aggregation, AGGREGATIONS)
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            layers=layers,
            edge_dim=edge_dim,
            readout=readout,
            epsilon=epsilon,
            diffusion=diffusion,
            aggregation=aggregation,
            shared=check_flag("shared", shared),
        )
        self.epsilon, self.aggregation, self.shared = epsilon, aggregation, shared
        count = 1 if shared else self.layers
        self.cells = nn.ModuleList(ADGNCell(self.channels, self.edge_width, diffusion) for _ in range(count))

    @property
    def loops(self) -> tuple[str, ...]:
        """``layers``, where all updates have the same weights."""
        return ("layers",) if self.shared else ()

    def iterate(self, state: Tensor, graph: LayerInput, layers: int) -> Tensor:
        """Return the states after a number of updates."""
        aggregation = make_aggregation(self.aggregation, graph.edge_index, state.size(0), state.dtype)
        edge_sum = None if graph.edge_attr is None else aggregation.sum_features(graph.edge_attr)
        for layer in range(layers):
            cell = cast(ADGNCell, self.cells[0 if self.shared else layer])
            state = state + self.epsilon * cell(state, aggregation, edge_sum)
        return state
