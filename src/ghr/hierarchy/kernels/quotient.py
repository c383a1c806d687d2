"""Edges between clusters, and what becomes of the features of edges."""

import numpy as np

from ghr.hierarchy.kernels.lists import group
from ghr.hierarchy.kernels.types import Floats, Ints
from ghr.jit import compiled

MIN, MEAN, MAX, SUM = 0, 1, 2, 3  # ways to reduce, in the order in which they are found


@compiled
def build_quotient(edges: Ints, label: Ints, num_clusters: int) -> tuple[Ints, Ints, Ints, Ints]:
    """List the edges between clusters, sorted and without repeats, and say which edges were merged into them.

    Returns the edges, for every given edge what it became (-1: inside a cluster), the given edges one coarse edge after
    the other, and where every coarse edge starts among these.
    """
    source, target = edges[0], edges[1]
    num_edges = source.size
    row, column = np.empty(num_edges, np.int32), np.empty(num_edges, np.int32)
    for edge in range(num_edges):
        u, v = label[source[edge]], label[target[edge]]
        row[edge], column[edge] = u if u != v else -1, v if u != v else -1
    # Two stable sorts, by column and then by row, leave the edges in lexicographic order.
    by_column, _ = group(column, num_clusters)
    by_row, _ = group(row[by_column], num_clusters)
    order = by_column[by_row]

    became = np.full(num_edges, -1, np.int64)
    coarse = np.empty((2, order.size), np.int64)
    start = np.zeros(order.size + 1, np.int64)
    last, u, v = -1, -1, -1
    for position in range(order.size):  # what does not change is written again: cheaper than a branch
        edge = order[position]
        last += (row[edge] != u) | (column[edge] != v)
        u, v = row[edge], column[edge]
        coarse[0, last], coarse[1, last], start[last + 1] = u, v, position + 1
        became[edge] = last
    return coarse[:, : last + 1].copy(), became, order, start[: last + 2].copy()


@compiled
def reduce_rows(value: Floats, order: Ints, start: Ints, ways: Ints) -> Floats:
    """Reduce groups of rows, none of them empty, in several ways; the results of these stand side by side.

    `order` lists the rows one group after the other, `start` where every group starts in it.
    """
    width = value.shape[1]
    out = np.empty((start.size - 1, ways.size * width), value.dtype)
    for place in range(start.size - 1):
        begin, end = start[place], start[place + 1]
        for j in range(width):
            low = high = total = value[order[begin], j]
            for position in range(begin + 1, end):
                other = value[order[position], j]
                low, high, total = min(low, other), max(high, other), total + other
            found = (low, total / value.dtype.type(end - begin), high, total)
            for way in range(ways.size):
                out[place, way * width + j] = found[ways[way]]
    return out
