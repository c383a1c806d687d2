import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ghr.ops.kernels.segments import sort_by


@given(st.lists(st.integers(0, 6), max_size=40))
def test_sorting_is_stable_and_finds_the_starts(keys):
    key = np.array(keys, dtype=np.int64)
    start, order = sort_by(key, 8)
    assert order.tolist() == sorted(range(len(keys)), key=lambda entry: keys[entry])
    assert start.tolist() == [sum(k < value for k in keys) for value in range(9)]
