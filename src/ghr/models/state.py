"""The evolving state of the recurrence, and what stays fixed while it evolves."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ghr.checks import show
from ghr.hierarchy import Level
from ghr.hierarchy.tensors import check_tensor
from ghr.nn.conv import Edges
from ghr.nn.encoder import check_dtype
from ghr.ops import Members


class State(NamedTuple):
    """Node states of every level, from fine to coarse; passed into a step and returned from it.

    Attributes:
        levels: One tensor :math:`(N_k, d)` per level; of a model that has values and no control, without columns.
        values: One tensor :math:`(N_k, m)` per level, of a model that has values.
    """

    levels: tuple[Tensor, ...]
    values: tuple[Tensor, ...] = ()

    @property
    def low(self) -> Tensor:
        r"""State :math:`h_L` of the graph itself."""
        return self.levels[0]

    @property
    def high(self) -> Tensor:
        r"""State :math:`h_H` of the coarsest level."""
        return self.levels[-1]


def check_parts(name: str, parts: Any, levels: Sequence[Level], width: int, dtype: torch.dtype) -> None:
    """Raise a ValueError unless a state has a tensor of this width and type for every level.

    Args:
        name: What the tensors are called at the start of a sentence.
        parts: The tensors.
        levels: The hierarchy.
        width: Their width.
        dtype: Their type.
    """
    if not isinstance(parts, (tuple, list)):
        raise ValueError(f"{name} must be a tuple of tensors, one for each level; got {show(parts)}.")
    if len(parts) != len(levels):
        raise ValueError(f"{name} has {len(parts)} levels, the data {len(levels)}.")
    for k, (part, level) in enumerate(zip(parts, levels, strict=True)):
        value, wanted = check_tensor(f"{name} of level {k}", part), (level.num_nodes, width)
        if value.shape != wanted:
            raise ValueError(
                f"{name} of level {k} has the shape {tuple(value.shape)}, but this graph needs {wanted}; start "
                "with initial_state(data) of the same data."
            )
        check_dtype(f"{name} of level {k}", value, dtype)
        if value.device != level.batch.device:
            raise ValueError(f"{name} of level {k} is on {value.device}, but the graph is on {level.batch.device}.")


class Shown(NamedTuple):
    """A batch as it was given, where its nodes are computed in another order.

    Attributes:
        place: Where every node is in that order.
        finest: Level 0.
        given: The input.
    """

    place: Tensor
    finest: Level
    given: Tensor


class Encoded(NamedTuple):
    """A batch after input encoding: computed once, read at every step.

    Attributes:
        levels: The hierarchy.
        x: Encoded node features :math:`f_L`, :math:`(N, d)`.
        edges: Prepared edges of every level.
        members: For every level, the nodes below sorted by it, where kernels compute; none at level 0.
        edge_attr: Encoded edge features of the finest level, for readouts.
        num_graphs: Number of graphs in the batch.
        config: That of the model.
        given: The input as it was given, for values and their readouts.
        parts: How values move on every level, of a model that has them.
        shown: How predictions are made in the order of the nodes as given, where all else here is in another.
    """

    levels: tuple[Level, ...]
    x: Tensor | None
    edges: tuple[Edges, ...]
    members: tuple[Members | None, ...]
    edge_attr: Tensor | None
    num_graphs: int
    config: Mapping[str, Any]
    given: Tensor
    parts: tuple[Any, ...] = ()
    shown: Shown | None = None


class LearnedState(nn.Module):
    """Starts every node of a level from the same learned vector.

    Args:
        channels: Width of the state.
    """

    std = 0.02

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.empty(channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the vector."""
        nn.init.trunc_normal_(self.value, std=self.std)

    def forward(self, x: Tensor, num_nodes: int) -> Tensor:
        """Return the state of `num_nodes` nodes, of the type and on the device of `x`."""
        return self.value.expand(num_nodes, -1)


class RandomState(nn.Module):
    """Starts every node from a random vector of its own, another one at every forward pass.

    Args:
        channels: Width of the state.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.channels = channels

    def forward(self, x: Tensor, num_nodes: int) -> Tensor:
        """Return the state of `num_nodes` nodes, of the type and on the device of `x`."""
        return LearnedState.std * torch.randn(num_nodes, self.channels, dtype=x.dtype, device=x.device)


INITIAL_STATES: dict[str, type[LearnedState] | type[RandomState]] = {"learned": LearnedState, "random": RandomState}
