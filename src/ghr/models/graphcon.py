"""GraphCON: coupled, damped oscillators on the nodes."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ghr.checks import check_choice, check_number
from ghr.models.iterated import Iterated
from ghr.models.network import LayerInput, check_dropout
from ghr.nn.aggregation import Aggregation, make_aggregation
from ghr.nn.encoder import Width
from ghr.nn.readout import Readout

ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}


class GraphCON(Iterated):
    r"""Graph-coupled oscillators: a state :math:`X` with a velocity :math:`Y`, driven by one graph convolution.

    .. math::
        X = Y &= \sigma(W_n x) \\
        Y &\gets Y + \Delta t \big( \sigma( F(X, e) + R X - X W^\top ) - \alpha Y - \gamma X \big) \\
        X &\gets X + \Delta t\, Y

    with the convolution :math:`F(X, e)_i = \sum_j P_{ij} (W X_j + E\, e_{ji}) + b`,
    :math:`P = \tilde D^{-1/2} \tilde A \tilde D^{-1/2}`, and a map :math:`R` with a constant. The new velocity moves
    the state, so that without drive and damping :math:`Y^2 + \gamma X^2 - \Delta t\, \gamma X Y` is conserved. One set
    of weights serves all steps, so their number may be changed at inference. With all three constants at one, as the
    published code has them, the velocity drops out and :math:`X` is the drive.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`d` of the states.
        out_channels: Width of a prediction.
        layers: Number of steps.
        dt: Step size :math:`\Delta t`, above zero.
        alpha: Damping :math:`\alpha`, at least zero.
        stiffness: Squared frequency :math:`\gamma`, at least zero.
        activation: :math:`\sigma`, ``"relu"`` or ``"tanh"``.
        dropout: Probability of dropping an entry of :math:`X` and :math:`Y` after a step, in ``[0, 1)``.
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
        dt: float = 1.0,
        alpha: float = 1.0,
        stiffness: float = 1.0,
        activation: str = "relu",
        dropout: float = 0.0,
        edge_dim: Width | None = None,
        readout: str | Readout = "node",
    ) -> None:
        dt = check_number("dt", dt, above=0)
        alpha, stiffness = check_number("alpha", alpha, least=0), check_number("stiffness", stiffness, least=0)
        dropout = check_dropout(dropout)
        check_choice("activation", activation, ACTIVATIONS)
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            layers=layers,
            edge_dim=edge_dim,
            readout=readout,
            dt=dt,
            alpha=alpha,
            stiffness=stiffness,
            activation=activation,
            dropout=dropout,
        )
        self.dt, self.alpha, self.stiffness, self.dropout = dt, alpha, stiffness, dropout
        self.activation = ACTIVATIONS[activation]
        self.conv = nn.Linear(self.channels, self.channels)
        self.residual = nn.Linear(self.channels, self.channels)
        self.edge = None if self.edge_width is None else nn.Linear(self.edge_width, self.channels, bias=False)

    def step(
        self, state: Tensor, velocity: Tensor, aggregation: Aggregation, edge_sum: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Return state and velocity after a step; `edge_sum` is what the edge features add."""
        mapped = state @ self.conv.weight.T
        drive = aggregation(mapped) + self.conv.bias + self.residual(state) - mapped
        if edge_sum is not None:
            drive = drive + edge_sum
        velocity = velocity + self.dt * (self.activation(drive) - self.alpha * velocity - self.stiffness * state)
        state = state + self.dt * velocity
        return F.dropout(state, self.dropout, self.training), F.dropout(velocity, self.dropout, self.training)

    def iterate(self, state: Tensor, graph: LayerInput, layers: int) -> Tensor:
        """Return the states after a number of steps."""
        aggregation = make_aggregation("gcn", graph.edge_index, state.size(0), state.dtype)
        edge_sum = None
        if self.edge is not None and graph.edge_attr is not None:
            edge_sum = self.edge(aggregation.sum_features(graph.edge_attr))
        state = velocity = self.activation(state)
        for _ in range(layers):
            state, velocity = self.step(state, velocity, aggregation, edge_sum)
        return state
