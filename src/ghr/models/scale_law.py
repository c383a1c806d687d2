"""A law of scale, by which a model on lattices learns what larger ones will ask of it."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from ghr.hierarchy.data import levels_of
from ghr.hierarchy.lattice import Lattice, lattice_edges

# By how much lattices are drawn apart. Every batch is drawn apart by the smallest, on which all others build, and by
# one of the others, which weighs half as much.
SMALLEST, OTHERS = 2, (4, 8)
LARGER, ODD = (2, 4), (1, 3, 5)  # how much larger lattices with patches are, and by how much these are drawn apart
TINY = 1e-12
Run: TypeAlias = Callable[[Tensor], Tensor]


class ScaleLaw(nn.Module):
    r"""Asks of larger lattices what must hold there, since nothing else is known of them; no target of theirs is used.

    A lattice is drawn apart by :math:`f` if its nodes stand on every :math:`f`-th row and column of one that is
    :math:`f` times as large, with zeros between. What falls off with a power of the distance then becomes smaller by
    the same factor everywhere,

    .. math::
        \hat y(\text{apart}_f(x)) = f^s\, y(x),

    the wrapping around the torus included. The exponent :math:`s` is learned. A side must be halved again and again, so
    :math:`f` is even, and nodes that are an odd number of rows apart are left out. But what a patch does to itself does
    not depend on the lattice around it, as long as the way through the patch is the shorter one. So a patch with zeros
    around it is drawn apart by odd factors too, one among them, anywhere in a larger lattice.
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
        """Return how far the laws are from holding: weighted logarithms of mean squared errors.

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
        run = partial(self._run, model, prepare)
        other = OTHERS[int(torch.randint(len(OTHERS), ()))]
        near, far = (self.compare_apart(run, x, target, factor) for factor in (SMALLEST, other))
        larger, factor = (options[int(torch.randint(len(options), ()))] for options in (LARGER, ODD))
        return near + far / 2 + self.compare_patches(run, x, larger, factor) / 2

    def compare_apart(self, run: Run, x: Tensor, target: Tensor, factor: int) -> Tensor:
        """Return the logarithm of the mean squared error on lattices drawn apart by a factor.

        Args:
            run: Gives predictions :math:`(B, L, L)` for inputs :math:`(B, L, L, D)`.
            x: The inputs of lattices.
            target: Their targets.
            factor: By how much they are drawn apart.
        """
        side = x.size(1)
        few = x[: max(1, len(x) // factor**2)]  # as many nodes as the batch has
        row, column = (int(value) for value in torch.randint(factor, (2,)))
        apart = x.new_zeros(len(few), factor * side, factor * side, x.size(3))
        apart[:, row::factor, column::factor] = few
        predicted = run(apart)[:, row::factor, column::factor]
        return _log_error(predicted * factor**-self.exponent, target[: len(few)])

    def compare_patches(self, run: Run, x: Tensor, larger: int, factor: int) -> Tensor:
        """Return the logarithm of the mean squared difference between patches in lattices of both sizes.

        Args:
            run: As in :meth:`compare_apart`.
            x: As there.
            larger: How many times as large the other lattice is.
            factor: By how much the patch is drawn apart there.
        """
        side = x.size(1)
        width = min(side // 2, (larger * side // 2 - 1) // factor + 1)  # so that half a lattice is never crossed
        few = x[: max(1, len(x) // larger**2), :width, :width]
        seen = []
        for whole, apart in ((side, 1), (larger * side, factor)):
            span = (width - 1) * apart + 1
            row, column = (int(value) for value in torch.randint(whole - span + 1, (2,)))
            place = (slice(None), slice(row, row + span, apart), slice(column, column + span, apart))
            patch = x.new_zeros(len(few), whole, whole, x.size(3))
            patch[place] = few
            seen.append(run(patch)[place])
        return _log_error(seen[1] * factor**-self.exponent, seen[0].detach())  # the first is learned from targets

    def _run(self, model: nn.Module, prepare: Callable[[Data], Data], x: Tensor) -> Tensor:
        prediction: Tensor = model(self._fill(x, prepare))
        return prediction.view(x.shape[:3])

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


def _log_error(prediction: Tensor, target: Tensor) -> Tensor:
    return ((prediction - target).square().mean() + TINY).log10()
