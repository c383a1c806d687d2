"""Overlapping pieces of a graph, for models that read a graph as a few tokens."""

import heapq
import math

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from ghr.checks import check_whole
from ghr.hierarchy.graclus import Graclus
from ghr.transforms.walk import read_graph

MOST_PATCHES = 4096


class Patches(BaseTransform):
    r"""Cut a graph into at most so many connected pieces of about one size, and let each grow by its neighbours.

    Pieces begin as the clusters of :class:`~ghr.Graclus`, of at most half the wanted size. Then the smallest piece
    joins its smallest neighbour, or without a neighbour the smallest of all, until there are as many as wanted. A graph
    with fewer nodes than patches has one node in each, and the patches that are left stay empty. At last every patch
    takes in the nodes that are up to ``hops`` edges away, whatever the direction; so patches overlap.

    The pieces depend on the numbering of the nodes, as those of Graclus do. A graph always gets the same.

    Args:
        count: Number of patches :math:`P`.
        hops: By how many edges patches grow.
        seed: Seed of Graclus.
        name: Attribute that tells which nodes are in which patches. It is one row per node, so a batch needs no shift.

    Shapes:
        - **output:** :math:`(N, P)` truth values
    """

    def __init__(self, count: int, *, hops: int = 1, seed: int = 0, name: str = "patches") -> None:
        self.count = check_whole("count", count, most=MOST_PATCHES)
        self.hops, self.seed = check_whole("hops", hops, 0), check_whole("seed", seed, 0)
        self.name = name

    def forward(self, data: Data) -> Data:
        """Return the graph with its patches."""
        edge_index, num_nodes = read_graph(data)
        source, target = edge_index
        member = torch.zeros(num_nodes, self.count, dtype=torch.bool, device=edge_index.device)
        piece = partition(edge_index.cpu(), num_nodes, self.count, self.seed).to(edge_index.device)
        member[torch.arange(num_nodes, device=edge_index.device), piece] = True
        for _ in range(self.hops):
            reached = torch.zeros_like(member, dtype=torch.int32)
            reached.index_add_(0, target, member[source].int()).index_add_(0, source, member[target].int())
            member = member | (reached > 0)
        data[self.name] = member
        return data

    def __repr__(self) -> str:
        return f"Patches({self.count}, hops={self.hops}, seed={self.seed}, name={self.name!r})"


def partition(edge_index: Tensor, num_nodes: int, count: int, seed: int = 0) -> Tensor:
    """Return a piece in 0 .. count-1 for every node; pieces are of about one size, and none is empty without need."""
    if num_nodes <= count:
        return torch.arange(num_nodes)
    rounds = int(math.log2(num_nodes / (2 * count))) if num_nodes >= 4 * count else 0
    piece = Graclus(rounds, "heavy_edge", seed)(edge_index, num_nodes) if rounds else torch.arange(num_nodes)
    joined = _join_smallest(piece, edge_index, count)
    numbered: Tensor = torch.unique(joined[piece], return_inverse=True)[1]
    return numbered


def _join_smallest(piece: Tensor, edge_index: Tensor, count: int) -> Tensor:
    """Return the piece that every piece is part of after joining, until there are as many as wanted."""
    size: list[int] = torch.bincount(piece).tolist()
    near: list[set[int]] = [set() for _ in size]
    for u, v in torch.unique(piece[edge_index], dim=1).T.tolist():
        if u != v:
            near[u].add(v)
            near[v].add(u)
    became = list(range(len(size)))
    waiting = [(number, name) for name, number in enumerate(size)]
    heapq.heapify(waiting)
    for _ in range(len(size) - count):
        small = _pop_smallest(waiting, size)
        other = min(near[small], key=lambda name: (size[name], name), default=None)
        if other is None:
            other = _pop_smallest(waiting, size)
        size[other], size[small], became[small] = size[other] + size[small], 0, other
        for neighbour in near[small]:
            near[neighbour].remove(small)
            if neighbour != other:
                near[neighbour].add(other)
                near[other].add(neighbour)
        heapq.heappush(waiting, (size[other], other))
    for name in range(len(became)):
        while became[name] != became[became[name]]:
            became[name] = became[became[name]]
    return torch.tensor(became)


def _pop_smallest(waiting: list[tuple[int, int]], size: list[int]) -> int:
    """Return the smallest piece; entries of a size that a piece no longer has are dropped."""
    while True:
        number, name = heapq.heappop(waiting)
        if size[name] == number:
            return name
