"""The six families of graphs of ECHO-Synth, each drawn with a given diameter."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ghr.datasets.generators.distances import eccentricities

MAX_DRAWS = 10_000
SHORTCUT_SHARE = 0.2
DELETED_SHARE = 0.2


class Graph(NamedTuple):
    """A connected graph: edges in one direction, shape (2, E), and the number of nodes."""

    edges: NDArray[np.int64]
    num_nodes: int


Draw: TypeAlias = Callable[[np.random.Generator, int], Graph]


def line(rng: np.random.Generator, diameter: int) -> Graph:
    """A path in which each node, with probability 0.2, has one more edge, to a node 2 to 6 places further."""
    size = int(rng.integers(diameter + 1, 2 * diameter, endpoint=True))
    node = np.flatnonzero(rng.random(size) < SHORTCUT_SHARE)
    place = node + rng.integers(2, 6, len(node), endpoint=True) * rng.choice((-1, 1), len(node))
    inside = (place >= 0) & (place < size)
    shortcuts = np.sort(np.stack([node, place])[:, inside], axis=0)
    return Graph(np.unique(np.concatenate([path(size), shortcuts], axis=1), axis=1), size)


def ladder(rng: np.random.Generator, diameter: int) -> Graph:
    """Two paths side by side, with a rung between each pair of opposite nodes; the same for every draw."""
    rungs = np.stack([np.arange(diameter), np.arange(diameter) + diameter])
    return Graph(np.concatenate([path(diameter), path(diameter) + diameter, rungs], axis=1), 2 * diameter)


def grid(rng: np.random.Generator, diameter: int) -> Graph:
    """The largest component of a rectangular grid without a fifth of its edges."""
    half = (diameter + 2) * rng.uniform(0.72, 0.98)
    rows = int(rng.integers(int(0.29 * half), int(0.5 * half), endpoint=True))
    columns = max(3, round(half) - rows)
    number = np.arange(rows * columns).reshape(rows, columns)
    across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    down = np.stack([number[:-1].ravel(), number[1:].ravel()])
    edges = np.concatenate([across, down], axis=1)
    kept = rng.permutation(edges.shape[1])[round(DELETED_SHARE * edges.shape[1]) :]
    return _largest_component(edges[:, np.sort(kept)], number.size)


def tree(rng: np.random.Generator, diameter: int) -> Graph:
    """A tree grown on a path of the wanted diameter; a node is chosen to grow with weight degree to the third."""
    size = diameter + 1 + int(rng.integers(0, 4 * diameter, endpoint=True))
    degree = np.zeros(size)
    degree[: diameter + 1] = 2.0
    degree[[0, diameter]] = 1.0
    reach = np.zeros(size, np.int64)  # distance from the farther end of the path: a leaf there must stay within reach
    reach[: diameter + 1] = np.maximum(np.arange(diameter + 1), diameter - np.arange(diameter + 1))
    edges = [path(diameter + 1)]
    for node in range(diameter + 1, size):
        weight = np.where(reach[:node] < diameter, degree[:node] ** 3, 0.0)
        parent = int(rng.choice(node, p=weight / weight.sum()))
        edges.append(np.array([[parent], [node]]))
        degree[parent] += 1
        degree[node], reach[node] = 1.0, reach[parent] + 1
    return Graph(np.concatenate(edges, axis=1), size)


def caterpillar(rng: np.random.Generator, diameter: int) -> Graph:
    """A path with legs of one edge."""
    return _with_legs(rng, diameter, layers=1)


def lobster(rng: np.random.Generator, diameter: int) -> Graph:
    """A path with legs of one or two edges."""
    return _with_legs(rng, diameter, layers=2)


# The positions of the names enter the random streams: append, never reorder.
FAMILIES: dict[str, Draw] = {
    "line": line,
    "ladder": ladder,
    "grid": grid,
    "tree": tree,
    "caterpillar": caterpillar,
    "lobster": lobster,
}


def draw_graph(family: str, diameter: int, rng: np.random.Generator) -> Graph:
    """Draw graphs of a family until one has exactly the wanted diameter.

    Args:
        family: A name in :data:`FAMILIES`.
        diameter: Largest distance in hops.
        rng: Source of all randomness.
    """
    for _ in range(MAX_DRAWS):
        graph = FAMILIES[family](rng, diameter)
        if eccentricities(graph.edges, graph.num_nodes).max() == diameter:
            return graph
    raise ValueError(f"No graph of the family {family!r} with diameter {diameter} came out in {MAX_DRAWS} draws.")


def path(size: int) -> NDArray[np.int64]:
    """Edges of a path."""
    return np.stack([np.arange(size - 1), np.arange(1, size)])


def _with_legs(rng: np.random.Generator, diameter: int, *, layers: int) -> Graph:
    """A path, legs on it, legs on those: from none to three at each node, none where they would be too far out."""
    size = diameter + 1
    edges, body = [path(size)], np.arange(layers, size - layers)
    for _ in range(layers):
        parent = np.repeat(body, rng.integers(0, 3, len(body), endpoint=True))
        body = size + np.arange(len(parent))
        size += len(parent)
        edges.append(np.stack([parent, body]))
    return Graph(np.concatenate(edges, axis=1), size)


def _largest_component(edges: NDArray[np.int64], num_nodes: int) -> Graph:
    ones = np.ones(edges.shape[1], np.int8)
    label = connected_components(coo_array((ones, (edges[0], edges[1])), (num_nodes, num_nodes)), directed=False)[1]
    member = label == np.bincount(label).argmax()
    number = np.cumsum(member) - 1
    return Graph(number[edges[:, member[edges[0]]]], int(member.sum()))
