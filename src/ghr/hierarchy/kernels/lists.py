"""Numbers of nodes, edges and clusters: counted, grouped, shifted and looked at."""

import numpy as np

from ghr.hierarchy.kernels.types import Floats, Ints
from ghr.jit import compiled, fast


def number_clusters(label: Ints) -> tuple[Ints, int]:
    """Number clusters 0..C-1 in the order of their labels, which may be any integers; return the numbers and C."""
    number, count = number_small(label)
    if count < 0:
        values, number = np.unique(label, return_inverse=True)
        return number.astype(np.int64), values.size
    return number, count


@compiled
def number_small(label: Ints) -> tuple[Ints, int]:
    """Do so for labels that are all below the number of nodes; otherwise C is -1."""
    for node in range(label.size):
        if label[node] < 0 or label[node] >= label.size:
            return label, -1
    number = np.zeros(label.size, np.int64)
    for node in range(label.size):
        number[label[node]] = 1
    count = 0
    for value in range(label.size):
        count += number[value]
        number[value] = count - 1
    return number[label], count


@compiled
def group(key: Ints, num_groups: int) -> tuple[Ints, Ints]:
    """List the members of every group in their own order, one group after the other, and where every group starts.

    The key of an item is its group; an item of key -1 is in none.
    """
    start = np.zeros(num_groups + 2, np.int64)  # -1 is sorted in first and then cut off: cheaper than a branch
    for item in range(key.size):
        start[key[item] + 2] += 1
    for place in range(num_groups + 1):
        start[place + 1] += start[place]
    outside = start[1]
    member = np.empty(key.size, np.int64)
    cursor = start[:-1].copy()
    for item in range(key.size):
        member[cursor[key[item] + 1]] = item
        cursor[key[item] + 1] += 1
    return member[outside:], start[1:] - outside


@compiled
def shift_runs(number: Ints, start: Ints, shift: Ints) -> None:
    """Add a shift to every run of columns, in place; `start` says where every run starts, and where the last ends."""
    for row in range(number.shape[0]):
        for run in range(shift.size):
            for column in range(start[run], start[run + 1]):
                number[row, column] += shift[run]


@compiled
def find_ends(edges: Ints) -> tuple[int, int]:
    """Return the smallest and the largest node of edges, or zeros if there are none."""
    low, high = (edges[0, 0], edges[0, 0]) if edges.size else (0, 0)
    for end in range(2):
        for edge in range(edges.shape[1]):
            low, high = min(low, edges[end, edge]), max(high, edges[end, edge])
    return low, high


@fast
def add_up(value: Floats) -> float:
    """Return the sum of numbers, added in any order."""
    total = 0.0
    for place in range(value.size):
        total += value[place]
    return total
