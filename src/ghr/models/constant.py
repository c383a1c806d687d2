"""The lowest floor: the same prediction for all."""

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.checks import check_whole, show
from ghr.hierarchy.data import at_hand, check_graph, levels_of
from ghr.models.base import GraphModel
from ghr.nn.encoder import MOST_WIDTH, check_map
from ghr.nn.readout import READOUTS, Readout, ReadoutInput


class ConstantReadout(Readout):
    r"""The same learned numbers for every node, graph or edge, :math:`\hat y_i = c`, zero at the start.

    Args:
        level: ``"node"``, ``"graph"`` or ``"edge"``.
        out_channels: Width :math:`C` of the predictions.

    Shapes:
        - **output:** :math:`(N, C)`, :math:`(B, C)` or :math:`(E, C)`
    """

    def __init__(self, level: str, out_channels: int) -> None:
        nn.Module.__init__(self)  # the layers of a Readout read states
        self.level, self.out_channels = level, out_channels
        self.value = nn.Parameter(torch.zeros(out_channels))

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        nn.init.zeros_(self.value)

    def forward(self, given: ReadoutInput) -> Tensor:
        """Return one row per prediction."""
        counts = {"node": given.batch.numel(), "graph": given.num_graphs, "edge": given.edge_index.size(1)}
        return self.value.expand(counts[self.level], -1)

    def __repr__(self) -> str:
        return f"ConstantReadout({self.level!r}, {self.out_channels})"


class Constant(GraphModel):
    r"""Predicts the same numbers for everything, :math:`\hat y_i = c`, and learns which.

    Training finds the best constant for the loss: the mean of the targets for a squared one, their median for an
    absolute one, the frequencies of the classes for a cross entropy. A model that does no better has learned nothing.

    Args:
        out_channels: Width of a prediction.
        readout: ``"node"``, ``"graph"`` or ``"edge"``; ``"-mlp"`` behind it changes nothing.

    Shapes:
        - **input:** a (batch of) graphs
        - **output:** as of :class:`~ghr.GHR`
    """

    def __init__(self, out_channels: int, *, readout: str = "node") -> None:
        super().__init__()
        out_channels = check_whole("out_channels", out_channels, most=MOST_WIDTH)
        check_map("out_channels", out_channels, 1)
        level, _, suffix = readout.partition("-") if isinstance(readout, str) else ("", "", "")
        if level not in READOUTS or suffix not in ("", "mlp"):
            raise ValueError(
                f"A constant has the readout {', '.join(READOUTS)}, one row for each; got {show(readout)}."
            )
        self.readout = ConstantReadout(level, out_channels)
        self.remember(out_channels=out_channels, readout=readout)

    def rollout(self, data: Data, **loops: Any) -> list[Tensor]:
        """Return the one prediction, in the form in which a recurrent model returns several."""
        self.check_loops(loops)
        if not isinstance(data, Data):
            raise ValueError(
                f"A model takes a graph or a batch of graphs of PyTorch Geometric; got {type(data).__name__}."
            )
        edge_index = data.edge_index
        level = (check_graph if isinstance(edge_index, Tensor) and at_hand(edge_index) else levels_of)(data)[0]
        return [self.read(data, level.batch.new_zeros(level.num_nodes, 0))]
