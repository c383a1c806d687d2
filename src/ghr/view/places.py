"""Where nodes and clusters stand on a page."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from ghr.hierarchy.data import Level
from ghr.plots.layout import is_lattice
from ghr.plots.sparse_layout import place_sparsely

Places = NDArray[np.float64]


def place_nodes(graph: Data) -> Places:
    """Return a place for every node: its own ``pos``, its place on a lattice, or one that shows distances in hops."""
    size = int(graph.num_nodes or 0)
    pos = graph.pos
    if pos is not None and pos.dim() == 2 and pos.size(0) == size and pos.size(1) > 1 and bool(pos.isfinite().all()):
        own = np.asarray(pos[:, :2].cpu().numpy(), dtype=np.float64)
        if np.ptp(own, axis=0).min() > 0 or size < 2:
            return own
    if is_lattice(graph):
        side = int(size**0.5)
        return np.stack([np.arange(size) % side, -(np.arange(size) // side)], axis=1).astype(np.float64)
    return place_sparsely(graph["edge_index"].cpu().numpy(), size)


def place_clusters(places: Places, levels: Sequence[Level]) -> list[Places]:
    """Return the places of every level: a cluster stands in the middle of its members."""
    found = [places]
    for level in levels[1:]:
        clusters, below = level.clusters.cpu().numpy(), found[-1]
        count = np.maximum(np.bincount(clusters, minlength=level.num_nodes), 1)
        found.append(np.stack([np.bincount(clusters, column, level.num_nodes) / count for column in below.T], axis=1))
    return found


def drawn_edges(level: Level, places: Places, *, lattice: bool = False) -> NDArray[np.int64]:
    """Return every pair of neighbours once :math:`(2, E)`; of a periodic lattice, without those around its border."""
    source, target = level.edge_index.cpu().numpy()
    pairs = np.stack([np.minimum(source, target), np.maximum(source, target)])[:, source != target]
    pairs = np.unique(pairs, axis=1)
    if lattice and pairs.size:
        length = np.linalg.norm(places[pairs[0]] - places[pairs[1]], axis=1)
        pairs = pairs[:, length < 2.5 * np.median(length)]
    return np.asarray(pairs, dtype=np.int64)
