import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ghr.hierarchy.kernels.tori import find_far

SIDES = (4, 3)  # two lattices, one behind the other
LATTICE = np.repeat([0, 1], [16, 9])


def are_near(u: int, v: int) -> bool:
    if min(u, v) < 0 or max(u, v) >= LATTICE.size or LATTICE[u] != LATTICE[v]:
        return False
    side, start = SIDES[LATTICE[u]], 16 * LATTICE[u]
    (row, column), (other_row, other_column) = divmod(u - start, side), divmod(v - start, side)
    down, across = (row - other_row) % side, (column - other_column) % side
    return sorted([min(down, side - down), min(across, side - across)]) == [0, 1]


@given(st.lists(st.tuples(st.integers(-1, 26), st.integers(-1, 26)), max_size=30))
def test_the_first_edge_between_nodes_that_are_not_neighbours_is_found(edges):
    near = [edge for edge in edges if are_near(*edge)]
    for listed in (edges, near, [*near, *edges]):
        expected = next((place for place, edge in enumerate(listed) if not are_near(*edge)), -1)
        source, target = np.array(listed, np.int64).reshape(-1, 2).T
        assert find_far(source, target, LATTICE, np.array([0, 16]), np.array(SIDES)) == expected


def test_every_edge_of_a_lattice_is_between_neighbours():
    every = np.array([(u, v) for u in range(25) for v in range(25) if are_near(u, v)])
    assert len(every) == 4 * 25
    assert find_far(*every.T, LATTICE, np.array([0, 16]), np.array(SIDES)) == -1
