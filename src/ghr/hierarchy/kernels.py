"""Linear-time graph kernels under the partitions and the quotient graph, on plain arrays.

A graph is held as compressed rows: the neighbours of node ``u`` are ``neighbour[start[u] : start[u + 1]]``, the weights
of their edges the same slice of ``strength`` (empty where nobody reads weights). Node numbers take 32 bits: these
kernels are bound by memory, not by arithmetic.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ghr.jit import compiled

Ints: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]

MIN_DEGREE, HEAVY_EDGE, RANDOM = 0, 1, 2


@compiled
def is_symmetric(source: Ints, target: Ints) -> bool:
    """Whether every edge comes with its reverse, by comparing 64-bit fingerprints of the edges up and down."""
    up, down = np.uint64(0), np.uint64(0)
    for edge in range(source.size):
        u, v = source[edge], target[edge]
        low, high = (u, v) if u < v else (v, u)
        code = np.uint64(low) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(high)  # then splitmix64
        code = (code ^ (code >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        code = (code ^ (code >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        code = code ^ (code >> np.uint64(31))
        if u < v:
            up += code
        elif u > v:
            down += code
    return bool(up == down)


@compiled
def undirected_rows(
    source: Ints, target: Ints, weight: Floats, num_nodes: int, symmetric: bool
) -> tuple[Ints, Ints, Floats]:
    """Rows of both directions of every edge; repeats and self loops are still there."""
    start = np.zeros(num_nodes + 1, np.int64)
    for edge in range(source.size):
        start[source[edge] + 1] += 1
    if not symmetric:
        for edge in range(source.size):
            start[target[edge] + 1] += 1
    for node in range(num_nodes):
        start[node + 1] += start[node]
    cursor = start[:-1].copy()
    neighbour = np.empty(start[-1], np.int32)
    strength = np.empty(start[-1] if weight.size else 0, np.float64)
    for direction in range(1 if symmetric else 2):
        near, far = (source, target) if direction == 0 else (target, source)
        for edge in range(source.size):
            position = cursor[near[edge]]
            cursor[near[edge]] += 1
            neighbour[position] = far[edge]
            if weight.size:
                strength[position] = weight[edge]
    return start, neighbour, strength


@compiled
def contract_rows(
    start: Ints, neighbour: Ints, strength: Floats, label: Ints, num_clusters: int
) -> tuple[Ints, Ints, Floats]:
    """Rows of the graph whose nodes are the clusters: repeats merged, their weights summed, self loops dropped."""
    member_start = np.zeros(num_clusters + 1, np.int64)
    for node in range(label.size):
        member_start[label[node] + 1] += 1
    for cluster in range(num_clusters):
        member_start[cluster + 1] += member_start[cluster]
    cursor = member_start[:-1].copy()
    member = np.empty(label.size, np.int32)
    for node in range(label.size):
        member[cursor[label[node]]] = node
        cursor[label[node]] += 1

    new_start = np.zeros(num_clusters + 1, np.int64)
    new_neighbour = np.empty(neighbour.size, np.int32)
    new_strength = np.empty(strength.size, np.float64)
    end = 0
    if strength.size:
        slot = np.full(num_clusters, -1, np.int64)  # where the row in work holds a neighbour
        for cluster in range(num_clusters):
            row = end
            for position in range(member_start[cluster], member_start[cluster + 1]):
                node = member[position]
                for entry in range(start[node], start[node + 1]):
                    other = label[neighbour[entry]]
                    if other != cluster:
                        if slot[other] < row:
                            slot[other] = end
                            new_neighbour[end], new_strength[end] = other, 0.0
                            end += 1
                        new_strength[slot[other]] += strength[entry]
            new_start[cluster + 1] = end
    else:
        seen = np.full(num_clusters, -1, np.int32)  # the last row that met a neighbour
        for cluster in range(num_clusters):
            seen[cluster] = cluster
            for position in range(member_start[cluster], member_start[cluster + 1]):
                node = member[position]
                for entry in range(start[node], start[node + 1]):
                    other = label[neighbour[entry]]
                    if seen[other] != cluster:
                        seen[other] = cluster
                        new_neighbour[end] = other
                        end += 1
            new_start[cluster + 1] = end
    return new_start, new_neighbour[:end].copy(), new_strength[: min(end, strength.size)].copy()


@compiled
def match(start: Ints, neighbour: Ints, strength: Floats, order: Ints, mode: int) -> tuple[Ints, int]:
    """One greedy pass: each node, in the given order, takes the best neighbour that is still free.

    Ties fall to the neighbour that stands first in the order, so nothing depends on how the edges are listed.
    """
    num_nodes = start.size - 1
    rank = np.empty(num_nodes, np.int32)
    for position in range(num_nodes):
        rank[order[position]] = position
    partner = np.full(num_nodes, -1, np.int32)
    for u in order:
        if partner[u] >= 0:
            continue
        best, best_score = -1, 0.0
        for entry in range(start[u], start[u + 1]):
            v = neighbour[entry]
            if partner[v] >= 0:
                continue
            if mode == MIN_DEGREE:
                score = -float(start[v + 1] - start[v])
            elif mode == HEAVY_EDGE:
                score = strength[entry]
            else:
                score = 0.0
            if best < 0 or score > best_score or (score == best_score and rank[v] < rank[best]):
                best, best_score = v, score
        if best < 0:
            partner[u] = u
        else:
            partner[u], partner[best] = best, u
    label = np.full(num_nodes, -1, np.int32)
    count = 0
    for u in range(num_nodes):
        if label[u] < 0:
            label[u] = count
            label[partner[u]] = count
            count += 1
    return label, count


@compiled
def quotient(source: Ints, target: Ints, label: Ints, num_clusters: int) -> tuple[Ints, Ints]:
    """Edges between clusters, sorted and without repeats, and for every edge the one it became (-1: inside)."""
    num_edges = source.size
    row, column = np.empty(num_edges, np.int32), np.empty(num_edges, np.int32)
    start = np.zeros((2, num_clusters + 1), np.int64)
    for edge in range(num_edges):
        row[edge], column[edge] = label[source[edge]], label[target[edge]]
        if row[edge] != column[edge]:
            start[0, row[edge] + 1] += 1
            start[1, column[edge] + 1] += 1
    for cluster in range(num_clusters):
        start[0, cluster + 1] += start[0, cluster]
        start[1, cluster + 1] += start[1, cluster]
    crossing = start[0, num_clusters]

    # Two stable counting sorts, by column and then by row, leave the edges in lexicographic order.
    by_column = np.empty(crossing, np.int64)
    for edge in range(num_edges):
        if row[edge] != column[edge]:
            by_column[start[1, column[edge]]] = edge
            start[1, column[edge]] += 1
    order = np.empty(crossing, np.int64)
    for position in range(crossing):
        edge = by_column[position]
        order[start[0, row[edge]]] = edge
        start[0, row[edge]] += 1

    became = np.full(num_edges, -1, np.int64)
    edges = np.empty((2, crossing), np.int64)
    count = 0
    for position in range(crossing):
        edge = order[position]
        u, v = row[edge], column[edge]
        if count == 0 or edges[0, count - 1] != u or edges[1, count - 1] != v:
            edges[0, count], edges[1, count] = u, v
            count += 1
        became[edge] = count - 1
    return edges[:, :count].copy(), became
