"""The weights of one level of the hierarchy."""

from torch import Tensor, nn

from ghr.hierarchy.data import Level, at_hand
from ghr.models.inputs import check_dtype, check_positive
from ghr.models.state import INITIAL_STATES
from ghr.nn.conv import Conv, ConvLike, Edges, edge_encoder, make_conv


class EdgeEncoder(nn.Module):
    r"""Maps the raw edge features of a level to what its message passing reads, :math:`e \gets W_e\, e`.

    Args:
        conv: The message passing.
        edge_dim: Width of the raw features; ``None`` without any.
        channels: Width of the states.
    """

    def __init__(self, conv: ConvLike, edge_dim: int | None, channels: int) -> None:
        super().__init__()
        self.edge_dim = edge_dim
        self.out_channels: int | None = None
        if edge_dim is not None:
            check_positive("edge_dim", edge_dim)
            self.map, self.out_channels = edge_encoder(conv, edge_dim, channels)

    def forward(self, level: Level, name: str) -> Tensor | None:
        """Encode the edges of a level, one row if they are all alike; `name` says which level in an error."""
        if self.edge_dim is None:
            return None
        width = None if level.edge_attr is None else level.edge_attr.size(1)
        if width != self.edge_dim:
            raise ValueError(
                f"{name} has {'no edge features' if width is None else f'{width} edge features'}, but the model was "
                f"built for {self.edge_dim}; set edge_dim (and coarse_edge_dim) to match the data."
            )
        assert level.edge_attr is not None
        check_dtype(f"edge_attr of {name[0].lower()}{name[1:]}", level.edge_attr, self)
        rows = level.edge_attr[:1] if all_alike(level.edge_attr) else level.edge_attr
        return self.map(rows)  # type: ignore[no-any-return]


def prepare_edges(conv: Conv, level: Level, encoded: Tensor | None) -> Edges:
    """Hand a layer the edges of a level with their encoded features, as many rows of these as it wants."""
    if encoded is not None and not conv.one_row_for_all_edges:
        encoded = encoded.expand(level.edge_index.size(1), -1)
    return conv.prepare(level.edge_index, encoded, level.num_nodes)


def all_alike(edge_attr: Tensor) -> bool:
    """Whether one row of features may stand for all edges; only asked where looking at values is cheap.

    Never where a gradient is asked for: that of every edge is its own, even where the features are the same.
    """
    if not at_hand(edge_attr) or edge_attr.requires_grad or edge_attr.size(0) == 0:
        return False
    return bool((edge_attr == edge_attr[:1]).all())


class LevelCell(nn.Module):
    r"""One residual update of a level, :math:`g \gets g + \mathrm{MP}_W(\mathrm{RMSNorm}(g) + z, e)`.

    Args:
        channels: Width :math:`d` of the state.
        conv: Message passing.
        edge_dim: Width of the raw edge features; ``None`` without any.
        initial_state: ``"learned"`` or ``"random"``.
    """

    def __init__(self, channels: int, conv: ConvLike, edge_dim: int | None, initial_state: str) -> None:
        super().__init__()
        self.edge_encoder = EdgeEncoder(conv, edge_dim, channels)
        self.norm = nn.RMSNorm(channels, eps=1e-6)
        self.conv = make_conv(conv, channels, self.edge_encoder.out_channels)
        self.initial = INITIAL_STATES[initial_state](channels)

    def forward(self, state: Tensor, injection: Tensor, edges: Edges, turns: int = 1) -> tuple[Tensor, Edges]:
        """Return the state after `turns` updates and the edges for the next one."""
        return self.conv.iterate(self.norm, state, injection, edges, turns)
