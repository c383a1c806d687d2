import sys

import numba
import numpy as np
import pytest

from ghr.ops.kernels.team import ALONE, handed_out
from ghr.ops.share import _find_team

STARTS = [pytest.param(False, id="alone")]
if all(_find_team()):
    STARTS.append(pytest.param(True, id="team"))


@numba.njit(nogil=True)
def count_visits(team, first, stop, visits, bad, more):
    if handed_out(team, first, stop):
        return
    for row in range(first, stop):
        if row == bad:
            raise ValueError("bad row")
        here = visits[row]  # a view of what a team holds for its threads
        here[0] += more[0]
        here[1] = stop - first


def start(together, step):
    return (*_find_team(), 3, step) if together else ALONE


@pytest.mark.parametrize("together", STARTS)
@pytest.mark.parametrize(("first", "stop", "step"), [(0, 0, 1), (0, 1, 5), (0, 100, 7), (20, 60, 1)])
def test_every_row_is_visited_once(together, first, stop, step):
    visits = np.zeros((100, 2), np.int64)
    count_visits(start(together, step), first, stop, visits, -1, (1.0, 2))
    wanted = np.zeros(100)
    wanted[first:stop] = 1
    np.testing.assert_array_equal(visits[:, 0], wanted)
    sizes = visits[first:stop, 1]
    assert sizes.max(initial=0) <= (step if together else stop - first)


@pytest.mark.parametrize("together", STARTS)
def test_an_error_of_any_thread_comes_through(together):
    visits = np.zeros((100, 2), np.int64)
    with pytest.raises(ValueError, match="bad row"):
        count_visits(start(together, 3), 0, 100, visits, 77, (1.0, 2))
    count_visits(start(together, 3), 0, 100, visits, -1, (1.0, 2))  # and the threads go on


@pytest.mark.parametrize("together", STARTS)
def test_references_are_as_before(together):
    visits = np.zeros((100, 2), np.int64)
    before = sys.getrefcount(visits)
    count_visits(start(together, 3), 0, 100, visits, -1, (1.0, 2))
    assert sys.getrefcount(visits) == before
