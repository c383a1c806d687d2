"""Predictions for edges."""

import torch
from torch import Tensor

from ghr.checks import check_whole
from ghr.nn.encoder import MOST_WIDTH, check_map
from ghr.nn.readout.base import Readout, ReadoutInput


class EdgeReadout(Readout):
    r"""One prediction per edge from the states of its two ends and its feature.

    .. math::
        \hat y_{ij} = W \big[ h_i \,\|\, h_j \,\|\, e_{ij} \big] + b

    There is one prediction per column of ``edge_index``; the two directions of an undirected edge have one each.

    Args:
        channels: Width :math:`d` of the node states.
        out_channels: Width :math:`C` of the predictions.
        edge_dim: Width of the encoded edge features; ``None`` for the two ends alone.
        layers: ``1`` for a linear map, ``2`` for an MLP.

    Shapes:
        - **output:** :math:`(E, C)`
    """

    def __init__(self, channels: int, out_channels: int, *, edge_dim: int | None = None, layers: int = 1) -> None:
        if edge_dim is not None:
            edge_dim = check_whole("edge_dim", edge_dim, most=MOST_WIDTH, also=", or None for no edge features")
            check_map("edge_dim", edge_dim, 1)
        super().__init__(2 * check_whole("channels", channels) + (edge_dim or 0), channels, out_channels, layers)
        self.edge_dim = edge_dim

    def rows(self, given: ReadoutInput) -> Tensor:
        """Return source state, target state and edge feature side by side."""
        source, target = given.edge_index
        parts = [given.state.index_select(0, source), given.state.index_select(0, target)]
        if self.edge_dim is not None:
            if given.edge_attr is None:
                raise ValueError(f"EdgeReadout(edge_dim={self.edge_dim}) reads edge features, but the model has none.")
            parts.append(given.edge_attr.expand(source.numel(), -1))  # one row may stand for all edges
        return torch.cat(parts, dim=1)
