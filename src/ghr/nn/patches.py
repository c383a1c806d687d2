"""The parts of a graph transformer over patches: which node is in which, how they overlap, and how they mix."""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ghr.nn.conv.gine import GINE
from ghr.nn.reset import reset_children
from ghr.ops import pool


class PatchCopies(NamedTuple):
    r"""A batch of graphs in which every patch has copies of its nodes, and of the edges among them.

    Attributes:
        node: Node that every copy is of :math:`(M)`.
        patch: Patch that every copy is in :math:`(M)`, among the patches that are not empty.
        filled: Which patches these are :math:`(T)`, among :math:`P` for every graph.
        edge_index: Edges among copies of the same patch :math:`(2, E')`.
        edge: Edge of the graph that each of these is :math:`(E')`.
    """

    node: Tensor
    patch: Tensor
    filled: Tensor
    edge_index: Tensor
    edge: Tensor


def copy_patches(member: Tensor, edge_index: Tensor, batch: Tensor) -> PatchCopies:
    r"""Copy every node into all of its patches; an edge is where both of its ends are.

    Shapes:
        - **member:** :math:`(N, P)` truth values
        - **edge_index:** :math:`(2, E)`
        - **batch:** :math:`(N)`
    """
    source, target = edge_index
    node, own = member.nonzero().unbind(1)
    number = member.new_full(member.shape, -1, dtype=torch.long)
    number[node, own] = torch.arange(node.numel(), device=node.device)
    edge, where = (member[source] & member[target]).nonzero().unbind(1)
    inside = torch.stack([number[source[edge], where], number[target[edge], where]])
    filled, patch = torch.unique(batch[node] * member.size(1) + own, return_inverse=True)
    return PatchCopies(node, patch, filled, inside, edge)


def overlap(member: Tensor, batch: Tensor, num_graphs: int) -> Tensor:
    r"""Return how many nodes any two patches of a graph share, the adjacency :math:`C` of patches.

    Shapes:
        - **output:** :math:`(B, P, P)` whole numbers as real ones
    """
    sizes = torch.bincount(batch, minlength=num_graphs).tolist()
    parts = torch.split(member.to(torch.get_default_dtype()), sizes)
    return torch.stack([part.T @ part for part in parts])


def patch_walks(adjacency: Tensor, steps: int) -> Tensor:
    r"""Return the chances that a random walk over overlapping patches is back after 1, 2, ... steps.

    Shapes:
        - **adjacency:** :math:`(B, P, P)`
        - **output:** :math:`(B, P, K)`
    """
    walk = random_walk(adjacency)
    power, chances = walk, []
    for _ in range(steps):
        chances.append(power.diagonal(dim1=1, dim2=2))
        power = power @ walk
    return torch.stack(chances, dim=2)


def random_walk(adjacency: Tensor) -> Tensor:
    """Return an adjacency whose rows add up to one; those of zeros stay."""
    return adjacency / adjacency.sum(dim=2, keepdim=True).clamp(min=1)


class NormalisedGINE(GINE):
    """GINE whose MLP has a batch norm between its two maps."""

    @staticmethod
    def make_update(channels: int) -> nn.Module:
        """Return the block that follows the sum."""
        return nn.Sequential(
            nn.Linear(channels, channels), nn.BatchNorm1d(channels), nn.ReLU(), nn.Linear(channels, channels)
        )


