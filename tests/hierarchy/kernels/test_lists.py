import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ghr.hierarchy.kernels.lists import find_ends, group, number_clusters, shift_runs
from hierarchy.strategies import edge_lists


def test_runs_are_shifted_in_every_row():
    number = np.arange(10).reshape(2, 5)
    shift_runs(number, np.array([0, 2, 2, 5]), np.array([100, 7, 200]))
    assert number.tolist() == [[100, 101, 202, 203, 204], [105, 106, 207, 208, 209]]


@given(edge_lists())
def test_ends_are_the_smallest_and_the_largest_node(graph):
    numbers = graph[0].flatten().tolist() or [0]
    assert find_ends(graph[0].numpy()) == (min(numbers), max(numbers))


@given(st.lists(st.integers(-5, 25), min_size=1, max_size=20))
def test_number_clusters_keeps_the_order_of_the_labels(labels):
    number, count = number_clusters(np.array(labels))
    values = sorted(set(labels))
    assert count == len(values)
    assert number.tolist() == [values.index(label) for label in labels]


@given(st.lists(st.integers(-1, 6), max_size=20))
def test_group_lists_the_members_of_every_group(groups):
    member, start = group(np.array(groups, dtype=np.int64), 7)
    found = [member[start[key] : start[key + 1]].tolist() for key in range(7)]
    assert found == [[item for item, group in enumerate(groups) if group == key] for key in range(7)]
    assert start[-1] == member.size
