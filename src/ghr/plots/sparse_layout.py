"""Places for the nodes of graphs of thousands of nodes, in seconds."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ghr.datasets.generators.distances import hops_from
from ghr.progress import track

PIVOTS = 50
LARGE = 1000  # nodes of a component that may take seconds
FADE = 0.03  # of pivots in the last rounds, since nodes would stay in rings around them
GAP = 1.5  # between components, in lengths of an edge
Places = NDArray[np.float64]
Ints = NDArray[np.int64]


def place_sparsely(edge_index: Ints, num_nodes: int, *, rounds: int = 60, seed: int = 0) -> Places:
    r"""Return places that show distances in hops, component by component.

    Every component starts from scaling by its distances from some pivots. Then majorisation reduces the stress

    .. math::
        \sum_{(i, j)} w_{ij} (\lVert p_i - p_j \rVert - d_{ij})^2

    over edges, some pairs two hops apart, and all pairs with a pivot, :math:`w = d^{-2}` times how many nodes a pivot
    stands for (Ortmann, Klimenta and Brandes, 2017); in the last third of the rounds pivots count for little.

    Args:
        edge_index: Edges :math:`(2, E)`, each in one direction or in both.
        num_nodes: Number of nodes.
        rounds: Steps of majorisation.
        seed: Of what is drawn at random.
    """
    rng = np.random.default_rng(seed)
    source, target = edge_index[:, edge_index[0] != edge_index[1]]
    matrix = csr_array((np.ones(2 * len(source)), (np.r_[source, target], np.r_[target, source])), (num_nodes,) * 2)
    count, component = connected_components(matrix, directed=False)
    order = np.argsort(component, kind="stable")
    parts = np.split(order, np.searchsorted(component[order], np.arange(1, count)))
    number = np.empty(num_nodes, np.int64)
    for part in parts:
        number[part] = np.arange(len(part))
    inside = np.stack([number[source], number[target]])
    by_part = np.argsort(component[source], kind="stable")
    ends = np.searchsorted(component[source][by_part], np.arange(count + 1))
    placed = []
    for k, part in enumerate(parts):
        edges = np.unique(inside[:, by_part[ends[k] : ends[k + 1]]], axis=1)
        placed.append(_place_component(edges, len(part), rounds, rng))
    places = np.empty((num_nodes, 2))
    for part, own in zip(parts, _pack(placed), strict=True):
        places[part] = own
    return places


def _place_component(edges: Ints, size: int, rounds: int, rng: np.random.Generator) -> Places:
    if size < 3:
        return np.stack([np.arange(size, dtype=np.float64), np.zeros(size)], axis=1)
    pivots, hops = _find_pivots(edges, size)
    squared = hops**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    places = -0.5 * centred @ axes[:2].T
    if places.shape[1] < 2:
        places = np.pad(places, ((0, 0), (0, 2 - places.shape[1])))
    spread = np.sqrt((places**2).sum(axis=1).mean())
    places *= np.sqrt(squared.mean() / 2) / max(spread, 1e-9)
    places = places + 0.3 * rng.standard_normal(places.shape)  # leaves of one node are twins
    near = np.unique(np.concatenate([edges, edges[::-1]], axis=1), axis=1)
    apart = _draw_two_apart(near, size, rng)
    first, second = np.r_[near[0], apart[0], apart[1]], np.r_[near[1], apart[1], apart[0]]
    length = np.r_[np.ones(near.shape[1]), np.full(2 * apart.shape[1], 2.0)]
    weight = length**-2
    # A pair with a pivot is one entry of a table, which is cheaper to add up than pairs in any order.
    stands_for = np.bincount(hops.argmin(axis=1), minlength=len(pivots)) / 2
    far = np.divide(stands_for, hops**2, out=np.zeros_like(hops), where=hops > 0)
    near_total = np.bincount(first, weight, size)
    for number in track(range(rounds), "Layout", unit="round") if size >= LARGE else range(rounds):
        if number == 2 * rounds // 3:
            far *= FADE
        total = near_total + far.sum(axis=1)
        away = places[first] - places[second]
        stretch = weight * length / np.maximum(np.hypot(away[:, 0], away[:, 1]), 1e-9)
        x, y = places.T
        from_pivots = np.maximum(np.hypot(x[:, None] - x[pivots], y[:, None] - y[pivots]), 1e-9)
        outward = far * hops / from_pivots
        moved = []
        for column, step in ((x, away[:, 0]), (y, away[:, 1])):
            pulled = np.bincount(first, weight * column[second] + stretch * step, size)
            pulled += far @ column[pivots] + outward.sum(axis=1) * column - outward @ column[pivots]
            moved.append(pulled / total)
        places = np.stack(moved, axis=1)
    return _turn(places)


def _find_pivots(edges: Ints, size: int) -> tuple[Ints, NDArray[np.float64]]:
    """Return nodes far from each other, and the hops of all nodes from them :math:`(N, P)`."""
    pivots, columns = [0], [hops_from(edges, size, 0)]
    nearest = columns[0].copy()
    while len(pivots) < min(PIVOTS, size):
        pivots.append(int(nearest.argmax()))
        columns.append(hops_from(edges, size, pivots[-1]))
        nearest = np.minimum(nearest, columns[-1])
    return np.array(pivots), np.stack(columns, axis=1).astype(np.float64)


def _draw_two_apart(near: Ints, size: int, rng: np.random.Generator, each: int = 3) -> Ints:
    """Draw pairs of nodes with a common neighbour that are no neighbours themselves."""
    start = np.searchsorted(near[0], np.arange(size + 1))
    degree = np.diff(start)
    node = np.repeat(np.arange(size), each)
    for_each = near[1][start[node] + (rng.random(len(node)) * degree[node]).astype(np.int64)]
    other = near[1][start[for_each] + (rng.random(len(node)) * degree[for_each]).astype(np.int64)]
    pairs = np.unique(np.stack([np.minimum(node, other), np.maximum(node, other)])[:, node != other], axis=1)
    known = near[0] * size + near[1]
    return np.asarray(pairs[:, ~np.isin(pairs[0] * size + pairs[1], known)])


def _turn(places: Places) -> Places:
    """Return places with their longer side lying flat."""
    centred = places - places.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    return np.asarray(centred @ axes.T)


def _pack(parts: list[Places]) -> list[Places]:
    """Return components side by side in rows, the largest first."""
    order = sorted(range(len(parts)), key=lambda k: -len(parts[k]))
    boxes = [np.ptp(part, axis=0) + GAP for part in parts]
    row_width = max(1.2 * float(np.sqrt(sum(box.prod() for box in boxes))), float(boxes[order[0]][0]))
    moved, x, y, height = list(parts), 0.0, 0.0, 0.0
    for k in order:
        width, tall = boxes[k]
        if x > 0 and x + width > row_width:
            x, y, height = 0.0, y - height, 0.0
        low, high = parts[k].min(axis=0), parts[k].max(axis=0)
        moved[k] = parts[k] - np.array([low[0], high[1]]) + np.array([x, y])
        x, height = x + width, max(height, tall)
    return moved
