"""The weights of one level of the hierarchy, and how they update its state."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from ghr.hierarchy.data import Level, at_hand
from ghr.models.inputs import dtype_of
from ghr.models.state import INITIAL_STATES
from ghr.nn.conv import Conv, ConvLike, Edges, edge_encoder, make_conv
from ghr.nn.encoder import CodeEncoder, Width, check_features, check_map, check_width, count_columns
from ghr.ops import Above, Members, Pool, add_unpooled, pool_normalised


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
        if self.edge_dim is not None:
            check_map("edge_dim", self.edge_dim, channels)
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
        value = check_level_features(level, name, self.edge_dim, dtype_of(self))
        rows = value[:1] if all_alike(value) else value
        return self.map(rows)  # type: ignore[no-any-return]


def check_level_features(level: Level, name: str, edge_dim: Width, dtype: torch.dtype) -> Tensor:
    """Return the raw edge features of a level, or raise a ValueError if a model was built for others."""
    value, wanted = level.edge_attr, count_columns(edge_dim)
    if value is None or value.size(1) != wanted:
        found = "no edge features" if value is None else f"{value.size(1)} edge features"
        raise ValueError(
            f"{name} has {found}, but the model was built for {wanted}; set edge_dim (and coarse_edge_dim) to "
            "match the data."
        )
    return check_features(f"edge_attr of {name[0].lower()}{name[1:]}", value, edge_dim, dtype, look=at_hand(value))


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

    def repeat(self, given: "LevelState", injection: Tensor, above: Above | None, updates: int) -> "LevelState":
        """Do the same where nodes also add what is above them."""
        state, edges, own = given
        return LevelState(*self.conv.iterate_below(self.norm, state, injection, above, edges, updates, own=own), own)


class LevelState(NamedTuple):
    """The state of a level within a global step.

    Attributes:
        state: Of the nodes :math:`(N_k, d)`.
        edges: Prepared edges; a layer that updates its edges starts from them again at every global step.
        own: Whether nobody holds the state but the step, so that without gradients it may be written over.
    """

    state: Tensor
    edges: Edges
    own: bool = False


class LevelCellUpdate:
    r"""The update of one level of a batch, :math:`g \gets g + \mathrm{MP}_W(\hat g + \text{below} + \text{above}, e)`.

    Args:
        cell: The weights of the level.
        level: The level.
        below: At a coarse level, the weights of the level below, and its nodes sorted by cluster where kernels compute.
        pool: How a cluster reads its members.
        above: Below the top, the map :math:`W''`, the level above and its members.
        x: At the finest level, the encoded input :math:`f_L`.
        time: At the finest level of a model that is told the step, the map :math:`W^{time}`.
    """

    def __init__(
        self,
        cell: LevelCell,
        level: Level,
        below: tuple[LevelCell, Members | None] | None,
        pool: Pool,
        above: tuple[nn.Module, Level, Members | None] | None,
        x: Tensor | None,
        time: nn.Module | None,
    ) -> None:
        self.cell, self.level, self.below, self.pool = cell, level, below, pool
        self.above, self.x, self.time = above, x, time

    def read_above(self, above: LevelState) -> Above:
        """Return what is added from above: projected before it is unpooled, since clusters are fewer than members."""
        if self.above is None:
            raise ValueError("Nothing is above the coarsest level.")
        return self.read_projected(self.above[0](above.state))

    def read_projected(self, above: Tensor) -> Above:
        r"""Return what is added from above, of states that :math:`W''` has mapped already."""
        if self.above is None:
            raise ValueError("Nothing is above the coarsest level.")
        _, level, members = self.above
        return Above(above, level.clusters, members)

    def read_below(self, below: LevelState) -> Tensor:
        """Return the pooled normalised states of the members."""
        if self.below is None:
            raise ValueError("Nothing is below the finest level.")
        cell, members = self.below
        return pool_normalised(below.state, cell.norm, self.level.clusters, self.level.num_nodes, self.pool, members)

    def update(self, state: LevelState, above: Above | None, below: Tensor) -> LevelState:
        """Update a coarse level once."""
        injection = below if above is None else add_unpooled(below, *above)
        return LevelState(*self.cell(state.state, injection, state.edges))

    def repeat(self, state: LevelState, above: Above | None, updates: int, outer: int, first: int = 1) -> LevelState:
        """Update the graph itself; the input and the state from above stay the same all the while."""
        if self.x is None:
            raise ValueError("The finest level needs the encoded input.")
        if self.time is None:
            return self.cell.repeat(state, self.x, above, updates)
        fixed = self.x if above is None else add_unpooled(self.x, *above)
        for inner in range(first, first + updates):
            injection = fixed + self.time(_pair(fixed, outer, inner))
            state = LevelState(*self.cell(state.state, injection, state.edges))
        return state


def _pair(like: Tensor, one: int, other: int) -> Tensor:
    """Return two numbers as a tensor, made where `like` is: a list would be copied there, for which a GPU stalls."""
    return torch.cat([like.new_full((1,), one), like.new_full((1,), other)])
