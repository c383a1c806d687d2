"""A-DGN: an antisymmetric, non-dissipative update."""

import math

import torch
from torch import Tensor, nn

from ghr.nn.conv.base import Conv, Edges, weight_and_eps
from ghr.nn.conv.gcn import normalise, positive_weight_encoder, sort_for_kernels, weighted_sum
from ghr.ops.weighted import weighted_loop


class ADGN(Conv):
    r"""Moves the state along an antisymmetric field, so that it neither explodes nor fades.

    .. math::
        x_i' = \varepsilon \tanh\big( (W - W^\top - \gamma I)\, x_i + \Phi(X)_i + b \big), \qquad
        \Phi(X) = \tilde D^{-1/2} \tilde A \tilde D^{-1/2} X V

    The sum with the old state is the recurrence's own residual. Edge features enter as one learned positive weight.

    Args:
        channels: Width :math:`d` of the node states.
        edge_dim: ``1`` to weigh the edges, ``None`` for weight one.
        epsilon: Step size :math:`\varepsilon`.
        gamma: Diffusion :math:`\gamma`, at least zero.
    """

    def __init__(self, channels: int, edge_dim: int | None = None, *, epsilon: float = 0.1, gamma: float = 0.1) -> None:
        super().__init__(channels, edge_dim)
        self.epsilon = epsilon
        self.gamma = gamma
        self.weight = nn.Parameter(torch.empty(channels, channels))
        self.bias = nn.Parameter(torch.empty(channels))
        self.neighbour = nn.Linear(channels, channels, bias=False)
        self.reset_parameters()

    @staticmethod
    def edge_encoder(edge_dim: int, channels: int) -> tuple[nn.Module, int]:
        """Return the map from edge features to weights."""
        return positive_weight_encoder(edge_dim)

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        nn.init.zeros_(self.bias)
        nn.init.xavier_uniform_(self.neighbour.weight)

    def prepare(self, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int) -> Edges:
        """Normalise the weights."""
        weight = None if self.edge_dim is None else edge_attr
        return sort_for_kernels(normalise(edge_index, weight, num_nodes, self.weight.dtype), num_nodes)

    def propagate(self, x: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
        """Aggregate and update."""
        field = x @ (self.weight - self.weight.T).T - self.gamma * x
        out = field + self.neighbour(weighted_sum(x, edges)) + self.bias
        return self.epsilon * out.tanh(), edges

    def iterate(
        self, norm: nn.RMSNorm, state: Tensor, injection: Tensor, edges: Edges, updates: int
    ) -> tuple[Tensor, Edges]:
        """Update a state several times, in one fused operation where the kernels compute."""
        if edges.neighbours is None or edges.attr is None or self.epsilon == 0:
            return super().iterate(norm, state, injection, edges, updates)
        eye = torch.eye(self.channels, dtype=self.weight.dtype)
        state = weighted_loop(
            state,
            injection,
            weight_and_eps(norm),
            edges.attr.squeeze(1),
            edges.neighbours,
            self.weight - self.weight.T - self.gamma * eye,
            self.neighbour.weight,
            self.bias,
            rate=self.epsilon,
            updates=updates,
        )
        return state, edges
