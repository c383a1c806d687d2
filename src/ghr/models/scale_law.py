"""A law of scale, by which a model on lattices learns what larger ones will ask of it."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from ghr.hierarchy.data import levels_of
from ghr.hierarchy.lattice import Lattice, lattice_edges

# By how much lattices are drawn apart. Every batch is drawn apart by the smallest, on which all others build, and by
# one of the others, which weighs half as much.
SMALLEST, OTHERS = 2, (4, 8)
TINY = 1e-12


class ScaleLaw(nn.Module):
    r"""Asks that a lattice drawn apart gives the targets of the lattice itself, times a learned factor.

    A lattice is drawn apart by :math:`f` if its nodes stand on every :math:`f`-th row and column of one that is
    :math:`f` times as large, with zeros between. What falls off with a power of the distance then becomes smaller by
    the same factor everywhere,

    .. math::
        \hat y(\text{apart}_f(x)) = f^s\, y(x),

    the wrapping around the torus included. Nothing else is known of larger lattices, and no target of theirs is used.
    The exponent :math:`s` is learned.
    """

    def __init__(self) -> None:
        super().__init__()
        self.exponent = nn.Parameter(torch.empty(()))
        self._drawn: dict[tuple[int, int], Data] = {}
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the exponent."""
        nn.init.constant_(self.exponent, -2.0)

    def forward(self, model: nn.Module, prepare: Callable[[Data], Data], data: Data) -> Tensor:
        """Return how far the law is from holding: weighted logarithms of mean squared errors.

        Args:
            model: The model.
            prepare: What gives a lattice its levels.
            data: A batch of lattices of one side, with one target per node.
        """
        lattice = Lattice(levels_of(data)[0])
        if lattice.shape is None:
            raise ValueError("The law of scale needs batches of lattices that have one side.")
        count, side = lattice.shape
        x: Tensor = data["x"].view(count, side, side, -1)
        target: Tensor = data["y"].view(count, side, side)
        other = OTHERS[int(torch.randint(len(OTHERS), ()))]
        near, far = (self._measure(model, prepare, x, target, factor) for factor in (SMALLEST, other))
        return near + far / 2

    def _measure(
        self, model: nn.Module, prepare: Callable[[Data], Data], x: Tensor, target: Tensor, factor: int
    ) -> Tensor:
        """Return the logarithm of the mean squared error on lattices drawn apart by a factor."""
        side = x.size(1)
        few = x[: max(1, len(x) // factor**2)]  # as many nodes as the batch has
        first = [int(value) for value in torch.randint(factor, (2,))]
        apart = x.new_zeros(len(few), factor * side, factor * side, x.size(3))
        apart[:, first[0] :: factor, first[1] :: factor] = few
        predicted = model(self._fill(apart, prepare)).view(apart.shape[:3])
        predicted = predicted[:, first[0] :: factor, first[1] :: factor]
        error: Tensor = (predicted * factor**-self.exponent - target[: len(few)]).square().mean()
        return (error + TINY).log10()

    def _fill(self, x: Tensor, prepare: Callable[[Data], Data]) -> Data:
        """Return a batch of lattices with these inputs :math:`(B, L, L, D)`."""
        count, side = x.shape[:2]
        if (count, side) not in self._drawn:
            graph = prepare(Data(x=x.new_zeros(side * side, x.size(3)).cpu(), edge_index=lattice_edges(side)))
            drawn: Any = Batch.from_data_list([graph] * count)
            self._drawn[count, side] = drawn.to(x.device)
        filled: Data = self._drawn[count, side].clone()
        filled.x = x.reshape(-1, x.size(3))
        return filled

    def __repr__(self) -> str:
        return f"ScaleLaw(exponent={self.exponent.item():.3g})"