class NormalisedMap(nn.Sequential):
    """A linear map without bias, batch norm and ReLU."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(nn.Linear(in_channels, out_channels, bias=False), nn.BatchNorm1d(out_channels), nn.ReLU())


class PatchLayer(nn.Module):
    r"""One layer of message passing inside the patches.

    .. math::
        x_c \gets \operatorname{mean}_{c' \sim c}\big( x_{c'} + U \operatorname{mean}_{c'' \in p(c')} x_{c''} \big),
        \qquad x \gets W \big( x + \mathrm{ReLU}( \mathrm{BatchNorm}( \mathrm{GINE}(x, e) ) ) \big) + b

    where :math:`c' \sim c` are the copies of the same node, and :math:`p(c)` the patch of a copy; a first layer starts
    with the second half.

    Args:
        channels: Width :math:`d`.
        edge_dim: Width of the encoded edge features; ``None`` without any.
        dropout: Probability of dropping an entry of what is added.
        exchange: Whether patches exchange what they have at first.
    """

    def __init__(self, channels: int, edge_dim: int | None, *, dropout: float, exchange: bool) -> None:
        super().__init__()
        self.patch_map = NormalisedMap(channels, channels) if exchange else None
        self.conv = NormalisedGINE(channels, edge_dim)
        self.norm = nn.BatchNorm1d(channels)
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(channels, channels)

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)

    def forward(self, x: Tensor, copies: PatchCopies, edge_attr: Tensor | None, num_nodes: int) -> Tensor:
        """Update the copies."""
        if self.patch_map is not None:
            x = x + self.patch_map(pool(x, copies.patch, copies.filled.numel(), "mean"))[copies.patch]
            x = pool(x, copies.node, num_nodes, "mean")[copies.node]
        change = self.dropout(self.norm(self.conv(x, copies.edge_index, edge_attr)).relu())
        return self.linear(x + change)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"PatchLayer({self.conv!r}, exchange={self.patch_map is not None})"


class HadamardMixer(nn.Module):
    r"""A transformer layer over the patches of a graph, whose attention is multiplied by how much they overlap.

    .. math::
        X \gets X + O\, \big( C \odot \mathrm{softmax}( Q K^\top / \sqrt{d_h} ) \big) V, \qquad
        X \gets X + \mathrm{FFN}(\mathrm{LayerNorm}(X))

    with :math:`Q, K, V` from :math:`\mathrm{LayerNorm}(X)`.

    Args:
        channels: Width :math:`d`, a multiple of ``heads``.
        heads: Number of heads.
        dropout: Probability of dropping an entry of what is added.

    Shapes:
        - **tokens, output:** :math:`(B, P, d)`
        - **adjacency:** :math:`C`, :math:`(B, P, P)`
        - **there:** :math:`(B, P)`, which patches are not empty; others are not read
    """

    def __init__(self, channels: int, heads: int, *, dropout: float) -> None:
        super().__init__()
        if channels % heads:
            raise ValueError(f"hidden_channels must be a multiple of heads={heads}; got {channels}.")
        self.channels, self.heads = channels, heads
        self.norm, self.ffn_norm = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.query, self.key, self.value, self.out = (nn.Linear(channels, channels) for _ in range(4))
        self.ffn = nn.Sequential(nn.Linear(channels, 2 * channels), nn.ReLU(), nn.Linear(2 * channels, channels))
        self.dropout = nn.Dropout(dropout)
        self._reset_own()

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)
        self._reset_own()

    def _reset_own(self) -> None:
        for linear in (self.query, self.key, self.value):
            nn.init.xavier_uniform_(linear.weight, gain=1 / math.sqrt(2))

    def forward(self, tokens: Tensor, adjacency: Tensor, there: Tensor) -> Tensor:
        """Mix the tokens."""
        normed = self.norm(tokens)
        query, key, value = (self._split(linear(normed)) for linear in (self.query, self.key, self.value))
        score = query @ key.transpose(2, 3) / math.sqrt(query.size(3))
        weight = score.masked_fill(~there[:, None, None, :], -torch.inf).softmax(dim=3) * adjacency.unsqueeze(1)
        tokens = tokens + self.dropout(self.out((weight @ value).transpose(1, 2).flatten(2)))
        return tokens + self.dropout(self.ffn(self.ffn_norm(tokens)))  # type: ignore[no-any-return]

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def __repr__(self) -> str:
        return f"HadamardMixer({self.channels}, heads={self.heads})"
