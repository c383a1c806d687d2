"""Random geometric graphs with a marked source and a cap on the distances from it."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import cKDTree

MAX_DRAWS = 20_000
CLOUDS_PER_SIZE = 5


class GeometricGraph(NamedTuple):
    """Points, the edges between those that are near, and the distances from one of them."""

    pos: NDArray[np.float32]
    edge_index: NDArray[np.int64]  # both directions, sorted
    length: NDArray[np.float64]  # of every edge
    source: int
    mask: NDArray[np.bool_]  # the largest component
    hops: NDArray[np.float64]  # distance from the source; infinite where unreachable
    distance: NDArray[np.float64]  # the same along the lengths


def draw_geometric_graph(
    rng: np.random.Generator, nodes: tuple[int, int], mean_degree: float, max_distance: int
) -> GeometricGraph:
    """Draw until a graph is accepted: up to five point clouds for one size and radius, then another size and radius.

    Args:
        rng: Source of all randomness.
        nodes: Least and largest number of nodes.
        mean_degree: Expected degree away from the border.
        max_distance: Largest distance from the source, in hops.

    Raises:
        ValueError: Where nothing is accepted, with the reason.
    """
    scattered = 0
    for draw in range(MAX_DRAWS):
        if draw % CLOUDS_PER_SIZE == 0:
            size = int(rng.integers(*nodes, endpoint=True))
            radius = rng.uniform(0.9, 1.1) * math.sqrt(mean_degree / (math.pi * size))
        pos = rng.random((size, 2), dtype=np.float32)
        graph = _connect(pos, radius)
        label = connected_components(graph, directed=False)[1]
        mask = label == np.bincount(label).argmax()
        members = np.flatnonzero(mask)
        if len(members) < 0.8 * size:
            scattered += 1
            continue
        source = int(members[rng.integers(len(members))])
        hops = dijkstra(graph, indices=source, unweighted=True)
        if hops[mask].max() <= max_distance:
            edges = graph.tocoo()
            edge_index = np.stack([edges.row, edges.col]).astype(np.int64)
            return GeometricGraph(pos, edge_index, graph.data, source, mask, hops, dijkstra(graph, indices=source))
    raise ValueError(
        f"No graph of {nodes[0]} to {nodes[1]} nodes was accepted in {MAX_DRAWS} draws with mean_degree={mean_degree} "
        f"and max_distance={max_distance}: in {scattered} the largest component was below 80 % of the nodes, in "
        f"{MAX_DRAWS - scattered} it reached further than max_distance. Raise mean_degree or max_distance."
    )


def _connect(pos: NDArray[np.float32], radius: float) -> csr_array:
    """Join all points that are near, in both directions, sorted, with the lengths as values."""
    wide = pos.astype(np.float64)
    pairs = cKDTree(wide).query_pairs(radius, output_type="ndarray")
    length = np.linalg.norm(wide[pairs[:, 0]] - wide[pairs[:, 1]], axis=1)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    return csr_array((np.tile(length, 2), (both[:, 0], both[:, 1])), shape=(len(pos), len(pos)))
