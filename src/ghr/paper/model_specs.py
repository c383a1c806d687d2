"""The models of experiments as values: one class each, which builds it."""

from dataclasses import asdict, dataclass
from typing import TypeAlias

from torch import nn

from ghr.models import GHR, GPS, DeepGNN, MinPlusGHR
from ghr.ops import Pool
from ghr.paper.trial_models import Aggregate, TrialGHR, WithinBudget


@dataclass(frozen=True)
class GHRSpec:
    """GHR as the paper builds it for shortest paths.

    Args:
        conv: Message passing.
        hidden_channels: Width of the states.
        steps: Global steps in training.
        t_high: Updates of the coarse level per step.
        t_low: Updates of the graph after each of these.
        pool: How clusters read their members.
    """

    conv: str = "gated_gine"
    hidden_channels: int = 32
    steps: int = 4
    t_high: int = 2
    t_low: int = 2
    pool: Pool = "max"

    def build(self, edge_dim: int, coarse_edge_dim: int) -> nn.Module:
        """Return a new model."""
        return GHR(1, out_channels=1, edge_dim=edge_dim, coarse_edge_dim=coarse_edge_dim, **asdict(self))


@dataclass(frozen=True)
class DeepSpec:
    """The flat baseline with distinct layers.

    Args:
        conv: Message passing.
        hidden_channels: Width of the states.
        layers: Number of layers.
        steps: Global steps in training; ``None`` for a feed-forward stack.
    """

    conv: str = "gine"
    hidden_channels: int = 32
    layers: int = 10
    steps: int | None = None

    def build(self, edge_dim: int, coarse_edge_dim: int) -> nn.Module:
        """Return a new model."""
        return DeepGNN(1, out_channels=1, edge_dim=edge_dim, **asdict(self))


@dataclass(frozen=True)
class RecurrentSpec:
    """The flat baseline with one layer for all iterations, which is GHR without its coarse level.

    Args:
        conv: Message passing.
        hidden_channels: Width of the states.
        steps: Global steps in training; train with ``jitter=False`` where a single step is to stay one.
        t_low: Iterations per step.
    """

    conv: str = "gine"
    hidden_channels: int = 32
    steps: int = 1
    t_low: int = 20

    def build(self, edge_dim: int, coarse_edge_dim: int) -> nn.Module:
        """Return a new model."""
        return GHR(1, out_channels=1, levels=1, edge_dim=edge_dim, **asdict(self))


@dataclass(frozen=True)
class GPSSpec:
    """The fixed-depth baseline with attention.

    Args:
        conv: Message passing beside the attention.
        hidden_channels: Width of the states.
        layers: Number of layers.
        heads: Heads of the attention.
        dropout: Probability of dropping an entry.
    """

    conv: str = "gine"
    hidden_channels: int = 32
    layers: int = 10
    heads: int = 4
    dropout: float = 0.3

    def build(self, edge_dim: int, coarse_edge_dim: int) -> nn.Module:
        """Return a new model."""
        return GPS(1, out_channels=1, edge_dim=edge_dim, **asdict(self))


@dataclass(frozen=True)
class MinPlusSpec:
    """The extension with min-plus message passing, which is not in the paper.

    The loss counts every global step, so one of them should reach as far as training goes.

    Args:
        hidden_channels: Width of the states.
        levels: ``1`` for a flat recurrence, ``2`` for one with a coarse level.
        steps: Global steps in training.
        t_high: Updates of the coarse level per step.
        t_low: Updates of the graph after each of these.
    """

    hidden_channels: int = 8
    levels: int = 2
    steps: int = 2
    t_high: int = 1
    t_low: int = 6

    def build(self, edge_dim: int, coarse_edge_dim: int) -> nn.Module:
        """Return a new model."""
        return MinPlusGHR(1, out_channels=1, **asdict(self))


@dataclass(frozen=True)
class TrialSpec:
    """The flat extension with one part replaced, see :class:`~ghr.paper.trial_models.TrialGHR`.

    Args:
        aggregate: What takes the place of the minimum.
        norm: Whether messages are made of normalised states.
        mixing: At what part of the usual size the mixing weights start.
        edge_dim: Width of the edge features where the lengths are to be learned.
        budget: Whether to say if a node is within a budget, in place of how far it is.
        steps: Global steps in training.
        t_low: Updates per step.
    """

    aggregate: Aggregate = "min"
    norm: bool = False
    mixing: float = 0.3
    edge_dim: int | None = None
    budget: bool = False
    steps: int = 2
    t_low: int = 6

    def build(self, edge_dim: int, coarse_edge_dim: int) -> nn.Module:
        """Return a new model."""
        options = asdict(self)
        return WithinBudget(**options) if options.pop("budget") else TrialGHR(**options)


ModelSpec: TypeAlias = GHRSpec | DeepSpec | RecurrentSpec | GPSSpec | MinPlusSpec | TrialSpec
MODELS: dict[str, type[ModelSpec]] = {
    "ghr": GHRSpec,
    "deep": DeepSpec,
    "recurrent": RecurrentSpec,
    "gps": GPSSpec,
    "min-plus": MinPlusSpec,
    "trial": TrialSpec,
}
