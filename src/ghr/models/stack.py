"""Plain stacks of message passing layers, as the literature compares with them."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from ghr.checks import check_choice, check_flag, check_whole, show
from ghr.hierarchy.data import check_edges, levels_of
from ghr.models.inputs import MOST_LAYERS, Widths
from ghr.models.network import LayerInput, Network, check_dropout
from ghr.nn.conv.bare import BARE_CONVS, WITH_HEADS, WITHOUT_EDGE_FEATURES, BareOptions
from ghr.nn.encoder import Width, check_width
from ghr.nn.layer import make_layers, prepare_layers
from ghr.nn.readout import GraphReadout, NodeReadout, Readout

JUMPS = (None, "cat", "max")


class Stack(Network):
    r"""A stack of distinct message passing layers, each with a norm, an activation and dropout behind it.

    .. math::
        h^{(0)} = W_n x, \qquad h^{(l)} = \mathrm{Drop}\big( \mathrm{act}( \mathrm{Norm}( \mathrm{conv}_l(h^{(l-1)}, e)
        ) ) \big) \quad [\; + h^{(l-1)} \;], \qquad l = 1, \dots, L

    It reaches exactly :math:`L` hops. The input enters once, unlike in :class:`~ghr.DeepGNN`. With ``"gated_gcn"`` the
    edges have states too, which follow the same equation from layer to layer.

    ``"gine"``, ``"gat"``, ``"gated_gcn"``, ``"pna"`` and ``"transformer"`` read the edge features. ``"gcn"`` reads them
    as one learned positive weight per edge, the same in all layers; its self loops have weight one. ``"gin"`` and
    ``"sage"`` have no place for them: only a readout on edges then sees them.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`d` of the states.
        out_channels: Width of a prediction.
        layers: Number of layers :math:`L`.
        conv: ``"gcn"``, ``"gin"``, ``"gine"``, ``"gat"`` (GATv2), ``"gated_gcn"``, ``"sage"``, ``"pna"`` or
            ``"transformer"``.
        residual: Whether the state before a layer is added behind it.
        norm: ``"batch"``, ``"layer"`` or ``None``. A batch norm cannot be trained on a single node.
        dropout: Probability of dropping an entry, in ``[0, 1)``.
        jumping: What the readout reads: ``None`` for the last states, ``"cat"`` for those of all layers side by side,
            ``"max"`` for their maximum.
        act: ``"relu"``, ``"leaky_relu"``, ``"elu"``, ``"gelu"``, ``"silu"`` or ``"tanh"``.
        heads: Heads of ``"gat"`` and ``"transformer"``, whose width must be a multiple of it; others have none.
        degrees: How many nodes have 0, 1, 2, ... incoming edges, which ``"pna"`` needs; read off the data by
            :meth:`for_data`.
        edge_dim: Width of the edge features; ``None`` if there are none or they shall not be used.
        readout: As in :class:`~ghr.GHR`.

    Shapes:
        - **input:** a (batch of) graphs with ``x`` of shape :math:`(N, \text{in\_channels})`
        - **output:** as of :class:`~ghr.GHR`
    """

    def __init__(
        self,
        in_channels: Width,
        hidden_channels: int,
        out_channels: int,
        *,
        layers: int = 5,
        conv: str = "gcn",
        residual: bool = False,
        norm: str | None = "batch",
        dropout: float = 0.0,
        jumping: str | None = None,
        act: str = "relu",
        heads: int = 2,
        degrees: Sequence[int] | None = None,
        edge_dim: Width | None = None,
        readout: str | Readout = "node",
    ) -> None:
        conv, layers = check_choice("conv", conv, BARE_CONVS), check_whole("layers", layers, most=MOST_LAYERS)
        jumping, residual = check_choice("jumping", jumping, JUMPS), check_flag("residual", residual)
        dropout, heads, degrees = check_dropout(dropout), check_whole("heads", heads), check_degrees(degrees)
        if conv in WITHOUT_EDGE_FEATURES:
            edge_dim = drop_unread(edge_dim, readout)
        width = check_whole("hidden_channels", hidden_channels)
        super().__init__(
            in_channels,
            width,
            out_channels,
            edge_dim=edge_dim,
            readout=readout,
            state_channels=layers * width if jumping == "cat" else None,
            layers=layers,
            conv=conv,
            residual=residual,
            norm=norm,
            dropout=dropout,
            jumping=jumping,
            act=act,
            heads=heads,
            degrees=degrees,
        )
        options = BareOptions(self.channels, self.edge_width, heads, degrees)
        self.layers = make_layers(conv, options, layers, norm=norm, act=act, dropout=dropout, residual=residual)
        self.jumping = jumping

    @classmethod
    def width_multiple(cls, options: Mapping[str, Any]) -> int:
        """Return the number of heads, of a stack that has them."""
        return check_whole("heads", options.get("heads", 2)) if options.get("conv", "gcn") in WITH_HEADS else 1

    @classmethod
    def _fit_width(cls, widths: Widths, options: Mapping[str, Any], example: Any, budget: int) -> int:
        """Return the width with which the stack has as many parameters as wanted; degrees are counted once."""
        return super()._fit_width(widths, _complete(options, example), example, budget)

    @classmethod
    def _arguments(cls, widths: Widths, options: Mapping[str, Any], example: Any) -> dict[str, Any]:
        """Return all arguments of the constructor, the degrees of the nodes among them where they are needed."""
        return super()._arguments(widths, _complete(options, example), example)

    def run(self, state: Tensor, graph: LayerInput) -> Tensor:
        """Return the states that are read."""
        edges = prepare_layers(self.layers, graph.edge_index, graph.edge_attr, state.size(0))
        states = []
        for layer in self.layers:
            state, edges = layer(state, edges)
            states.append(state)
        if self.jumping == "cat":
            return torch.cat(states, dim=1)
        return state if self.jumping is None else torch.stack(states).amax(dim=0)


def count_degrees(example: Any) -> list[int]:
    """Return how many nodes of a graph, or of a sequence of graphs, have 0, 1, 2, ... incoming edges.

    Of a sequence that also holds graphs for the test, only its ``training_part`` counts.
    """
    graphs: Any = [example] if isinstance(example, Data) else getattr(example, "training_part", example)
    total = torch.zeros(1, dtype=torch.long)
    for index in range(len(graphs)):
        graph = graphs[index]
        if not isinstance(graph, Data):
            raise ValueError(f"A data set holds graphs of PyTorch Geometric; number {index} is {show(graph)}.")
        level = levels_of(graph)[0]
        check_edges(level.edge_index, level.num_nodes)
        count = level.edge_index[1].cpu().bincount(minlength=level.num_nodes).bincount(minlength=len(total))
        count[: len(total)] += total
        total = count
    counts: list[int] = total.tolist()
    return counts


def check_degrees(degrees: Any) -> list[int] | None:
    """Return how many nodes have 0, 1, 2, ... incoming edges, or raise a ValueError."""
    if degrees is None:
        return None
    if not isinstance(degrees, list | tuple) or not degrees:
        raise ValueError(
            f"degrees must list how many nodes have 0, 1, 2, ... incoming edges, or be None; got {show(degrees)}."
        )
    return [check_whole("A number in degrees", count, 0) for count in degrees]


def drop_unread(edge_dim: Width | None, readout: Any) -> int | list[int] | None:
    """Return the width of the edge features of layers that read none: ``None``, unless the readout may read them."""
    on_edges = isinstance(readout, str) and readout.startswith("edge")
    unread = (isinstance(readout, str) and not on_edges) or isinstance(readout, NodeReadout | GraphReadout)
    return None if unread or edge_dim is None else check_width("edge_dim", edge_dim)


def _complete(options: Mapping[str, Any], example: Any) -> dict[str, Any]:
    wanted = options.get("conv") == "pna" and options.get("degrees") is None
    return {**options, "degrees": count_degrees(example)} if wanted else dict(options)
