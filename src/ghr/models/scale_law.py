"""A law of scale, by which a model on lattices learns what larger ones will ask of it."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from ghr.hierarchy.data import levels_of
from ghr.hierarchy.lattice import Lattice, lattice_edges

# By how much lattices are drawn apart. Every batch is drawn apart by the smallest, on which all others build, and by
# one of the others, which weighs half as much. What takes longest is drawn least often.
SMALLEST, OTHERS = 2, (4, 4, 4, 4, 4, 4, 8)
# How much larger lattices with patches are, by how much these are drawn apart there, and how many there are at most.
LARGER, ODD, MOST_PATCHES = (2, 2, 2, 2, 4, 4, 4, 4, 8), (1, 3, 5, 7), 8
RATE, STEEPEST = 0.02, 6.0  # how fast the exponent follows what patches say, and how far it may go below zero
BEGIN = 0.2  # the part of a training after which the law is asked for
TINY = 1e-12
Run: TypeAlias = Callable[[Tensor], Tensor]


class ScaleLaw(nn.Module):
    r"""Asks of larger lattices what must hold there, since nothing else is known of them; no target of theirs is used.

    A lattice is drawn apart by :math:`f` if its nodes stand on every :math:`f`-th row and column of one that is
    :math:`f` times as large, with zeros between. What falls off with a power of the distance then becomes smaller by
    the same factor everywhere,

    .. math::
        \hat y(\text{apart}_f(x)) = f^s\, y(x),

    the wrapping around the torus included. A side must be halved again and again, so :math:`f` is even, and nodes that
    are an odd number of rows apart are left out. But what a patch does to itself does not depend on the lattice around
    it, as long as the way through the patch is the shorter one. So a patch with zeros around it is drawn apart by odd
    factors too, one among them, anywhere in a larger lattice.

    The exponent :math:`s` is read off lattices of the side that has targets: by how much smaller a patch becomes there
    if it is drawn apart by 2 or 3. As a weight it would be learned too slowly, and a law with a wrong exponent spoils
    all else. For the same reason the law is asked for only after the first fifth of a training, when predictions on
    that side are roughly right. Sides below 6 have no room for two patches and are refused.

    Attributes:
        exponent: The exponent :math:`s`.
        begun: Whether the law is asked for yet.
    """

    exponent: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("exponent", torch.empty(()))
        self.begun = True
        self._drawn: dict[tuple[int, int], Data] = {}
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the exponent."""
        nn.init.constant_(self.exponent, -2.0)

    def anneal(self, progress: float) -> None:
        """Ask for the law from a part of the training on.

        Args:
            progress: The part of the training that is done.
        """
        self.begun = progress >= BEGIN

    def forward(self, model: nn.Module, prepare: Callable[[Data], Data], data: Data) -> Tensor | None:
        """Return how far the laws are from holding: weighted logarithms of mean squared errors; before, ``None``.

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
        self.read_exponent(run, x)
        if not self.begun:
            return None
        near, far = (self.compare_apart(run, x, target, factor) for factor in (SMALLEST, _choose(OTHERS)))
        return near + far / 2 + self.compare_patches(run, x, _choose(LARGER), _choose(ODD))

    @torch.no_grad()
    def read_exponent(self, run: Run, x: Tensor) -> None:
        """Move the exponent towards what patches say that are drawn apart in lattices of the same side.

        Args:
            run: As in :meth:`compare_apart`.
            x: As there.
        """
        side = x.size(1)
        factors = [factor for factor in (2, 3) if _width(side, factor) > 1]
        if not factors:
            raise ValueError(f"The law of scale needs lattices of side 6 or more, got side {side}: train without it.")
        factor = _choose(factors)
        patch = x[:MOST_PATCHES, : _width(side, factor), : _width(side, factor)]
        near, far = (self._place(run, patch, side, apart) for apart in (1, factor))
        ratio = (near * far).sum() / near.square().sum()
        exponent = ratio.log() / math.log(factor)
        # A negative ratio has no logarithm: nothing is known yet, and the exponent stays.
        seen = torch.where(exponent.isfinite(), exponent.clamp(-STEEPEST, 0.0), self.exponent)
        self.exponent.lerp_(seen.to(self.exponent), RATE)

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
        width = min(side // 2, _width(larger * side, factor))
        patch = x[: max(1, min(MOST_PATCHES, len(x) // larger**2)), :width, :width]
        near, far = self._place(run, patch, side, 1), self._place(run, patch, larger * side, factor)
        return _log_error(far * factor**-self.exponent, near.detach())  # the first is learned from targets

    @staticmethod
    def _place(run: Run, patch: Tensor, side: int, apart: int) -> Tensor:
        """Return what is predicted at a patch that is drawn apart, anywhere in a lattice of zeros."""
        span = (patch.size(1) - 1) * apart + 1
        row, column = (int(value) for value in torch.randint(side - span + 1, (2,)))
        place = (slice(None), slice(row, row + span, apart), slice(column, column + span, apart))
        whole = patch.new_zeros(len(patch), side, side, patch.size(3))
        whole[place] = patch
        return run(whole)[place]

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


def _choose(options: Sequence[int]) -> int:
    return options[int(torch.randint(len(options), ()))]


def _width(side: int, factor: int) -> int:
    """Return how wide a patch may be that is drawn apart, so that no way around the lattice is shorter than through."""
    return (side // 2 - 1) // factor + 1


def _log_error(prediction: Tensor, target: Tensor) -> Tensor:
    return ((prediction - target).square().mean() + TINY).log10()
