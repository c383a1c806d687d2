"""Distances in hops on undirected graphs, by breadth-first search."""

import numpy as np
from numpy.typing import NDArray

from ghr.hierarchy.kernels.rows import build_rows
from ghr.hierarchy.kernels.types import Ints
from ghr.jit import compiled

_NO_WEIGHT = np.empty(0, np.float64)


def hops_from(edge_index: NDArray[np.int64], num_nodes: int, source: int) -> NDArray[np.int32]:
    """Return the distance of every node from one node; -1 where there is no path.

    Args:
        edge_index: Edges :math:`(2, E)`, each in one direction or in both.
        num_nodes: Number of nodes.
        source: Where distances start.
    """
    hops, order = np.full(num_nodes, -1, np.int32), np.empty(num_nodes, np.int32)
    _search(*_rows(edge_index, num_nodes), source, hops, order)
    return hops


def eccentricities(edge_index: NDArray[np.int64], num_nodes: int) -> NDArray[np.int32]:
    """Return the distance of every node from the node farthest from it in its component; the diameter is the largest.

    Args:
        edge_index: Edges :math:`(2, E)`, each in one direction or in both.
        num_nodes: Number of nodes.
    """
    return _eccentricities(*_rows(edge_index, num_nodes))


def _rows(edge_index: NDArray[np.int64], num_nodes: int) -> tuple[Ints, Ints]:
    source, target = np.ascontiguousarray(edge_index)
    start, _, neighbour, _ = build_rows(source, target, _NO_WEIGHT, num_nodes, False)
    return start, neighbour


@compiled
def _search(start: Ints, neighbour: Ints, source: int, hops: Ints, order: Ints) -> int:
    """Fill in the distances where they are -1, list the nodes reached, and return their number."""
    hops[source], order[0] = 0, source
    head, tail = 0, 1
    while head < tail:
        node = order[head]
        head += 1
        for entry in range(start[node], start[node + 1]):
            other = neighbour[entry]
            if hops[other] < 0:
                hops[other] = hops[node] + 1
                order[tail] = other
                tail += 1
    return tail


@compiled
def _eccentricities(start: Ints, neighbour: Ints) -> NDArray[np.int32]:
    num_nodes = start.size - 1
    farthest = np.empty(num_nodes, np.int32)
    hops, order = np.full(num_nodes, -1, np.int32), np.empty(num_nodes, np.int32)
    for node in range(num_nodes):
        reached = _search(start, neighbour, node, hops, order)
        farthest[node] = hops[order[reached - 1]]
        for position in range(reached):
            hops[order[position]] = -1
    return farthest
