"""Graphs as compressed rows.

A graph is held as compressed rows: the neighbours of node ``u`` are ``neighbour[start[u] : start[u + 1]]``, the weights
of their edges the same slice of ``strength`` (empty where nobody reads weights), and that slice of ``row`` is ``u``:
loops run over all entries rather than over rows, since rows are short and the processor guesses wrong where they end.
Node numbers take 32 bits: these kernels are bound by memory, not by arithmetic. They have no sign: numba looks at every
sign, since -1 is the last item.
"""

import numpy as np

from ghr.hierarchy.kernels.types import Floats, Ints
from ghr.jit import compiled


@compiled
def build_rows(
    source: Ints, target: Ints, weight: Floats, num_nodes: int, symmetric: bool
) -> tuple[Ints, Ints, Ints, Floats]:
    """Build rows of both directions of every edge; repeats and self loops are still there.

    Returns where every row starts, and of every entry its row, its neighbour and its strength.
    """
    start = np.zeros(num_nodes + 1, np.int64)
    for edge in range(source.size):
        start[source[edge] + 1] += 1
    if not symmetric:
        for edge in range(source.size):
            start[target[edge] + 1] += 1
    for node in range(num_nodes):
        start[node + 1] += start[node]
    cursor = start[:-1].copy()
    row, neighbour = np.empty(start[-1], np.uint32), np.empty(start[-1], np.uint32)
    strength = np.empty(start[-1] if weight.size else 0, np.float64)
    for direction in range(1 if symmetric else 2):
        near, far = (source, target) if direction == 0 else (target, source)
        for edge in range(source.size):
            position = cursor[near[edge]]
            cursor[near[edge]] += 1
            row[position], neighbour[position] = near[edge], far[edge]
            if weight.size:
                strength[position] = weight[edge]
    return start, row, neighbour, strength


@compiled
def join_rows(
    start: Ints, row: Ints, neighbour: Ints, strength: Floats, label: Ints, num_clusters: int
) -> tuple[Ints, Ints, Floats]:
    """Replace nodes by their clusters, the entries of a cluster one after the other; repeats and self loops stay."""
    cursor = np.zeros(num_clusters + 1, np.int64)
    for node in range(label.size):
        cursor[label[node] + 1] += start[node + 1] - start[node]
    for cluster in range(num_clusters):
        cursor[cluster + 1] += cursor[cluster]
    shift = np.empty(label.size, np.int64)  # how far a row moves
    for node in range(label.size):
        shift[node] = cursor[label[node]] - start[node]
        cursor[label[node]] += start[node + 1] - start[node]
    new_row, new_neighbour = np.empty(row.size, np.uint32), np.empty(row.size, np.uint32)
    new_strength = np.empty(strength.size, np.float64)
    for entry in range(row.size):
        place = entry + shift[row[entry]]
        new_row[place], new_neighbour[place] = label[row[entry]], label[neighbour[entry]]
        if strength.size:
            new_strength[place] = strength[entry]
    return new_row, new_neighbour, new_strength


@compiled
def merge_repeats(row: Ints, neighbour: Ints, strength: Floats, num_nodes: int) -> tuple[Ints, Ints, Ints, Floats]:
    """Merge repeats in place, their weights summed, and drop self loops; return also where every row starts now."""
    start = np.zeros(num_nodes + 1, np.int64)
    seen = np.full(num_nodes, num_nodes, np.uint32)  # the last row that met a neighbour
    slot = np.zeros(num_nodes if strength.size else 0, np.int64)  # and where that row holds it
    end = 0
    for entry in range(row.size):
        u, v = row[entry], neighbour[entry]
        seen[u] = u
        news = seen[v] != u
        seen[v] = u
        row[end], neighbour[end] = u, v  # overwritten by the next one if it is no news: cheaper than a branch
        if strength.size and u != v:
            slot[v] = end if news else slot[v]
            strength[slot[v]] = strength[entry] + (0.0 if news else strength[slot[v]])
        end += news
        start[u + 1] = end
    for node in range(num_nodes):  # a node without neighbours starts where it ends
        start[node + 1] = max(start[node], start[node + 1])
    return start, row[:end], neighbour[:end], strength[: min(end, strength.size)]
