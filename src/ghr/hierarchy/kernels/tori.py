"""Periodic lattices."""

from ghr.hierarchy.kernels.types import Ints
from ghr.jit import compiled


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
