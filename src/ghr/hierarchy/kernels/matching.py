"""Clusters by rounds of matching."""

import numpy as np

from ghr.hierarchy.kernels.hashes import is_symmetric
from ghr.hierarchy.kernels.lists import find_ends
from ghr.hierarchy.kernels.rows import build_rows, join_rows, merge_repeats
from ghr.hierarchy.kernels.types import Floats, Ints
from ghr.jit import compiled

MIN_DEGREE, HEAVY_EDGE, RANDOM = 0, 1, 2
TAKEN = 2**63 - 1  # instead of the key of a node that has its partner


@compiled
def match(start: Ints, neighbour: Ints, strength: Floats, order: Ints, mode: int) -> tuple[Ints, int]:
    """Pair the nodes in one greedy pass: every node, in the given order, takes the best neighbour that is still free.

    Ties fall to the neighbour that stands first in the order, so nothing depends on how the edges are listed.
    """
    num_nodes = start.size - 1
    key = np.empty(num_nodes, np.int64)  # the lower, the better
    for position in range(num_nodes):
        node = order[position]
        degree = start[node + 1] - start[node] if mode == MIN_DEGREE else 0
        key[node] = (degree << 32) + position
    partner = np.empty(num_nodes, np.uint32)
    for u in order:
        if key[u] == TAKEN:
            continue
        best, least, most = u, TAKEN, -1.0
        for entry in range(start[u], start[u + 1]):
            v = neighbour[entry]
            if mode == HEAVY_EDGE:
                if key[v] != TAKEN and (strength[entry] > most or (strength[entry] == most and key[v] < key[best])):
                    best, most = v, strength[entry]
            elif key[v] < least:
                best, least = v, key[v]
        partner[u], partner[best] = best, u
        key[u] = key[best] = TAKEN
    label = np.empty(num_nodes, np.uint32)
    count = 0
    for u in range(num_nodes):  # a pair has the number of its first node
        label[u] = count
        label[u] = label[min(u, partner[u])]
        count += partner[u] >= u
    return label, count


@compiled
def reorder(order: Ints, label: Ints, num_clusters: int) -> Ints:
    """Order clusters for the next pass: first the one whose member came last in this one.

    So nodes that found no partner come early, and no random number is needed beyond those of the first order.
    """
    later = np.empty(num_clusters + 1, np.int32)
    new = np.ones(num_clusters, np.int64)
    count = 0
    for position in range(order.size - 1, -1, -1):
        cluster = label[order[position]]
        later[count] = cluster  # overwritten by the next one if it is no news: cheaper than a branch
        count += new[cluster]
        new[cluster] = 0
    return later[:num_clusters]


@compiled
def cluster_nodes(edges: Ints, weight: Floats, order: Ints, rounds: int, mode: int) -> Ints:
    """Find the cluster of every node by rounds of matching, every round on the graph that the one before it left.

    Where an edge leads to no node, nothing is returned.
    """
    source, target, num_nodes = edges[0], edges[1], order.size
    low, high = find_ends(edges)
    if low < 0 or high >= num_nodes:
        return np.empty(0, np.int64)
    symmetric = weight.size == 0 and is_symmetric(source, target)
    _, row, neighbour, strength = build_rows(source, target, weight, num_nodes, symmetric)
    size = num_nodes
    cluster = np.arange(num_nodes)
    for left in range(rounds - 1, -1, -1):
        start, row, neighbour, strength = merge_repeats(row, neighbour, strength, size)
        label, count = match(start, neighbour, strength, order, mode)
        if count == size:  # no edge is left
            break
        size = count
        for node in range(num_nodes):
            cluster[node] = label[cluster[node]]
        if left > 0:  # nobody looks at what the last round leaves
            order = reorder(order, label, size)
            row, neighbour, strength = join_rows(start, row, neighbour, strength, label, size)
    return cluster
