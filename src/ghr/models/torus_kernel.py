"""A floor that knows the lattice: one linear kernel over the torus, solved for."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.checks import check_whole, show
from ghr.hierarchy.lattice import find_side, read_lattices
from ghr.memory import check_memory
from ghr.models.base import GraphModel
from ghr.models.inputs import Widths, check_input
from ghr.nn.encoder import MOST_WIDTH, Width, check_map

MOST_SIDE = 4096


class TorusKernel(GraphModel):
    r"""One coefficient for every offset on the torus, and nothing else: no layers, no gradients.

    .. math::
        \hat y_i = x_i \sum_{o \neq 0} k_o\, x_{i+o} + b

    The graph of a lattice looks the same after a reflection or a quarter turn, so :math:`k_o` depends on the numbers of
    rows and columns in :math:`o`, the shorter way round, in any order: :math:`(h+1)(h+2)/2 - 1` coefficients where
    :math:`h` is half the side. The local energies of an Ising model have exactly this form. Training solves for all
    coefficients by least squares over all training nodes, in one epoch (:class:`~ghr.train.least_squares.Equations`).

    It is a floor: it knows the lattice and the form of the answer, and only numbers are left to be found. On a lattice
    of another side it answers with what it knows: offsets of at most :math:`h` rows and columns have the coefficients
    of the trained side, and beyond them it takes all for zero.

    Args:
        in_channels: Width of the node features, which must be one.
        out_channels: Width of a prediction; each column has a kernel of its own.
        side: Side of the lattices it is trained on; by default that of the first graph.
        readout: ``"node"``; ``"-mlp"`` behind it changes nothing.

    Shapes:
        - **input:** a (batch of) lattices with ``x`` of shape :math:`(N, 1)`
        - **output:** :math:`(N, \text{out\_channels})`
    """

    lattices_only = True
    pairs: Tensor

    def __init__(self, in_channels: Width, out_channels: int, *, side: int = 16, readout: str = "node") -> None:
        super().__init__()
        if isinstance(in_channels, bool) or in_channels != 1:
            raise ValueError(
                f"TorusKernel reads one number per node, in_channels=1; got in_channels={show(in_channels)}."
            )
        if readout not in ("node", "node-mlp"):
            raise ValueError(f"TorusKernel predicts for nodes, readout='node'; got readout={show(readout)}.")
        out_channels = check_whole("out_channels", out_channels, most=MOST_WIDTH)
        side = check_whole("side", side, 2, MOST_SIDE)
        self.reach = side // 2
        # Numbers of rows and columns, the smaller first, none of them for a node with itself.
        self.register_buffer("pairs", torch.triu_indices(self.reach + 1, self.reach + 1)[:, 1:], persistent=False)
        check_map("out_channels", out_channels, self.pairs.size(1))
        self.weight = nn.Parameter(torch.zeros(out_channels, self.pairs.size(1)))
        self.bias = nn.Parameter(torch.zeros(out_channels))
        self.remember(in_channels=1, out_channels=out_channels, side=side, readout=readout)

    def reset_parameters(self) -> None:
        """Reset all parameters, to zero."""
        nn.init.zeros_(self.weight)
        nn.init.zeros_(self.bias)

    @classmethod
    def _arguments(cls, widths: Widths, options: Mapping[str, Any], example: Any) -> dict[str, Any]:
        """Return all arguments of the constructor, the side among them."""
        return {"side": find_side(example, 16), **super()._arguments(widths, options, example)}

    @property
    def kernel(self) -> Tensor:
        """The coefficients by rows and columns, :math:`(C, h+1, h+1)`, zero for a node with itself."""
        rows, columns = self.pairs
        kernel = self.weight.new_zeros(self.weight.size(0), self.reach + 1, self.reach + 1)
        kernel[:, rows, columns] = self.weight
        kernel[:, columns, rows] = self.weight
        return kernel

    def rollout(self, data: Data, **loops: Any) -> list[Tensor]:
        """Return the one prediction, in the form in which a recurrent model returns several."""
        self.check_loops(loops)
        x = check_input(data, 1, self)
        lattice = read_lattices(data, type(self).__name__)
        parts = []
        for nodes in lattice.images():
            image = x[nodes].squeeze(-1)
            steps = self._steps(image)
            far = torch.einsum("crs,skl->crkl", self.kernel, steps)
            field = torch.einsum("brik,crkl->bilc", steps @ image.unsqueeze(1), far)
            parts.append((image.unsqueeze(-1) * field + self.bias).flatten(0, 2))
        return [lattice.join(parts)]

    def design(self, data: Data) -> Tensor:
        """Return what the coefficients are multiplied with in every prediction, the ones of the constant last.

        Args:
            data: A (batch of) lattices.
        """
        x = check_input(data, 1, self)
        lattice, (rows, columns) = read_lattices(data, type(self).__name__), self.pairs
        needed = x.element_size() * x.size(0) * ((self.reach + 1) ** 2 + 3 * len(rows))
        check_memory(
            f"TorusKernel of side {self.config['side']}", needed, "take fewer graphs in a batch, or a smaller side"
        )
        parts = []
        for nodes in lattice.images():
            image = x[nodes].squeeze(-1)
            steps = self._steps(image)
            sums = torch.einsum("brik,skl->brsil", steps @ image.unsqueeze(1), steps)
            both = sums[:, rows, columns] + (rows != columns).to(x.dtype).view(-1, 1, 1) * sums[:, columns, rows]
            shells = (image.unsqueeze(1) * both).permute(0, 2, 3, 1).flatten(0, 2)
            parts.append(torch.cat([shells, shells.new_ones(len(shells), 1)], dim=1))
        return lattice.join(parts)

    def set_coefficients(self, value: Tensor) -> None:
        """Take over coefficients, one row for each column of :meth:`design` and one column for each of a prediction."""
        with torch.no_grad():
            self.weight.copy_(value[:-1].t())
            self.bias.copy_(value[-1])

    def _steps(self, image: Tensor) -> Tensor:
        """Return which rows of a lattice are 0, 1, ..., h apart, the shorter way round: :math:`(h+1, L, L)`."""
        place = torch.arange(image.size(1), device=image.device)
        apart = (place - place.unsqueeze(1)).abs()
        apart = torch.minimum(apart, len(place) - apart)
        return (apart == torch.arange(self.reach + 1, device=image.device).view(-1, 1, 1)).to(image.dtype)
