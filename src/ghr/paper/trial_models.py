"""The min-plus extension with one part replaced, to see what that part is for."""

from typing import Any, Literal, TypeAlias, get_args

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.utils import degree, softmax

from ghr.hierarchy.data import Level
from ghr.models import MinPlusGHR
from ghr.models.settle import Steps
from ghr.nn.conv import Edges
from ghr.ops import aggregate_sum

Aggregate: TypeAlias = Literal["min", "soft min", "mean", "sum"]


class TrialGHR(MinPlusGHR):
    r"""A flat :class:`~ghr.MinPlusGHR` for trials: with all options at their defaults it is the same.

    The soft minimum of messages :math:`m_j` is :math:`\sum_j \mathrm{softmax}_j(-\beta m_j)\, m_j`. Its sharpness
    :math:`\beta = e^{5 b}` is learned for every channel, from 1, where a message smaller by one weighs :math:`e` times
    as much.

    Args:
        aggregate: What takes the place of the minimum over neighbours.
        norm: Whether messages are made of states after an RMS norm.
        mixing: At what part of PyTorch's usual size the mixing weights start.
        **options: Those of :class:`~ghr.MinPlusGHR` except ``levels``.
    """

    def __init__(
        self, *, aggregate: Aggregate = "min", norm: bool = False, mixing: float = 0.3, **options: Any
    ) -> None:
        if aggregate not in get_args(Aggregate):
            raise ValueError(f"aggregate must be one of {', '.join(get_args(Aggregate))}; got {aggregate!r}.")
        super().__init__(levels=1, **options)
        channels = self.cell.channels
        self.aggregate = aggregate
        self.mixing = mixing
        self.norm = nn.RMSNorm(channels, eps=1e-6) if norm else None
        self.sharpness = nn.Parameter(torch.zeros(channels)) if aggregate == "soft min" else None
        self._scale_mixing()
        del self.config["levels"]
        self.config |= {"aggregate": aggregate, "norm": norm, "mixing": mixing}

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        super().reset_parameters()
        self._scale_mixing()
        if self.sharpness is not None:
            nn.init.zeros_(self.sharpness)

    def _scale_mixing(self) -> None:
        with torch.no_grad():
            for mix in (self.cell.mix_in, self.cell.mix_out):
                mix.weight.mul_(self.mixing / 0.3)

    def _edges(self, level: Level, length: Tensor) -> Edges:
        return Edges(level.edge_index, self.cell.cost(length))  # in the order given, which the kernels do without

    def _arrive(self, x: Tensor, edges: Edges, first: Tensor) -> Tensor:
        x = x if self.norm is None else self.norm(x)
        if self.aggregate == "min":
            return super()._arrive(x, edges, first)
        assert edges.attr is not None
        source, target = edges.edge_index
        messages, count = x.index_select(0, source) + edges.attr, degree(target, x.size(0)).unsqueeze(1)
        if self.sharpness is not None:
            messages = messages * softmax(-(5 * self.sharpness).exp() * messages, target, num_nodes=x.size(0))
        arrived = aggregate_sum(messages, target, x.size(0))
        if self.aggregate == "mean":
            arrived = arrived / count.clamp(min=1)
        return torch.minimum(torch.where(count > 0, arrived, first), first)


class WithinBudget(TrialGHR):
    r"""Says of every node whether it is reached within a budget.

    .. math::
        \hat y_i = \sigma\big( e^{5 k} (B - R\, h_i) / \bar e \big)

    The budget :math:`B` is ``data.budget`` and :math:`\bar e`, the mean length of an edge in its graph, ``data.scale``,
    both with one row per node.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.steepness = nn.Parameter(torch.tensor(0.2))

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        super().reset_parameters()
        nn.init.constant_(self.steepness, 0.2)

    def forward(self, data: Data, *, steps: Steps | None = None, **counts: Any) -> Tensor:
        """Return the prediction after the last step."""
        return self.rollout(data, steps, **counts)[-1]

    def rollout(self, data: Data, steps: Steps | None = None, **counts: Any) -> list[Tensor]:
        """Return the predictions after every step."""
        return [self._answer(distance, data) for distance in super().rollout(data, steps, **counts)]

    def _answer(self, distance: Tensor, data: Data) -> Tensor:
        return torch.sigmoid((5 * self.steepness).exp() * (data.budget - distance) / data.scale)
