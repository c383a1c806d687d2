"""What virtual nodes do beside the message passing of every layer."""

from typing import cast

import torch
from torch import Tensor, nn

from ghr.nn.activation import make_activation
from ghr.nn.reset import reset_children
from ghr.ops import Pool, aggregate_sum, pool, unpool

AGGREGATIONS: dict[str, Pool] = {"mean": "mean", "sum": "sum"}


class Summary(nn.Module):
    r"""The mean or the sum of the nodes of every graph.

    .. math::
        s_g = \operatorname{mean}_{i \in g} x_i \quad \big[\; / \sqrt{|g|} \;\big]

    Args:
        agg: ``"mean"`` or ``"sum"``.
        size_norm: Whether it is divided by the root of the number of nodes.

    Shapes:
        - **x:** :math:`(N, d)`
        - **output:** :math:`(B, d)`
    """

    def __init__(self, agg: str, size_norm: bool) -> None:
        super().__init__()
        self.agg, self.size_norm = agg, size_norm

    def forward(self, x: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
        """Summarise every graph of a batch."""
        total = pool(x, batch, num_graphs, AGGREGATIONS[self.agg])
        if not self.size_norm:
            return total
        return total * aggregate_sum(x.new_ones(x.size(0), 1), batch, num_graphs).clamp(min=1).rsqrt()

    def __repr__(self) -> str:
        return f"Summary({self.agg!r}, size_norm={self.size_norm})"


class VirtualState(nn.Module):
    r"""A virtual node that pools the input of every layer into a state of its own.

    .. math::
        v' = \mathrm{Drop}\big( \mathrm{MLP}( s(h) + v ) \big) \quad [\; + v \;], \qquad h_i' = u_i + v'

    Args:
        channels: Width :math:`d`.
        layers: Number of layers, each with an MLP of its own.
        agg: ``"mean"`` or ``"sum"``.
        size_norm: As in :class:`Summary`.
        act: Activation behind both maps of the MLP.
        dropout: Probability of dropping an entry.
        residual: Whether the state before is added.

    Shapes:
        - **before, local:** :math:`(N, d)`, the input :math:`h` and the output :math:`u` of the message passing
        - **virtual:** :math:`(B, d)`
    """

    def __init__(
        self, channels: int, layers: int, agg: str, size_norm: bool, *, act: str, dropout: float, residual: bool
    ) -> None:
        super().__init__()
        self.initial = nn.Parameter(torch.zeros(channels))
        self.summarise, self.residual = Summary(agg, size_norm), residual
        self.maps = nn.ModuleList(
            nn.Sequential(
                nn.Linear(channels, channels),
                make_activation(act),
                nn.Linear(channels, channels),
                make_activation(act),
                nn.Dropout(dropout),
            )
            for _ in range(layers)
        )

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)
        nn.init.zeros_(self.initial)

    def start(self, state: Tensor, batch: Tensor, num_graphs: int) -> tuple[Tensor, Tensor]:
        """Return the states of nodes and virtual nodes before the first layer."""
        return state + self.initial, self.initial.expand(num_graphs, -1)

    def forward(
        self, number: int, before: Tensor, local: Tensor, virtual: Tensor, batch: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the states of nodes and virtual nodes behind a layer."""
        new = self.maps[number](self.summarise(before, batch, virtual.size(0)) + virtual)
        virtual = virtual + new if self.residual else new
        return local + unpool(virtual, batch), virtual

    def __repr__(self) -> str:
        return f"VirtualState({self.summarise!r}, layers={len(self.maps)}, residual={self.residual})"


class LocalThenGlobal(nn.Module):
    r"""A virtual node that pools the output of every layer, and has no state of its own.

    .. math::
        w_i = W u_i + c, \qquad h_i' = w_i + s(w)

    Args:
        channels: Width :math:`d`.
        layers: Number of layers, each with a map of its own.
        agg: ``"mean"`` or ``"sum"``.
        size_norm: As in :class:`Summary`.

    Shapes:
        - **local:** :math:`(N, d)`, the output :math:`u` of the message passing
    """

    def __init__(self, channels: int, layers: int, agg: str, size_norm: bool) -> None:
        super().__init__()
        self.summarise = Summary(agg, size_norm)
        self.maps = nn.ModuleList(nn.Linear(channels, channels) for _ in range(layers))

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)

    def start(self, state: Tensor, batch: Tensor, num_graphs: int) -> tuple[Tensor, Tensor]:
        """Return the states of nodes and of the summaries before the first layer."""
        return state, state.new_zeros(num_graphs, state.size(1))

    def forward(
        self, number: int, before: Tensor, local: Tensor, virtual: Tensor, batch: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the states of nodes and of the summaries behind a layer."""
        mapped = cast(Tensor, self.maps[number](local))
        virtual = self.summarise(mapped, batch, virtual.size(0))
        return mapped + unpool(virtual, batch), virtual

    def __repr__(self) -> str:
        return f"LocalThenGlobal({self.summarise!r}, layers={len(self.maps)})"
