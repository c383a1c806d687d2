"""Shortest paths on graphs of kinds that ECHO does not have, with features and targets as there."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from ghr.datasets.echo import LARGEST
from ghr.datasets.generators.distances import eccentricities, hops_from
from ghr.datasets.generators.geometric import draw_geometric_graph


def relabel_paths(graph: Data) -> Data:
    """Return a graph of ECHO with the distances that it has; nodes without a path to the source do not count."""
    source = int(graph["x"][:, 0].argmax())
    hops = hops_from(graph["edge_index"].numpy(), int(graph.num_nodes or 0), source)
    changed: Data = graph.clone()
    changed.y = torch.from_numpy(np.maximum(hops, 0) / LARGEST).float().unsqueeze(1)
    changed.mask = torch.from_numpy(hops >= 0)
    return changed


def draw_geometric(rng: np.random.Generator) -> Data:
    """Draw points in a square, those that are near joined, at most 40 hops from a source."""
    drawn = draw_geometric_graph(rng, (80, 240), 6.0, int(LARGEST))
    return _mark(drawn.edge_index, len(drawn.pos), drawn.source, rng)


def draw_tree(rng: np.random.Generator) -> Data:
    """Draw one of all trees on 40 to 120 nodes, each as likely as any other, at most 40 hops wide."""
    while True:
        size = int(rng.integers(40, 120, endpoint=True))
        edges = decode_tree(rng.integers(size, size=size - 2))
        if int(eccentricities(edges, size).max()) <= LARGEST:
            both = np.concatenate([edges, edges[::-1]], axis=1)
            return _mark(both[:, np.lexsort(both[::-1])], size, int(rng.integers(size)), rng)


def decode_tree(code: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the edges of the tree that a code of Prüfer stands for, :math:`(2, N - 1)`.

    Args:
        code: :math:`N - 2` nodes; a node of degree k occurs k - 1 times.

    Example:
        >>> decode_tree(np.array([3, 3, 3])).T.tolist()
        [[0, 3], [1, 3], [2, 3], [3, 4]]
    """
    size = len(code) + 2
    degree = np.bincount(code, minlength=size) + 1
    pairs = []
    for node in code:
        leaf = int(np.flatnonzero(degree == 1)[0])
        pairs.append((leaf, int(node)))
        degree[leaf] -= 1
        degree[node] -= 1
    first, last = np.flatnonzero(degree == 1)
    return np.array([*pairs, (int(first), int(last))]).T


KINDS: dict[str, Callable[[np.random.Generator], Data]] = {"geometric": draw_geometric, "uniform trees": draw_tree}


def _mark(edge_index: NDArray[np.int64], size: int, source: int, rng: np.random.Generator) -> Data:
    """Return a graph with the features and the targets of ECHO."""
    x = np.stack([np.arange(size) == source, rng.random(size)], axis=1).astype(np.float32)
    return relabel_paths(Data(x=torch.from_numpy(x), edge_index=torch.from_numpy(edge_index)))
