"""A floor that knows the lattice: a convolutional U-Net."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.data import Data

from ghr.checks import check_whole
from ghr.hierarchy.lattice import find_side, read_lattices, shift_lattices
from ghr.models.inputs import Widths
from ghr.models.network import LayerInput, Network
from ghr.models.stack import drop_unread
from ghr.nn.activation import make_activation
from ghr.nn.encoder import Width
from ghr.nn.norm import make_norm
from ghr.nn.readout import Readout

MOST_LEVELS = 16  # a side of 32,768
SIDE = 16  # of the lattices that the default number of levels is for


class Block(nn.Module):
    r"""Two convolutions of 3 x 3 nodes around the torus, each with a norm and an activation behind it.

    Args:
        in_channels: Width of what is read.
        out_channels: Width of what is returned.
        norm: As in :class:`LatticeUNet`.
        act: As there.

    Shapes:
        - **input:** :math:`(B, C, L, L)`
        - **output:** :math:`(B, C', L, L)`
    """

    def __init__(self, in_channels: int, out_channels: int, norm: str | None, act: str) -> None:
        super().__init__()
        self.convs = nn.ModuleList(
            nn.Conv2d(width, out_channels, 3, padding=1, padding_mode="circular")
            for width in (in_channels, out_channels)
        )
        self.norms = nn.ModuleList(make_norm(norm, out_channels) for _ in self.convs)
        self.act = make_activation(act)

    def forward(self, image: Tensor) -> Tensor:
        """Return the images behind both convolutions."""
        for conv, norm in zip(self.convs, self.norms, strict=True):
            image = conv(image)
            if not isinstance(norm, nn.Identity):  # norms read rows
                rows = norm(image.permute(0, 2, 3, 1).flatten(0, 2))
                image = rows.view(image.size(0), *image.shape[2:], -1).permute(0, 3, 1, 2)
            image = self.act(image)
        return image


class LatticeUNet(Network):
    r"""A convolutional U-Net on periodic square lattices, which knows every node's place and all directions.

    .. math::
        h_0 = W_n x, \qquad s_k = \mathrm{Block}_k(h_k), \qquad h_{k+1} = \mathrm{Mean}_{2 \times 2}(s_k), \qquad
        u_{K-1} = \mathrm{Block}_{K-1}(h_{K-1}), \qquad u_k = \mathrm{Block}'_k([s_k, \mathrm{Unpool}(u_{k+1})])

    with :math:`K` levels, each half as wide as the one before, and :math:`\hat y = \mathrm{readout}(u_0)`. A block is
    two convolutions of 3 x 3 nodes around the torus, each with a norm and an activation behind it. The model reads no
    edges: they only say that the graph is such a lattice, nodes numbered row by row, and anything else is refused. A
    shift of a lattice by :math:`2^{K-1}` rows or columns shifts its predictions; in training lattices are shifted by
    any number, at random.

    It is a floor for models that are told places and directions too, such as ``ghr-sum``: what they do no better, they
    owe to the lattice.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`d` of the states, on all levels.
        out_channels: Width of a prediction.
        levels: Number of levels :math:`K`, the lattice included; sides must be multiples of :math:`2^{K-1}`. By
            default, as many as halve the side of the first graph down to two or to an odd number.
        norm: ``"batch"``, ``"layer"`` or ``None``.
        act: As in :class:`~ghr.models.Stack`.
        edge_dim: Width of the edge features, for a readout on edges.
        readout: As in :class:`~ghr.GHR`.

    Shapes:
        - **input:** a (batch of) lattices with ``x`` of shape :math:`(N, \text{in\_channels})`
        - **output:** as of :class:`~ghr.GHR`
    """

    lattices_only = True

    def __init__(
        self,
        in_channels: Width,
        hidden_channels: int,
        out_channels: int,
        *,
        levels: int = 4,
        norm: str | None = "batch",
        act: str = "relu",
        edge_dim: Width | None = None,
        readout: str | Readout = "node",
    ) -> None:
        levels = check_whole("levels", levels, most=MOST_LEVELS)
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            edge_dim=drop_unread(edge_dim, readout),
            readout=readout,
            levels=levels,
            norm=norm,
            act=act,
        )
        width = self.channels
        self.down = nn.ModuleList(Block(width, width, norm, act) for _ in range(levels))
        self.up = nn.ModuleList(Block(2 * width, width, norm, act) for _ in range(levels - 1))

    @classmethod
    def _fit_width(cls, widths: Widths, options: Mapping[str, Any], example: Any, budget: int) -> int:
        """Return the width with which the model has as many parameters as wanted; levels are counted once."""
        return super()._fit_width(widths, _complete(options, example), example, budget)

    @classmethod
    def _arguments(cls, widths: Widths, options: Mapping[str, Any], example: Any) -> dict[str, Any]:
        """Return all arguments of the constructor, the number of levels among them."""
        return super()._arguments(widths, _complete(options, example), example)

    def augment(self, data: Data) -> Data:
        """Shift lattices against the blocks of the pooling at random."""
        return shift_lattices(data)

    def run(self, state: Tensor, graph: LayerInput) -> Tensor:
        """Return the states behind the last block."""
        lattice = read_lattices(graph.data, type(self).__name__)
        return lattice.join([self._run_images(state[nodes]) for nodes in lattice.images()])

    def _run_images(self, state: Tensor) -> Tensor:
        """Return states of lattices of one side, :math:`(B, L, L, d)`, behind the last block, :math:`(B L^2, d)`."""
        side, step = state.size(1), 2 ** (len(self.down) - 1)
        if side % step:
            raise ValueError(
                f"{type(self).__name__} with levels={len(self.down)} takes lattices with sides that are multiples of "
                f"{step}; got one of side {side}. Fewer levels take more sides."
            )
        image: Tensor = state.permute(0, 3, 1, 2)
        seen: list[Tensor] = []
        for block in self.down[:-1]:
            seen.append(block(image))
            image = F.avg_pool2d(seen[-1], 2)
        image = self.down[-1](image)
        for block, before in zip(reversed(self.up), reversed(seen), strict=True):
            image = block(torch.cat([before, F.interpolate(image, scale_factor=2.0, mode="nearest")], dim=1))
        return image.permute(0, 2, 3, 1).flatten(0, 2)


def count_levels(side: int) -> int:
    """Return how many levels a lattice has that is halved until its side is two or odd.

    Example:
        >>> [count_levels(side) for side in (2, 3, 12, 16, 32)]
        [1, 1, 3, 4, 5]
    """
    levels = 1
    while side % 2 == 0 and side > 2:
        side, levels = side // 2, levels + 1
    return levels


def _complete(options: Mapping[str, Any], example: Any) -> dict[str, Any]:
    return dict(options) if "levels" in options else {**options, "levels": count_levels(find_side(example, SIDE))}
