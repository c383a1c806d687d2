"""One layer of a plain stack."""

from typing import cast

from torch import Tensor, nn

from ghr.nn.activation import make_activation
from ghr.nn.conv.bare import BareOptions, make_bare_convs
from ghr.nn.conv.base import Conv, Edges
from ghr.nn.norm import make_norm
from ghr.nn.reset import reset_children


class Layer(nn.Module):
    r"""Message passing, then a norm, an activation and dropout.

    .. math::
        h' = \mathrm{Drop}\big( \mathrm{act}( \mathrm{Norm}( \mathrm{conv}(h, e) ) ) \big) \quad [\; + h \;]

    Where the message passing updates the edges, as GatedGCN does, their states follow the same equation.

    Args:
        conv: The message passing.
        norm: ``None``, ``"batch"`` or ``"layer"``.
        act: A name in :data:`~ghr.nn.activation.ACTIVATIONS`.
        dropout: Probability of dropping an entry.
        residual: Whether the state before is added.
        hand_on: Whether a next layer reads the states of the edges.

    Shapes:
        - **state:** :math:`(N, d)`
        - **output:** :math:`(N, d)`, and the edges for the next layer
    """

    def __init__(
        self, conv: Conv, *, norm: str | None, act: str, dropout: float, residual: bool, hand_on: bool = False
    ) -> None:
        super().__init__()
        self.conv, self.residual = conv, residual
        self.norm = make_norm(norm, conv.channels)
        self.edge_norm = make_norm(norm, conv.channels) if hand_on else None
        self.act, self.dropout = make_activation(act), nn.Dropout(dropout)

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)

    def forward(self, state: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
        """Return the new states of the nodes, and the edges for the next layer."""
        out, renewed = self.conv.propagate(state, edges)
        if self.edge_norm is not None and renewed.attr is not None:
            edges = edges._replace(attr=self._finish(self.edge_norm, edges.attr, renewed.attr))
        return self._finish(self.norm, state, out), edges

    def _finish(self, norm: nn.Module, before: Tensor | None, new: Tensor) -> Tensor:
        new = self.dropout(self.act(norm(new)))
        return before + new if self.residual and before is not None else new

    def __repr__(self) -> str:
        return f"Layer({self.conv!r}, {self.norm!r}, {self.act!r}, residual={self.residual})"


def make_layers(
    conv: str, options: BareOptions, count: int, *, norm: str | None, act: str, dropout: float, residual: bool
) -> nn.ModuleList:
    """Return the layers of a stack; arguments are those of :class:`Layer`."""
    convs = make_bare_convs(conv, options, count)
    handed = [conv == "gated_gcn" and number + 1 < count for number in range(count)]
    return nn.ModuleList(
        Layer(layer, norm=norm, act=act, dropout=dropout, residual=residual, hand_on=hand_on)
        for layer, hand_on in zip(convs, handed, strict=True)
    )


def prepare_layers(layers: nn.ModuleList, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int) -> Edges:
    """Return the edges as all layers of a stack read them, prepared by the first."""
    return cast(Layer, layers[0]).conv.prepare(edge_index, edge_attr, num_nodes)
