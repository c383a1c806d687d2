"""Nodes of large graphs in an order in which neighbours are near each other, so that what they read is in the cache."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ghr.hierarchy.kernels.hashes import is_symmetric
from ghr.hierarchy.kernels.patches import grow_patches
from ghr.hierarchy.kernels.rows import build_rows
from ghr.hierarchy.level import Level
from ghr.hierarchy.tensors import at_hand

FAR = 8192  # mean distance of the ends of an edge, in rows: from there on their states do not fit into a core's cache
SAMPLE = 4096  # edges that are looked at
PATCH = 1024  # nodes of a patch: their states fit into a core's cache


class Near(NamedTuple):
    """Levels with their nodes in another order.

    Attributes:
        levels: The levels.
        order: The nodes of level 0 in their new order.
        place: Where every node of level 0 is now.
    """

    levels: tuple[Level, ...]
    order: Tensor
    place: Tensor


def bring_near(levels: Sequence[Level]) -> Near | None:
    """Return levels whose neighbours are near each other; ``None`` where they are already, or cannot be looked at.

    Nodes of level 0 come in patches that grew breadth first, and clusters as their first members do.
    """
    if not _is_far(levels[0]):
        return None
    orders = [_grow(levels[0])]
    places = [_invert(orders[0])]
    for level in levels[1:]:
        first = level.batch.new_full((level.num_nodes,), len(places[-1]))  # where a cluster without members stays
        orders.append(first.scatter_reduce_(0, level.clusters, places[-1], "amin").argsort(stable=True))
        places.append(_invert(orders[-1]))
    moved = [
        replace(
            level,
            edge_index=places[k][level.edge_index],
            batch=level.batch[orders[k]],
            assignment=None if k == 0 else places[k][level.clusters[orders[k - 1]]],
            centre_distance=None if level.centre_distance is None else level.centre_distance[orders[k - 1]],
        )
        for k, level in enumerate(levels)
    ]
    return Near(tuple(moved), orders[0], places[0])


def drop_edges(level: Level) -> Level:
    """Return a level without its edges: what is left when they have been encoded."""
    return replace(level, edge_index=level.edge_index.new_empty(2, 0), edge_attr=None)


def _is_far(level: Level) -> bool:
    edges = level.edge_index
    if level.num_nodes <= FAR or edges.size(1) == 0 or not at_hand(edges):
        return False
    some = edges[:, :: -(-edges.size(1) // SAMPLE)]
    return float((some[0] - some[1]).abs().double().mean()) > FAR


def _grow(level: Level) -> Tensor:
    source, target = level.edge_index.contiguous().numpy()
    start, _, neighbour, _ = build_rows(source, target, np.empty(0), level.num_nodes, is_symmetric(source, target))
    return torch.from_numpy(grow_patches(start, neighbour, PATCH))


def _invert(order: Tensor) -> Tensor:
    return torch.empty_like(order).scatter_(0, order, torch.arange(len(order)))
