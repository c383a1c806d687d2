"""Values that are added up over levels."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ghr.hierarchy import Level
from ghr.hierarchy.lattice import Lattice, square_offsets
from ghr.nn.encoder import CodeEncoder, Width
from ghr.nn.reset import reset_children
from ghr.nn.values.blocks import Blocks
from ghr.nn.values.stencil import Hops, Stencil, Way, edge_rates

PLACES = 4  # of a 2 x 2 block
TOP_REACH = 2  # of the coarsest lattice, which has a side of four or so
AROUND = square_offsets(1)  # of the clusters that a node reads from


class SumLevel(NamedTuple):
    """How values move on one level, and between it and the level below.

    Attributes:
        source: What is to be moved :math:`(N_k, m)`: the lifted input, and its sums over clusters above; see
            :meth:`SumCell.feed`.
        near: On lattices, where the offsets of the stencil lead; otherwise the edges, and what each is multiplied by.
        around: Where the offsets lead at which nodes below read; without directions a node reads from its cluster.
        blocks: In which cluster the nodes below are, and at which of its places; none at level 0.
    """

    source: Tensor | None
    near: Way | tuple[Tensor, Tensor]
    around: Way
    blocks: Blocks | None


class SumCell(nn.Module):
    r"""Moves values up, within and down the levels, all by linear maps: a fast multipole method, learned.

    .. math::
        w_0 = L x, \qquad w_k = \sum_{i \in c} D_{p(i)}\, w_{k-1, i}, \qquad
        u_k = S_k w_k + U u_{k+1}

    The map :math:`D` depends on the place :math:`p` of a node in its cluster, :math:`S` has a matrix per offset, and
    :math:`U` one per place and offset of the four nearest clusters. The finest and the coarsest level have a stencil
    :math:`S` of their own; all between share theirs, and :math:`D` and :math:`U` are the same everywhere. So any number
    of levels runs with the same weights.

    Without directions, clusters have one place, a node reads from its own cluster, and a level moves values along its
    edges (:class:`~ghr.nn.values.stencil.Hops`): so it works on any graph.

    Args:
        in_channels: Width of the input, or the sizes of columns of codes.
        channels: Width :math:`m` of the values.
        reach: How far values move within a level: in rows and columns, or in hops.
        directions: Whether graphs are periodic square lattices cut into blocks of 2 x 2.
        control: Width of the control, which weighs the values of every node; ``0`` without any.
    """

    def __init__(self, in_channels: Width, channels: int, *, reach: int, directions: bool, control: int = 0) -> None:
        super().__init__()
        self.channels, self.directions = channels, directions
        self.places = PLACES if directions else 1
        self.lift: nn.Module = (
            nn.Linear(in_channels, channels, bias=False)
            if isinstance(in_channels, int)
            else CodeEncoder(in_channels, channels)
        )
        self.pool = Stencil(self.places, channels, channels)
        mask = _nearest(channels) if directions else None
        self.unpool = Stencil(len(AROUND) if directions else 1, channels, self.places * channels, mask)
        # On the coarsest lattice, which is small, larger offsets would only lead around it.
        self.reaches = (reach, reach, min(reach, TOP_REACH) if directions else reach)
        self.stencils = nn.ModuleList(
            Stencil(len(square_offsets(far)), channels, channels) if directions else Hops(far, channels)
            for far in self.reaches
        )
        self.feedback = nn.Linear(channels, channels, bias=False)
        self.gain = nn.Linear(control, channels) if control else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset all parameters; nothing is fed back at the start, and all values weigh the same."""
        reset_children(self)
        if isinstance(self.lift, nn.Linear):
            nn.init.uniform_(self.lift.weight, -0.5, 0.5)
        nn.init.zeros_(self.feedback.weight)
        if self.gain is not None:
            nn.init.zeros_(self.gain.weight)
            nn.init.zeros_(self.gain.bias)

    def prepare(self, levels: Sequence[Level], num_graphs: int | None = None) -> tuple[SumLevel, ...]:
        """Return where values move to on every level, for :meth:`feed`."""
        lattices: list[Lattice] = []
        if self.directions:
            lattices = [Lattice(level, k, num_graphs=num_graphs) for k, level in enumerate(levels)]
        parts: list[SumLevel] = []
        for k, level in enumerate(levels):
            blocks = None if level.assignment is None else Blocks(level.assignment)
            if blocks is not None and lattices:
                blocks = _blocks(lattices[k - 1], lattices[k])
            near: Way | tuple[Tensor, Tensor]
            if lattices:
                kind = 0 if k == 0 else 2 if k + 1 == len(levels) else 1
                near, around = _way(lattices[k], square_offsets(self.reaches[kind])), _way(lattices[k], AROUND)
            else:
                rate = edge_rates(level.edge_index, level.num_nodes, self.pool.weight.dtype)
                near = (level.edge_index, rate)
                around = Way(torch.arange(level.num_nodes, device=rate.device).unsqueeze(1))
            parts.append(SumLevel(None, near, around, blocks))
        return tuple(parts)

    def feed(self, source: Tensor, parts: Sequence[SumLevel], levels: Sequence[Level]) -> tuple[SumLevel, ...]:
        """Return the levels with another input, summed up from level to level."""
        fed: list[SumLevel] = []
        for part, level in zip(parts, levels, strict=True):
            if part.blocks is not None:
                source = part.blocks.collect(source, level.num_nodes, self.places) @ self.pool.weight
            fed.append(part._replace(source=source))
        return tuple(fed)

    def move(self, part: SumLevel, kind: int) -> Tensor:
        """Return :math:`S_k w_k`; `kind` is 0 for the finest level, 1 for those between and 2 for the coarsest."""
        if part.source is None:
            raise ValueError("Nothing was fed to the level yet.")
        return self.stencils[kind](part.source, part.near)  # type: ignore[no-any-return]

    def descend(self, above: Tensor, part: SumLevel) -> Tensor:
        """Return :math:`U u` for the nodes below a level."""
        if part.blocks is None:
            raise ValueError("Nothing is below the finest level.")
        return part.blocks.hand_out(self.unpool(above, part.around), self.places)

    def weigh(self, value: Tensor, control: Tensor | None) -> Tensor:
        r"""Return values times :math:`1 + \tanh(W c)`."""
        if self.gain is None or control is None:
            return value
        return value * (1 + torch.tanh(self.gain(control)))

    def __repr__(self) -> str:
        return f"SumCell({self.channels}, reach={self.reaches[0]}, directions={self.directions})"


def _nearest(channels: int) -> Tensor:
    """Return which clusters the places of a block read from: their own, and those on the side where the place is."""
    mask = torch.zeros(len(AROUND), channels, PLACES, channels)
    for offset, (row, column) in enumerate(AROUND):
        for place in range(PLACES):
            down, right = divmod(place, 2)
            mask[offset, :, place] = row in (0, 2 * down - 1) and column in (0, 2 * right - 1)
    return mask.view(len(AROUND) * channels, PLACES * channels)


def _blocks(fine: Lattice, coarse: Lattice) -> Blocks:
    fine.check_blocks(coarse)
    if coarse.shape is not None and fine.shape == (coarse.shape[0], 2 * coarse.shape[1]):
        return Blocks(None, coarse.shape)
    return Blocks(PLACES * coarse.level.clusters + fine.places())


def _way(lattice: Lattice, offsets: Sequence[tuple[int, int]]) -> Way:
    if lattice.shape is not None and lattice.shape[1] >= offsets[-1][0]:  # an image is repeated around itself once
        return Way(None, lattice.shape)
    return Way(lattice.look(offsets))
