"""Linear-time graph kernels under the partitions and the quotient graph, on plain arrays.

A graph is held as compressed rows: the neighbours of node ``u`` are ``neighbour[start[u] : start[u + 1]]``, the weights
of their edges the same slice of ``strength`` (empty where nobody reads weights), and that slice of ``row`` is ``u``:
loops run over all entries rather than over rows, since rows are short and the processor guesses wrong where they end.
Node numbers take 32 bits: these kernels are bound by memory, not by arithmetic. They have no sign: numba looks at every
sign, since -1 is the last item.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ghr.jit import compiled, fast, inlined

Ints: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]

MIN_DEGREE, HEAVY_EDGE, RANDOM = 0, 1, 2
MIN, MEAN, MAX, SUM = 0, 1, 2, 3  # ways to reduce, in the order in which they are found
TAKEN = 2**63 - 1  # instead of the key of a node that has its partner


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


@compiled
def find_far(source: Ints, target: Ints, lattice: Ints, starts: Ints, sides: Ints) -> int:
    """Return the first edge whose ends do not stand next to each other on a periodic lattice; -1 if there is none.

    Of every node its lattice is given, and of every lattice its first node and its side.
    """
    for edge in range(source.size):
        u, v = min(source[edge], target[edge]), max(source[edge], target[edge])
        if u < 0 or v >= lattice.size or lattice[u] != lattice[v]:
            return edge
        start, side = starts[lattice[u]], sides[lattice[u]]
        apart = v - u
        if apart == side or apart == side * (side - 1):  # one below the other, or at both ends of a column
            continue
        beside = apart == 1 and (v - start) % side != 0
        if not beside and not (apart == side - 1 and (u - start) % side == 0):
            return edge
    return -1
