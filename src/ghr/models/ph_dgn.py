"""PH-DGN: a Hamiltonian system on the nodes, with ports through which it loses energy and is driven."""

from typing import NamedTuple

import torch
from torch import Tensor

from ghr.checks import check_choice, check_number, check_whole
from ghr.models.iterated import Iterated
from ghr.models.network import LayerInput
from ghr.nn.aggregation import AGGREGATIONS, Aggregation, make_aggregation
from ghr.nn.encoder import Width
from ghr.nn.energy import GraphEnergy
from ghr.nn.ports import DAMPINGS, FORCINGS
from ghr.nn.readout import Readout

FINAL = ("p", "q", "pq")


class Neighbourhood(NamedTuple):
    """What a step needs to know of a graph.

    Attributes:
        momentum: The sum over neighbours in the energy of the momentum.
        position: That in the energy of the position.
        ports: That of damping and forcing.
        momentum_edges: The edge features summed like the momentum; ``None`` without any.
        position_edges: Those summed like the position.
    """

    momentum: Aggregation
    position: Aggregation
    ports: Aggregation
    momentum_edges: Tensor | None
    position_edges: Tensor | None


class PHDGN(Iterated):
    r"""A port-Hamiltonian network: momentum and position of every node keep their energy, unless ports change it.

    .. math::
        q &\gets q + \varepsilon\, \nabla E_p(p) \\
        p &\gets p - \varepsilon\, \nabla E_q(q) - \varepsilon \alpha\, D(q) \odot \nabla E_p(p)
        + \varepsilon \beta\, F(q, t)

    from :math:`p = q = W_n x` at the time :math:`t = 0`, each line with the new :math:`q` and the old :math:`p`.
    :math:`E_p` and :math:`E_q` are two :class:`~ghr.nn.energy.GraphEnergy`, :math:`D` and :math:`F` the ports of
    :mod:`ghr.nn.ports`. Without ports a step is symplectic.

    The gradients are exact for symmetric sums, so all sums over neighbours are over both directions of every edge, each
    once, without self loops. Features of an edge count in the direction in which it is given. One set of weights serves
    all steps, so their number may be changed at inference.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`h` of :math:`p` and of :math:`q`.
        out_channels: Width of a prediction.
        layers: Number of steps.
        epsilon: Step size :math:`\varepsilon`, at least zero.
        damping: :math:`D`: ``"param"``, ``"param+"``, ``"mlp"``, ``"graph"``, or ``None`` for none.
        forcing: :math:`F`: ``"mlp"``, ``"graph"``, or ``None`` for none.
        alpha: Weight :math:`\alpha` of the damping.
        beta: Weight :math:`\beta` of the forcing.
        p_aggregation: The sum over neighbours in :math:`E_p`, ``"naive"`` or ``"gcn"``.
        q_aggregation: That in :math:`E_q`.
        final: What is read in the end: ``"p"``, ``"q"``, or ``"pq"`` for both.
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
        damping: str | None = "param+",
        forcing: str | None = "graph",
        alpha: float = 1.0,
        beta: float = 1.0,
        p_aggregation: str = "naive",
        q_aggregation: str = "gcn",
        final: str = "p",
        edge_dim: Width | None = None,
        readout: str | Readout = "node",
    ) -> None:
        epsilon = check_number("epsilon", epsilon, least=0)
        alpha, beta = check_number("alpha", alpha), check_number("beta", beta)
        check_choice("damping", damping, (None, *DAMPINGS))
        check_choice("forcing", forcing, (None, *FORCINGS))
        check_choice("p_aggregation", p_aggregation, AGGREGATIONS)
        check_choice("q_aggregation", q_aggregation, AGGREGATIONS)
        check_choice("final", final, FINAL)
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            layers=layers,
            edge_dim=edge_dim,
            readout=readout,
            state_channels=2 * check_whole("hidden_channels", hidden_channels) if final == "pq" else None,
            epsilon=epsilon,
            damping=damping,
            forcing=forcing,
            alpha=alpha,
            beta=beta,
            p_aggregation=p_aggregation,
            q_aggregation=q_aggregation,
            final=final,
        )
        self.epsilon, self.alpha, self.beta, self.final = epsilon, alpha, beta, final
        self.p_aggregation, self.q_aggregation = p_aggregation, q_aggregation
        self.p_energy = GraphEnergy(self.channels, self.edge_width)
        self.q_energy = GraphEnergy(self.channels, self.edge_width)
        self.damping = None if damping is None else DAMPINGS[damping](self.channels)
        self.forcing = None if forcing is None else FORCINGS[forcing](self.channels)

    def neighbourhood(self, graph: LayerInput, num_nodes: int, dtype: torch.dtype) -> Neighbourhood:
        """Return all sums over neighbours of a graph."""
        momentum, position, ports = (
            make_aggregation(name, graph.edge_index, num_nodes, dtype, undirected=True)
            for name in (self.p_aggregation, self.q_aggregation, "naive")
        )
        if graph.edge_attr is None:
            return Neighbourhood(momentum, position, ports, None, None)
        sums = momentum.sum_features(graph.edge_attr), position.sum_features(graph.edge_attr)
        return Neighbourhood(momentum, position, ports, *sums)

    def energy(self, p: Tensor, q: Tensor, around: Neighbourhood) -> Tensor:
        """Return the energy of a state."""
        kinetic: Tensor = self.p_energy(p, around.momentum, around.momentum_edges)
        potential: Tensor = self.q_energy(q, around.position, around.position_edges)
        return kinetic + potential

    def step(self, p: Tensor, q: Tensor, time: float, around: Neighbourhood) -> tuple[Tensor, Tensor]:
        """Return momentum and position after a step."""
        velocity = self.p_energy.gradient(p, around.momentum, around.momentum_edges)
        q = q + self.epsilon * velocity
        change = -self.q_energy.gradient(q, around.position, around.position_edges)
        if self.damping is not None:
            change = change - self.alpha * self.damping(q, around.ports) * velocity
        if self.forcing is not None:
            change = change + self.beta * self.forcing(q, time, around.ports)
        return p + self.epsilon * change, q

    def iterate(self, state: Tensor, graph: LayerInput, layers: int) -> Tensor:
        """Return the states that are read after a number of steps."""
        around = self.neighbourhood(graph, state.size(0), state.dtype)
        p = q = state
        for layer in range(layers):
            p, q = self.step(p, q, self.epsilon * layer, around)
        return {"p": p, "q": q}[self.final] if self.final != "pq" else torch.cat([p, q], dim=1)
