"""Message passing without norm and activation, for stacks that bring their own."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch_geometric.nn import GATv2Conv, GINConv, PNAConv, SAGEConv, TransformerConv

from ghr.checks import check_choice
from ghr.nn.conv.base import Conv, Edges
from ghr.nn.conv.gated_sum import GatedSum
from ghr.nn.conv.gcn import GCN, normalise, positive_weight_encoder, weighted_sum
from ghr.nn.conv.gine import GINE
from ghr.nn.mlp import MLP
from ghr.nn.reset import reset_children
from ghr.ops import aggregate_sum

AGGREGATORS = ["mean", "min", "max", "std"]
SCALERS = ["identity", "amplification", "attenuation"]
Builder = Callable[..., nn.Module]  # PyG's own classes look abstract to a type checker


class BareGCN(GCN):
    r"""The map of GCN, :math:`X' = \tilde D^{-1/2} \tilde A \tilde D^{-1/2} X W + b`.

    Edge features enter as one learned positive weight per edge, :math:`\mathrm{softplus}(v^\top e + c)`.

    Args:
        channels: Width :math:`d` of the node states.
        edge_dim: Width of the edge features; ``None`` for weight one.
    """

    def __init__(self, channels: int, edge_dim: int | None = None) -> None:
        super().__init__(channels, edge_dim)
        self.weigh = None if edge_dim is None else positive_weight_encoder(edge_dim)[0]

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)
        super().reset_parameters()

    def prepare(self, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int) -> Edges:
        """Weigh the edges and normalise the weights, once for all layers of a stack."""
        weight = None if self.weigh is None else self.weigh(edge_attr)
        return normalise(edge_index, weight, num_nodes, self.linear.weight.dtype)

    def propagate(self, x: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
        """Aggregate and map."""
        return self.linear(weighted_sum(x, edges)), edges


class BareGINE(GINE):
    """GINE that reads the features of the edges as they are encoded, so that one stack prepares them once.

    Args:
        channels: Width of the node states.
        edge_dim: Width of the edge features; ``None`` for messages without them.
    """

    def prepare(self, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int) -> Edges:
        """Return edges and features as they are."""
        return Edges(edge_index, edge_attr)

    def propagate(self, x: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
        """Project the features, aggregate and update."""
        if self.edge is None:
            return super().propagate(x, Edges(edges.edge_index, None))[0], edges
        assert edges.attr is not None
        source, target = edges.edge_index
        message = (x + self.edge.bias).index_select(0, source).addmm_(edges.attr, self.edge.weight.t()).relu_()
        return self.update((1 + self.epsilon) * x + aggregate_sum(message, target, x.size(0))), edges


class PyGConv(Conv):
    """A layer of PyTorch Geometric, ``(x, edge_index[, edge_attr]) -> x``.

    Args:
        module: The layer.
        channels: Width of the node states.
        edge_dim: Width of the edge features that the layer takes; ``None`` if it takes none.
    """

    def __init__(self, module: nn.Module, channels: int, edge_dim: int | None = None) -> None:
        super().__init__(channels, edge_dim)
        self.module = module

    def prepare(self, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int) -> Edges:
        """Return the edges, and their features if the layer takes them."""
        return Edges(edge_index, None if self.edge_dim is None else edge_attr)

    def propagate(self, x: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
        """Call the layer."""
        given = () if edges.attr is None else (edges.attr,)
        return self.module(x, edges.edge_index, *given), edges

    def __repr__(self) -> str:
        return f"PyGConv({self.module!r})"


class BareOptions(NamedTuple):
    """What a layer may need to know.

    Attributes:
        channels: Width of the node states.
        edge_dim: Width of the encoded edge features; ``None`` without any.
        heads: Heads of the attention, where there is one.
        degrees: How many nodes have 0, 1, 2, ... incoming edges, for PNA.
    """

    channels: int
    edge_dim: int | None = None
    heads: int = 1
    degrees: Sequence[int] | None = None


def _make_gin(options: BareOptions) -> Conv:
    width, make = options.channels, cast(Builder, GINConv)
    return PyGConv(make(MLP(width, width, width), train_eps=True), width)


def _make_sage(options: BareOptions) -> Conv:
    width, make = options.channels, cast(Builder, SAGEConv)
    return PyGConv(make(width, width), width)


def _attend(layer: Builder) -> Callable[[BareOptions], Conv]:
    def make(options: BareOptions) -> Conv:
        width, edge_dim, heads, _ = options
        if width % heads:
            raise ValueError(f"hidden_channels must be a multiple of heads={heads}; got {width}.")
        return PyGConv(layer(width, width // heads, heads=heads, edge_dim=edge_dim), width, edge_dim)

    return make


def _make_pna(options: BareOptions) -> Conv:
    (width, edge_dim, _, degrees), make = options, cast(Builder, PNAConv)
    if degrees is None:
        raise ValueError(
            "PNA needs degrees, how many nodes have 0, 1, 2, ... incoming edges; for_data reads them off the graphs."
        )
    count = torch.tensor(degrees if any(degrees[1:]) else [0, 1])  # without any edge there is nothing to scale by
    return PyGConv(make(width, width, AGGREGATORS, SCALERS, count, edge_dim=edge_dim), width, edge_dim)


BARE_CONVS: dict[str, Callable[[BareOptions], Conv]] = {
    "gcn": lambda options: BareGCN(options.channels, options.edge_dim),
    "gin": _make_gin,
    "gine": lambda options: BareGINE(options.channels, options.edge_dim),
    "gat": _attend(cast(Builder, GATv2Conv)),
    "gated_gcn": lambda options: GatedSum(options.channels, options.edge_dim),
    "sage": _make_sage,
    "pna": _make_pna,
    "transformer": _attend(cast(Builder, TransformerConv)),
}
WITHOUT_EDGE_FEATURES = ("gin", "sage")
WITH_HEADS = ("gat", "transformer")
WITH_ONE_WEIGHT = ("gcn",)  # the first layer weighs the edges for all


def make_bare_convs(conv: str, options: BareOptions, count: int) -> list[Conv]:
    """Return the layers of a stack; the first of them prepares the edges for all.

    Args:
        conv: A name in :data:`BARE_CONVS`.
        options: What the layers need to know.
        count: Number of layers.
    """
    make = BARE_CONVS[check_choice("conv", conv, BARE_CONVS)]
    rest = options._replace(edge_dim=None) if conv in WITH_ONE_WEIGHT else options
    return [make(options if number == 0 else rest) for number in range(count)]
