import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ghr.hierarchy.permutation import permutation, random_state


@given(st.integers(0, 2**63), st.lists(st.integers(0, 70), min_size=1, max_size=5))
def test_orders_are_those_of_numpy_one_after_the_other(seed, sizes):
    state, generator = random_state(seed), np.random.default_rng(seed)
    for size in sizes:
        assert permutation(state, size).tolist() == generator.permutation(size).tolist()


def test_a_long_order_is_that_of_numpy():
    assert np.array_equal(permutation(random_state(7), 100_000), np.random.default_rng(7).permutation(100_000))


def test_drawing_leaves_the_start_of_a_seed_as_it_was():
    first = permutation(random_state(3), 20)
    assert np.array_equal(first, permutation(random_state(3), 20))
    state = random_state(3)
    assert not np.array_equal(permutation(state, 20), permutation(state, 20)), "the state did not move on"
