"""The min-plus extension with one part replaced, to see what that part is for."""

import inspect
from typing import Any, Literal, TypeAlias, get_args

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.utils import degree, softmax

from ghr.checks import check_choice
from ghr.datasets.task import Task
from ghr.models import MinPlusGHR, State
from ghr.models.min_plus import MinPlusEncoded
from ghr.models.settle import Steps
from ghr.ops import aggregate_sum, min_plus

Aggregate: TypeAlias = Literal["min", "soft min", "mean", "sum"]


class TrialGHR(MinPlusGHR):
    r"""A flat :class:`~ghr.MinPlusGHR` for trials: with all options at their defaults it is the same.

    The soft minimum of messages :math:`m_j` is :math:`\sum_j \mathrm{softmax}_j(-\beta m_j)\, m_j`. Its sharpness
    :math:`\beta = e^{5 b}` is learned for every channel, from 1, where a message smaller by one weighs :math:`e` times
    as much.

    Args:
        in_channels: As in :class:`~ghr.MinPlusGHR`; so are the others that are not explained here.
        hidden_channels: Width of all states.
        out_channels: Width of a prediction.
        aggregate: What takes the place of the minimum over neighbours.
        norm: Whether messages are made of states after an RMS norm.
        mixing: At what part of PyTorch's usual size the mixing weights start.
        steps: Number of global steps.
        t_low: Updates in each of them.
        edge_dim: Width of edge features from which the lengths are learned.
    """

    def __init__(
        self,
        in_channels: int = 1,
        hidden_channels: int = 8,
        out_channels: int = 1,
        *,
        aggregate: Aggregate = "min",
        norm: bool = False,
        mixing: float = 0.3,
        steps: int = 2,
        t_low: int = 6,
        edge_dim: int | None = None,
    ) -> None:
        check_choice("aggregate", aggregate, get_args(Aggregate))
        super().__init__(
            in_channels, hidden_channels, out_channels, levels=1, steps=steps, t_low=t_low, edge_dim=edge_dim
        )
        self.aggregate = aggregate
        self.mixing = mixing
        self.norm = nn.RMSNorm(hidden_channels, eps=1e-6) if norm else None
        self.sharpness = nn.Parameter(torch.zeros(hidden_channels)) if aggregate == "soft min" else None
        self._scale_mixing()
        self.remember(
            in_channels=in_channels,
            hidden_channels=hidden_channels,
            out_channels=out_channels,
            aggregate=aggregate,
            norm=norm,
            mixing=mixing,
            steps=steps,
            t_low=t_low,
            edge_dim=edge_dim,
        )

    @classmethod
    def for_data(cls, example: Any, task: Task, **options: Any) -> "TrialGHR":
        """Build a model; all graphs of the study have one mark, and options say where edges have two features."""
        return cls(**options)

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        super().reset_parameters()
        self._scale_mixing()
        if self.sharpness is not None:
            nn.init.zeros_(self.sharpness)

    def _scale_mixing(self) -> None:
        with torch.no_grad():
            for mix in (self.cell.mix_in, self.cell.mix_out):
                mix.weight.mul_(self.mixing / 0.3)

    def _advance(self, encoded: MinPlusEncoded, state: State, updates: tuple[int, ...], *, own: bool = False) -> State:
        level, cap, x = encoded.levels[0], encoded.caps[0], state.low
        length = level.edge_attr if self.length is None else self.length(level.edge_attr)
        cost, first = self.cell.cost(length.squeeze(1)), cap.expand(-1, self.cell.channels)
        for _ in range(updates[0]):
            x = self.cell(self.arrive(x, level.edge_index, cost, first), cap, encoded.injection)
        return State((x,))

    def arrive(self, x: Tensor, edge_index: Tensor, cost: Tensor, first: Tensor) -> Tensor:
        """Return what arrives at every node, nowhere more than `first`.

        Args:
            x: States of the nodes.
            edge_index: Edges.
            cost: What every edge adds.
            first: What is there where nothing arrives.
        """
        x = x if self.norm is None else self.norm(x)
        if self.aggregate == "min":
            return min_plus(x, cost, edge_index, first)
        source, target = edge_index
        messages, count = x.index_select(0, source) + cost, degree(target, x.size(0)).unsqueeze(1)
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
    both with one row per node. Arguments as in :class:`TrialGHR`.
    """

    def __init__(
        self, in_channels: int = 1, hidden_channels: int = 8, out_channels: int = 1, *, steps: int = 2, t_low: int = 6
    ) -> None:
        super().__init__(in_channels, hidden_channels, out_channels, steps=steps, t_low=t_low)
        self.config = {name: self.config[name] for name in inspect.signature(WithinBudget).parameters}
        self.steepness = nn.Parameter(torch.tensor(0.2))

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        super().reset_parameters()
        nn.init.constant_(self.steepness, 0.2)

    def forward(self, data: Data, *, steps: Steps | None = None, t_low: int | None = None) -> Tensor:
        """Return the prediction after the last step."""
        return self.rollout(data, steps, t_low=t_low)[-1]

    def rollout(self, data: Data, steps: Steps | None = None, *, t_low: int | None = None) -> list[Tensor]:
        """Return the predictions after every step."""
        return [self._answer(distance, data) for distance in super().rollout(data, steps, t_low=t_low)]

    def _answer(self, distance: Tensor, data: Data) -> Tensor:
        return torch.sigmoid((5 * self.steepness).exp() * (data.budget - distance) / data.scale)
