"""An order of the nodes in which neighbours are near each other."""

import numpy as np

from ghr.hierarchy.kernels.types import Ints
from ghr.jit import compiled


@compiled
def grow_patches(start: Ints, neighbour: Ints, size: int) -> Ints:
    """Return all nodes patch by patch.

    A patch grows breadth first to so many nodes. It begins beside the oldest patch that has free nodes around it, or
    with the first free node where there is no such patch: then a graph is done, and the next one begins.

    Args:
        start: Where the neighbours of every node start, and their number.
        neighbour: The neighbours.
        size: Nodes of a patch, except where there are fewer left to reach.
    """
    nodes = start.size - 1
    order, rim, taken = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.zeros(nodes, np.bool_)
    done, first, last, free = 0, 0, 0, 0  # `rim` holds nodes that may have free neighbours, from `first` to `last`
    while done < nodes:
        seed = -1
        while seed < 0 and first < last:
            node = rim[first]
            for entry in range(start[node], start[node + 1]):
                if seed < 0 and not taken[neighbour[entry]]:
                    seed = neighbour[entry]
            if seed < 0:
                first += 1
        if seed < 0:
            while taken[free]:
                free += 1
            seed = free
        begin, end = done, min(nodes, done + size)
        order[done], taken[seed], done = seed, True, done + 1
        at = begin
        while at < done < end:
            node = order[at]
            for entry in range(start[node], start[node + 1]):
                found = neighbour[entry]
                if done < end and not taken[found]:
                    order[done], taken[found], done = found, True, done + 1
            at += 1
        if done == end:  # the last node that was looked around from may not be through
            for place in range(max(begin, at - 1), end):
                rim[last] = order[place]
                last += 1
    return order
