import importlib
import os

import numba
import numpy as np
import pytest
import torch

from ghr.ops.kernels.team import handed_out
from ghr.ops.share import share, spans

module = importlib.import_module("ghr.ops.share")


@pytest.fixture(params=["team", "pool", "fork"])
def threads(request, monkeypatch):
    """All threads: those of OpenMP, or our own where there are none or where they did not come along."""
    if request.param == "pool":
        monkeypatch.setattr(module, "_find_team", lambda: (0, 0))
    if request.param == "fork":
        monkeypatch.setattr(module, "_FIRST", os.getpid() + 1)
    before = numba.get_num_threads()
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    yield numba.get_num_threads()
    numba.set_num_threads(before)


@numba.njit(nogil=True)
def count_visits(team, first, stop, visits, bad):
    if handed_out(team, first, stop):
        return
    for row in range(first, stop):
        if row == bad:
            raise ValueError("bad row")
        visits[row] += 1


@pytest.mark.parametrize("count", [0, 1, 5, 100, 1000])
@pytest.mark.parametrize("least", [1, 40])
def test_ranges_cover_everything_once(threads, count, least):
    visits = np.zeros(count, np.int64)
    share(count_visits, count, visits, -1, least=least)
    assert (visits == 1).all()


def test_an_error_of_any_thread_comes_through(threads):
    visits = np.zeros(20, np.int64)
    with pytest.raises(ValueError, match="bad row"):
        share(count_visits, 20, visits, 7)
    share(count_visits, 20, visits, -1)  # and the threads go on


def test_rows_that_are_not_worth_a_thread_are_done_by_this_one(threads):
    calls = []
    share(lambda team, first, stop, name: calls.append((team[0], first, stop, name)), 50, "rows", least=40)
    assert calls == [(0, 0, 50, "rows")]


def test_parts_that_touch_wait_after_every_update():
    assert spans(3, torch.tensor(True)) == [(0, 3)]
    assert spans(3, torch.tensor(False)) == [(0, 1), (1, 2), (2, 3)]
