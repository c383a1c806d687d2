"""Predictions that are a mean of values, times a factor."""

import torch
from torch import Tensor, nn

from ghr.nn.readout.base import Readout, ReadoutInput
from ghr.ops import aggregate_sum, count_items

LEAN = 0.5  # how much it leans at the start: little, so that every channel learns something
STEEP = 10.0  # what is learned as one: neighbouring values differ by a small part of their size
ROWS = {"node": 1, "graph": 3, "edge": 3}  # values that a prediction is made of, for each channel


class MixtureReadout(Readout):
    r"""A weighted mean of the channels of values, times a factor.

    .. math::
        \hat y = s\, \mathrm{softmax}\Big( \theta + k\, \tau\, \frac{v}{\operatorname{rms}_G(v)} \Big)^\top v

    There is no constant, so twice the values are twice the prediction, at any size. Weights that add up to one keep
    channels that went astray from cancelling each other. With :math:`\tau` the mean leans towards the largest of the
    channels, as it does a little at the start, or towards the smallest. Training raises :math:`k` with the sharpness of
    the values (:meth:`sharpen`). A graph is read by the largest, the mean and the smallest value of its nodes, an edge
    by its source, its target and the difference of both.

    Args:
        level: ``"node"``, ``"graph"`` or ``"edge"``.
        channels: Width :math:`m` of the values.
        out_channels: Width :math:`C` of the predictions.
        lean: Whether the weights depend on the values, by :math:`\tau`.

    Shapes:
        - **output:** :math:`(N, C)`, :math:`(B, C)` or :math:`(E, C)`
    """

    sharpness: Tensor

    def __init__(self, level: str, channels: int, out_channels: int, *, lean: bool = False) -> None:
        nn.Module.__init__(self)  # the layers of a Readout have constants
        self.layers, self.level, self.out_channels = 1, level, out_channels
        self.weight = nn.Parameter(torch.empty(out_channels, ROWS[level] * channels))
        self.lean = nn.Parameter(torch.empty(out_channels, 1)) if lean else None
        self.factor = nn.Parameter(torch.empty(out_channels))
        if lean:
            self.register_buffer("sharpness", torch.ones(()))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset to the mean of all, or, where it leans, to a soft maximum."""
        nn.init.zeros_(self.weight)
        nn.init.ones_(self.factor)
        if self.lean is not None:
            nn.init.constant_(self.lean, LEAN)
            self.sharpen(1.0)

    def sharpen(self, sharpness: float) -> None:
        """Set how much the mean leans, beside what is learned."""
        if self.lean is not None:
            self.sharpness.fill_(sharpness)

    def rows_of_nodes(self, given: ReadoutInput) -> Tensor:
        """Return the values of all nodes."""
        if given.values is None:
            raise ValueError("A MixtureReadout reads values; build the model with values='select' or values='sum'.")
        return given.values

    def rows(self, given: ReadoutInput) -> Tensor:
        """Return the values that every prediction is made of."""
        values = self.rows_of_nodes(given)
        if self.level == "node":
            return values
        if self.level == "edge":
            source, target = (values.index_select(0, ends) for ends in given.edge_index)
            return torch.cat([source, target, (source - target).abs()], dim=1)
        index, shape = given.batch.unsqueeze(1).expand_as(values), (given.num_graphs, values.size(1))
        kinds = ("amax", "mean", "amin")
        return torch.cat(
            [values.new_zeros(shape).scatter_reduce(0, index, values, kind, include_self=False) for kind in kinds],
            dim=1,
        )

    def forward(self, given: ReadoutInput) -> Tensor:
        """Predict from the values."""
        rows = self.rows(given)
        if self.lean is None:
            return self.factor * (rows @ self.weight.softmax(dim=1).t())
        size = self._size(given).clamp(min=torch.finfo(rows.dtype).tiny)
        rows = rows.unsqueeze(1)
        weight = (self.weight + STEEP * self.sharpness * self.lean * rows / size.view(-1, 1, 1)).softmax(dim=2)
        return self.factor * (weight * rows).sum(dim=2)

    def _size(self, given: ReadoutInput) -> Tensor:
        """Return how large the values of the graph of every row are."""
        square = self.rows_of_nodes(given).detach().square().mean(dim=1)
        total = aggregate_sum(square, given.batch, given.num_graphs)
        size = (total / count_items(given.batch, given.num_graphs).clamp(min=1)).sqrt()
        if self.level == "graph":
            return size
        return size.index_select(0, given.batch if self.level == "node" else given.batch[given.edge_index[0]])
