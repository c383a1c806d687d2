"""The weights of one level of the hierarchy."""

from torch import Tensor, nn

from ghr.hierarchy.data import Level, at_hand
from ghr.models.inputs import dtype_of
from ghr.models.state import INITIAL_STATES
from ghr.nn.conv import Conv, ConvLike, Edges, edge_encoder, make_conv
from ghr.nn.encoder import CodeEncoder, Width, check_features, check_width, count_columns


class EdgeEncoder(nn.Module):
    r"""Maps the raw edge features of a level to what its message passing reads, :math:`e \gets W_e\, e`.

    Args:
        conv: The message passing.
        edge_dim: Width of the raw features, or the sizes of columns of codes; ``None`` without any.
        channels: Width of the states.
    """

    def __init__(self, conv: ConvLike, edge_dim: Width | None, channels: int) -> None:
        super().__init__()
        self.edge_dim = None if edge_dim is None else check_width("edge_dim", edge_dim)
        self.out_channels: int | None = None
        if isinstance(self.edge_dim, int):
            self.map, self.out_channels = edge_encoder(conv, self.edge_dim, channels)
        elif self.edge_dim is not None:
            after, self.out_channels = edge_encoder(conv, channels, channels)
            self.map = nn.Sequential(CodeEncoder(self.edge_dim, channels), after)

    def forward(self, level: Level, name: str) -> Tensor | None:
        """Encode the edges of a level, one row if they are all alike; `name` says which level in an error."""
        if self.edge_dim is None:
            return None
        value, wanted = level.edge_attr, count_columns(self.edge_dim)
        if value is None or value.size(1) != wanted:
            found = "no edge features" if value is None else f"{value.size(1)} edge features"
            raise ValueError(
                f"{name} has {found}, but the model was built for {wanted}; set edge_dim (and coarse_edge_dim) to "
                "match the data."
            )
        where = f"edge_attr of {name[0].lower()}{name[1:]}"
        value = check_features(where, value, self.edge_dim, dtype_of(self), look=at_hand(value))
        rows = value[:1] if all_alike(value) else value
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
        edge_dim: Width of the raw edge features, or the sizes of columns of codes; ``None`` without any.
        initial_state: ``"learned"`` or ``"random"``.
    """

    def __init__(self, channels: int, conv: ConvLike, edge_dim: Width | None, initial_state: str) -> None:
        super().__init__()
        self.edge_encoder = EdgeEncoder(conv, edge_dim, channels)
        self.norm = nn.RMSNorm(channels, eps=1e-6)
        self.conv = make_conv(conv, channels, self.edge_encoder.out_channels)
        self.initial = INITIAL_STATES[initial_state](channels)

    def forward(self, state: Tensor, injection: Tensor, edges: Edges, updates: int = 1) -> tuple[Tensor, Edges]:
        """Return the state after `updates` updates and the edges for the next one."""
        return self.conv.iterate(self.norm, state, injection, edges, updates)
