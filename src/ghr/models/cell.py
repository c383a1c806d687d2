"""The weights of one level of the hierarchy."""

from torch import Tensor, nn

from ghr.hierarchy import Level
from ghr.models.inputs import check_dtype, check_positive
from ghr.models.state import INITIAL_STATES
from ghr.nn.conv import ConvLike, Edges, edge_encoder, make_conv


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
        """Encode the edges of a level; `name` says which level in an error."""
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
        return self.map(level.edge_attr)  # type: ignore[no-any-return]


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

    def forward(self, state: Tensor, injection: Tensor, edges: Edges) -> tuple[Tensor, Edges]:
        """Return the updated state and the edges for the next update."""
        change, edges = self.conv.propagate(self.norm(state) + injection, edges)
        return state + change, edges
