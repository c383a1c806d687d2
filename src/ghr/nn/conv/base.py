"""What the recurrence asks of a message passing layer."""

from typing import NamedTuple

from torch import Tensor, nn

from ghr.hierarchy.data import at_hand, check_edges
from ghr.nn.reset import reset_children
from ghr.ops import Above, Neighbours, add_unpooled


class Edges(NamedTuple):
    """Edges in the form a layer made of them, once per forward pass.

    Attributes:
        edge_index: Source and target of every edge :math:`(2, E)`; a layer may have sorted them, or appended loops, or
            left them out where it reads neighbours alone.
        attr: What the layer needs per edge: projected features, normalised weights, or nothing. One row stands for all
            edges alike.
        initial: The features that a layer which updates its edges adds again at every step.
        neighbours: The edges sorted by node, for a layer whose kernels compute on the CPU.
        dropped: Edges that do not count :math:`(E)`, where to take them out would stall a GPU.
    """

    edge_index: Tensor
    attr: Tensor | None
    initial: Tensor | None = None
    neighbours: Neighbours | None = None
    dropped: Tensor | None = None

    @property
    def updated(self) -> bool:
        """Whether the layer updates its edges, so that those it returns are for the next layer of its kind."""
        return self.initial is not None


class Conv(nn.Module):
    r"""Message passing :math:`\mathrm{MP}_W(X, e)` in two parts, so that what never changes is computed once.

    ``prepare`` updates edges and their features into :class:`Edges` once per forward pass; ``propagate`` runs at every
    inner step. ``forward`` is the two in a row.

    Args:
        channels: Width :math:`d` of the node states.
        edge_dim: Width of the encoded edge features; ``None`` without any.
    """

    one_row_for_all_edges = False  # whether `prepare` takes a single row where all edges have the same features
    readout_start = 1.0  # what multiplies the last map of the readout at a scaled start

    def __init__(self, channels: int, edge_dim: int | None = None) -> None:
        super().__init__()
        self.channels = channels
        self.edge_dim = edge_dim

    @staticmethod
    def edge_encoder(edge_dim: int, channels: int) -> tuple[nn.Module, int]:
        """Return the learned map :math:`W_e` for raw edge features and the width it gives."""
        return nn.Linear(edge_dim, channels), channels

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)

    def shrink(self, factor: float) -> None:
        """Make the updates smaller by a factor, so that many of them in a row start with a state of moderate size.

        By default a layer starts as it is: one of one's own, and A-DGN, whose updates are bounded.
        """

    def prepare(self, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int) -> Edges:
        """Compute everything about the edges that no state enters."""
        return Edges(edge_index, edge_attr)

    def propagate(self, x: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
        """Return the new features of the nodes, and the edges for the next step."""
        raise NotImplementedError

    def iterate(
        self, norm: nn.RMSNorm, state: Tensor, injection: Tensor, edges: Edges, updates: int
    ) -> tuple[Tensor, Edges]:
        r"""Update a state several times, :math:`x \gets x + \mathrm{MP}(\mathrm{norm}(x) + \mathrm{injection}, e)`."""
        for _ in range(updates):
            change, edges = self.propagate(norm(state) + injection, edges)
            state = state + change
        return state, edges

    def iterate_below(
        self,
        norm: nn.RMSNorm,
        state: Tensor,
        injection: Tensor,
        above: Above | None,
        edges: Edges,
        updates: int,
        *,
        own: bool = False,
    ) -> tuple[Tensor, Edges]:
        """Do the same where nodes also add what is above them; a layer that looks it up writes less down.

        Where nobody else holds the state and it is the caller's `own`, a layer may write over it.
        """
        fixed = injection if above is None else add_unpooled(injection, *above)
        return self.iterate(norm, state, fixed, edges, updates)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None) -> Tensor:
        r"""Apply the layer once.

        Shapes:
            - **x:** :math:`(N, d)`
            - **edge_index:** :math:`(2, E)`, source first
            - **edge_attr:** :math:`(E, D)` encoded edge features
            - **output:** :math:`(N, d)`
        """
        if self.edge_dim is not None and (edge_attr is None or edge_attr.size(-1) != self.edge_dim):
            got = None if edge_attr is None else tuple(edge_attr.shape)
            raise ValueError(f"{self} needs edge features with {self.edge_dim} columns; got {got}.")
        if at_hand(x):
            check_edges(edge_index, x.size(0))
        return self.propagate(x, self.prepare(edge_index, edge_attr, x.size(0)))[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.channels}, edge_dim={self.edge_dim})"


class CustomConv(Conv):
    """Any module ``(x, edge_index, edge_attr) -> x`` as message passing of the recurrence."""

    def __init__(self, module: nn.Module, channels: int) -> None:
        super().__init__(channels)
        self.module = module

    def propagate(self, x: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
        """Call the module."""
        out = self.module(x, edges.edge_index, edges.attr)
        if not isinstance(out, Tensor) or out.shape != x.shape:
            got = tuple(out.shape) if isinstance(out, Tensor) else type(out).__name__
            raise ValueError(
                f"{self.module} must return a tensor of shape {tuple(x.shape)} as it was given; got {got}."
            )
        return out, edges

    def __repr__(self) -> str:
        return f"CustomConv({self.module!r})"


def weight_and_eps(norm: nn.RMSNorm) -> tuple[Tensor, float]:
    """Return what a fused operation needs of a norm."""
    if norm.eps is None:
        raise ValueError("The norm must have an eps of its own.")
    return norm.weight, norm.eps
