import sys

import numba
import numpy as np
import pytest
import torch

from ghr.ops.kernels.team import ALONE, X86, handed_out
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


@numba.njit(nogil=True)
def multiply(team, first, stop, small, factor, products):
    if handed_out(team, first, stop):
        return
    for row in range(first, stop):
        products[row] = small[row] * factor


@pytest.mark.skipif(not X86, reason="the control word of this CPU is left as it is")
@pytest.mark.parametrize("together", STARTS)
def test_numbers_that_are_not_normal_are_zero_in_kernels_alone(together):
    least = np.finfo(np.float32).tiny
    small = np.full(100, least, np.float32)
    for given, factor in ((small, np.float32(0.5)), (small / 2, np.float32(2))):  # written, and read
        products = np.ones(100, np.float32)
        multiply(start(together, 3), 0, 100, given, factor, products)
        assert (products == 0).all()
    assert least / np.float32(2) > 0
    assert torch.tensor(least) / 2 > 0


@pytest.mark.parametrize("together", STARTS)
def test_one_thread_calls_a_kernel_once_for_all_rows_and_a_team_for_pieces(together):
    visits = np.zeros((100, 2), np.int64)
    count_visits(start(together, 7), 0, 100, visits, -1, (1.0, 2))
    assert visits[0, 1] == (7 if together else 100)


@pytest.mark.parametrize("together", STARTS)
def test_references_are_as_before(together):
    visits = np.zeros((100, 2), np.int64)
    before = sys.getrefcount(visits)
    count_visits(start(together, 3), 0, 100, visits, -1, (1.0, 2))
    assert sys.getrefcount(visits) == before
