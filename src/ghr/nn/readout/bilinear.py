"""Predictions from values and from the node's own input."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from ghr.nn.encoder import CodeEncoder, Width
from ghr.nn.readout.base import Readout, ReadoutInput


class BilinearReadout(Readout):
    r"""Values times a map of the node's own input, :math:`\hat y_i = \sum_c u_{ic}\, (A x_i)_c`.

    It is linear in the values: what arrives at a node is weighted by what the node is, as an energy is a field times a
    charge. The prediction of a graph is the sum over its nodes, that of an edge the sum of both ends.

    Args:
        level: ``"node"``, ``"graph"`` or ``"edge"``.
        in_channels: Width of the input, or the sizes of columns of codes.
        channels: Width :math:`m` of the values.
        out_channels: Width :math:`C` of the predictions.

    Shapes:
        - **output:** :math:`(N, C)`, :math:`(B, C)` or :math:`(E, C)`
    """

    def __init__(self, level: str, in_channels: Width, channels: int, out_channels: int) -> None:
        nn.Module.__init__(self)  # the layers of a Readout read states
        self.layers, self.level, self.out_channels, self.channels = 1, level, out_channels, channels
        width = channels * out_channels
        self.map: Any = (
            nn.Linear(in_channels, width, bias=False)
            if isinstance(in_channels, int)
            else CodeEncoder(in_channels, width)
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        self.map.reset_parameters()
        if isinstance(self.map, nn.Linear):
            nn.init.uniform_(self.map.weight, -0.5, 0.5)
        with torch.no_grad():
            for parameter in self.map.parameters():
                parameter.mul_(1 / math.sqrt(self.channels))

    def forward(self, given: ReadoutInput) -> Tensor:
        """Predict from the values and the input."""
        values, x = given.values, given.x
        if values is None or x is None:
            raise ValueError("A BilinearReadout reads values and the input; build the model with values='sum'.")
        weight: Tensor = self.map(x).view(x.size(0), self.out_channels, -1)
        node = (weight * values.unsqueeze(1)).sum(dim=2)
        if self.level == "node":
            return node
        if self.level == "edge":
            return node.index_select(0, given.edge_index[0]) + node.index_select(0, given.edge_index[1])
        return node.new_zeros(given.num_graphs, self.out_channels).index_add(0, given.batch, node)
