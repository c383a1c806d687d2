import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ghr.hierarchy.kernels.lists import number_clusters
from ghr.hierarchy.kernels.matching import reorder


@given(st.lists(st.integers(0, 6), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_clusters_of_late_nodes_come_first_in_the_next_round(labels, random):
    label, count = number_clusters(np.array(labels))
    order = random.sample(range(label.size), label.size)
    later = reorder(np.array(order, np.int32), label, count)
    assert later.tolist() == list(dict.fromkeys(label[np.array(order[::-1])].tolist()))
