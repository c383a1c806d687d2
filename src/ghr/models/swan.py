"""SWAN: a differential equation on the nodes that is non-dissipative for the graph as a whole."""

import torch
from torch import Tensor, nn

from ghr.checks import check_choice, check_number
from ghr.models.iterated import Iterated
from ghr.models.network import LayerInput
from ghr.nn.aggregation import Aggregation, count_degree, make_aggregation, make_undirected
from ghr.nn.antisymmetric import AntisymmetricLinear, TriangularLinear
from ghr.nn.encoder import Width
from ghr.nn.readout import Readout

OPERATORS = ("antisymmetric", "bounded-gcn", "bounded-naive")


def make_space_operators(edge_index: Tensor, num_nodes: int, dtype: torch.dtype) -> tuple[Aggregation, Aggregation]:
    r"""Return the symmetric :math:`D^{-1/2} A D^{-1/2}` and the antisymmetric :math:`D^{-1} A - (D^{-1} A)^\top`.

    Both are of the undirected graph without self loops. An entry of the second is :math:`1 / d_i - 1 / d_j` for
    neighbours :math:`i` and :math:`j`.
    """
    both = make_undirected(edge_index, num_nodes)
    inverse = 1 / count_degree(both, num_nodes, dtype)
    here, there = inverse.index_select(0, both[1]), inverse.index_select(0, both[0])
    source, target = edge_index
    given = (inverse.index_select(0, source) * inverse.index_select(0, target)).sqrt()
    given = given.masked_fill((source == target).unsqueeze(1), 0)
    return (
        Aggregation(both, (here * there).sqrt(), edge_index, given, num_nodes),
        Aggregation(both, here - there, edge_index, given, num_nodes),
    )


class SWAN(Iterated):
    r"""A space-weight antisymmetric network: the state of the whole graph neither explodes nor fades.

    .. math::
        h_i \gets h_i + \varepsilon \tanh\big( (W - W^\top - \gamma I)\, h_i + \Phi(h, e)_i + \beta \Psi(h)_i + b \big)

    where, with :math:`V = -V^\top` and :math:`Z = Z^\top`,

    .. math::
        \Phi(h, e)_i = \sum_j \hat A_{ij} \big( V h_j + E\, e_{ji} \big), \quad \hat A = D^{-1/2} A D^{-1/2}, \qquad
        \Psi(h)_i = \sum_j (\bar A - \bar A^\top)_{ij}\, Z h_j, \quad \bar A = D^{-1} A.

    So the Jacobian of the whole graph has imaginary eigenvalues at :math:`\gamma = 0`, and a negative real part above.
    That needs an undirected graph: all sums over neighbours are over both directions of every edge, each once, without
    self loops. Features of an edge count in the direction in which it is given. The published code computes another
    space operator, which is not antisymmetric and depends on the order of the edges; here it is the published
    equation. The variant with learned edge weights is not implemented.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`d` of the states.
        out_channels: Width of a prediction.
        layers: Number of updates.
        epsilon: Step size :math:`\varepsilon`, above zero.
        diffusion: Diffusion :math:`\gamma`, at least zero.
        beta: Weight :math:`\beta` of the space operator; at zero there is none.
        operator: ``"antisymmetric"`` as above; or a :math:`\Phi` with free :math:`V`, whose growth is only bounded:
            ``"bounded-gcn"`` with the normalised sum with self loops, ``"bounded-naive"`` with the plain sum.
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
        beta: float = 1.0,
        operator: str = "antisymmetric",
        edge_dim: Width | None = None,
        readout: str | Readout = "node",
    ) -> None:
        epsilon, diffusion = check_number("epsilon", epsilon, above=0), check_number("diffusion", diffusion, least=0)
        beta = check_number("beta", beta)
        check_choice("operator", operator, OPERATORS)
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            layers=layers,
            edge_dim=edge_dim,
            readout=readout,
            epsilon=epsilon,
            diffusion=diffusion,
            beta=beta,
            operator=operator,
        )
        self.epsilon, self.beta, self.operator = epsilon, beta, operator
        self.field = AntisymmetricLinear(self.channels, diffusion)
        antisymmetric = operator == "antisymmetric"
        self.neighbour: nn.Module = (
            TriangularLinear(self.channels, -1)
            if antisymmetric
            else nn.Linear(self.channels, self.channels, bias=False)
        )
        self.space = TriangularLinear(self.channels, 1) if beta != 0 else None
        self.edge = None if self.edge_width is None else nn.Linear(self.edge_width, self.channels, bias=False)

    def velocity(self, state: Tensor, phi: Aggregation, psi: Aggregation, edge_sum: Tensor | None) -> Tensor:
        """Return how the states move; `edge_sum` is what the edge features add."""
        drive: Tensor = self.field(state) + self.neighbour(phi(state))
        if self.space is not None:
            drive = drive + self.beta * self.space(psi(state))
        if edge_sum is not None:
            drive = drive + edge_sum
        return drive.tanh()

    def operators(self, edge_index: Tensor, num_nodes: int, dtype: torch.dtype) -> tuple[Aggregation, Aggregation]:
        r"""Return the sums over neighbours in :math:`\Phi` and :math:`\Psi`."""
        phi, psi = make_space_operators(edge_index, num_nodes, dtype)
        if self.operator != "antisymmetric":
            name = self.operator.removeprefix("bounded-")
            phi = make_aggregation(name, edge_index, num_nodes, dtype, undirected=True)
        return phi, psi

    def iterate(self, state: Tensor, graph: LayerInput, layers: int) -> Tensor:
        """Return the states after a number of updates."""
        phi, psi = self.operators(graph.edge_index, state.size(0), state.dtype)
        edge_sum = None
        if self.edge is not None and graph.edge_attr is not None:
            edge_sum = self.edge(phi.sum_features(graph.edge_attr))
        for _ in range(layers):
            state = state + self.epsilon * self.velocity(state, phi, psi, edge_sum)
        return state
