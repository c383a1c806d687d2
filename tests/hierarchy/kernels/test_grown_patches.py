"""Every node comes once, patches hang together, and nodes of another graph wait until one is done."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghr.hierarchy.kernels.patches import grow_patches


def rows_of(nodes: int, edges: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    near = [sorted({v for u, v in edges if u == node} | {u for u, v in edges if v == node}) for node in range(nodes)]
    start = np.cumsum([0, *(len(found) for found in near)])
    return start, np.array([v for found in near for v in found], np.uint32)


def grow_slowly(start, neighbour, size: int) -> list[int]:
    """The same with sets and lists: a patch is a breadth-first search among nodes that are in no patch yet."""
    nodes = len(start) - 1
    near = [neighbour[start[node] : start[node + 1]].tolist() for node in range(nodes)]
    order: list[int] = []
    while len(order) < nodes:
        beside = (found for node in order for found in near[node] if found not in order)
        patch = [next(beside, min(set(range(nodes)) - set(order)))]
        for node in patch:
            new = [found for found in near[node] if found not in order and found not in patch]
            patch += new[: max(0, size - len(patch))]
        order += patch
    return order


@st.composite
def graphs(draw):
    nodes = draw(st.integers(1, 24))
    ends = st.integers(0, nodes - 1)
    return rows_of(nodes, draw(st.lists(st.tuples(ends, ends), max_size=40)))


@given(graphs(), st.integers(1, 8))
def test_patches_are_those_of_a_slow_search(rows, size):
    assert grow_patches(*rows, size).tolist() == grow_slowly(*rows, size)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_a_graph_is_done_before_the_next_begins(size):
    rows = rows_of(9, [(0, 3), (3, 1), (5, 6), (6, 7), (7, 8)])  # 2 and 4 are alone
    component = [0, 0, 1, 0, 2, 3, 3, 3, 3]
    assert [component[node] for node in grow_patches(*rows, size)] == sorted(component)
