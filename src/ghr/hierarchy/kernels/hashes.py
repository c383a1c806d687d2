"""Hashes of edges, by whose sums sets of edges are told apart."""

from typing import Any

import numpy as np

from ghr.hierarchy.kernels.lists import find_ends
from ghr.hierarchy.kernels.types import Ints
from ghr.jit import compiled, inlined


@inlined
def hash_edge(u: int, v: int) -> Any:
    """Mix the two ends of an edge into 64 bits, by splitmix64; sums of them tell sets of edges apart."""
    code = np.uint64(u) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(v)
    code = (code ^ (code >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    code = (code ^ (code >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return code ^ (code >> np.uint64(31))


@compiled
def sign_graphs(edges: Ints, batch: Ints, num_graphs: int, num_levels: int) -> Ints:
    """Return a row for every graph of a batch: the levels as given, its nodes, its edges, the sum of their hashes.

    Nodes count from the first of their graph. What is in no graph, or leads to no node, does not count.
    """
    source, target = edges[0], edges[1]
    low, high = find_ends(edges)
    if num_graphs == 1 and low >= 0 and high < batch.size and not batch.any():
        # Most graphs come alone and with nothing that does not count: then the processor takes many edges at once.
        total = np.uint64(0)
        for edge in range(source.size):
            total += hash_edge(source[edge], target[edge])
        return np.array([[num_levels, batch.size, source.size, np.int64(total)]])
    row = np.zeros((num_graphs, 4), np.int64)
    first = np.zeros(num_graphs, np.int64)
    for graph in range(num_graphs):
        row[graph, 0] = num_levels
    for node in range(batch.size - 1, -1, -1):
        graph = batch[node]
        if 0 <= graph < num_graphs:
            first[graph] = node
            row[graph, 1] += 1
    for edge in range(source.size):
        u, v = source[edge], target[edge]
        if 0 <= u < batch.size and 0 <= v < batch.size:
            graph = batch[u]
            if 0 <= graph < num_graphs:
                row[graph, 2] += 1
                row[graph, 3] += np.int64(hash_edge(u - first[graph], v - first[graph]))
    return row


@compiled
def is_symmetric(source: Ints, target: Ints) -> bool:
    """Whether every edge comes with its reverse, by comparing 64-bit fingerprints of the edges up and down."""
    up, down = np.uint64(0), np.uint64(0)
    for edge in range(source.size):
        u, v = source[edge], target[edge]
        if u < v:
            up += hash_edge(u, v)
        elif u > v:
            down += hash_edge(v, u)
    return bool(up == down)
