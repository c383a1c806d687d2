import json

import numpy as np
import pytest

from ghr.analysis import Profile


def test_shares_and_range_by_hand():
    influence = [np.array([4.0, 2.0, 2.0, 0.0]), np.array([0.0, 0.0, 0.0, 3.0])]
    hops = [np.array([0, 1, 1, 2]), np.array([3, 2, 1, 0])]
    found = Profile.of(influence, hops)
    assert found.share == pytest.approx({0: 0.75, 1: 0.25, 2: 0.0, 3: 0.0})
    assert found.each == pytest.approx({0: 1.5 / 2, 1: 0.5 / 3, 2: 0.0, 3: 0.0})
    assert found.range == pytest.approx(0.25)  # a half, and none
    assert found.even == pytest.approx((1.0 + 1.5) / 2)
    assert (found.rows, found.silent, found.unreached) == (2, 0, 0.0)
    assert found.within(0) == pytest.approx(0.75)


def test_nodes_without_a_path_are_told_apart():
    found = Profile.of([np.array([1.0, 1.0, 2.0])], [np.array([0, 1, -1])])
    assert found.unreached == pytest.approx(0.5)
    assert found.share == pytest.approx({0: 0.5, 1: 0.5})
    assert found.range == pytest.approx(0.5)


def test_predictions_that_depend_on_nothing_have_no_range():
    found = Profile.of([np.zeros(2), np.array([0.0, 1.0])], [np.array([0, 1]), np.array([1, 0])])
    assert (found.range, found.rows, found.silent) == (0.0, 1, 1)
    nothing = Profile.of([np.zeros(2)], [np.array([0, 1])])
    assert (nothing.range, nothing.even, nothing.share, nothing.silent) == (None, None, {}, 1)
    only_far = Profile.of([np.array([0.0, 1.0])], [np.array([0, -1])])
    assert (only_far.range, only_far.unreached) == (None, 1.0)


def test_it_is_told_in_json():
    found = Profile.of([np.array([1.0, 3.0], dtype=np.float32)], [np.array([0, 1])]).describe()
    assert json.loads(json.dumps(found)) == found
    assert found["share"] == {"0": 0.25, "1": 0.75}
    assert found["range"] == 0.75
