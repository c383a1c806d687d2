import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghr.datasets.generators.distances import eccentricities, hops_from


@st.composite
def graphs(draw):
    size = draw(st.integers(1, 12))
    node = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=20))
    return np.array(edges, dtype=np.int64).reshape(-1, 2).T, size


def slow_distances(edges, size):
    """Floyd and Warshall, with infinity where there is no path."""
    distance = [[0 if u == v else np.inf for v in range(size)] for u in range(size)]
    for u, v in edges.T.tolist():
        if u != v:
            distance[u][v] = distance[v][u] = 1
    for middle in range(size):
        for u in range(size):
            for v in range(size):
                distance[u][v] = min(distance[u][v], distance[u][middle] + distance[middle][v])
    return np.array(distance)


@given(graphs(), st.booleans())
def test_distances_are_those_of_floyd_and_warshall(graph, both):
    edges, size = graph
    wanted = slow_distances(edges, size)
    given_edges = np.concatenate([edges, edges[::-1]], axis=1) if both else edges
    for source in range(size):
        found = hops_from(given_edges, size, source)
        assert np.where(found < 0, np.inf, found).tolist() == wanted[source].tolist()
    farthest = np.where(np.isinf(wanted), -1, wanted).max(axis=1)
    assert eccentricities(given_edges, size).tolist() == farthest.tolist()


@pytest.mark.parametrize("size", [3, 4, 9])
def test_ring(size):
    ring = np.stack([np.arange(size), (np.arange(size) + 1) % size])
    assert eccentricities(ring, size).tolist() == [size // 2] * size
