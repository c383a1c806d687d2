import threading

import numba
import numpy as np
import pytest
import torch

from ghr.ops.kernels.turns import taken
from ghr.ops.share import share, spans


@pytest.fixture
def threads():
    before = numba.get_num_threads()
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    yield numba.get_num_threads()
    numba.set_num_threads(before)


@numba.njit(nogil=True)
def count_visits(turns, visits, slow):
    for part in taken(turns):
        visits[part] += 1
        for _ in range(slow):  # so that all threads come to take some
            visits[part] += 1
            visits[part] -= 1


@pytest.mark.parametrize("count", [0, 1, 5, 100])
@pytest.mark.parametrize("least", [1, 40])
@pytest.mark.parametrize("number", [1, 2, 7])
def test_every_part_is_taken_once(monkeypatch, count, least, number):
    monkeypatch.setattr(numba, "get_num_threads", lambda: number)
    visits = np.zeros(count, np.int64)
    share(count_visits, count, visits, 10_000, least=least)
    assert (visits == 1).all()


def test_a_team_takes_all_turns_together(threads):
    seen, lock = [], threading.Lock()

    def work(turns, name):
        with lock:
            seen.append((threading.get_ident(), turns.tolist(), name))

    share(work, 100, "rows")
    assert len({ident for ident, _, _ in seen}) == len(seen) == threads
    for _, turns, name in seen:
        assert (turns[0], turns[1], turns[-1], name) == (0, 0, 100, "rows")
        assert turns[1:] == sorted(set(turns[1:]))


def test_an_error_of_any_thread_comes_through(threads):
    here = threading.get_ident()

    def work(turns):
        if threading.get_ident() != here or threads == 1:
            raise ValueError("seven")

    with pytest.raises(ValueError, match="seven"):
        share(work, 20)
    share(lambda turns: None, 20)  # and the threads go on


def test_parts_that_touch_wait_after_every_update():
    assert spans(3, torch.tensor(True)) == [(0, 3)]
    assert spans(3, torch.tensor(False)) == [(0, 1), (1, 2), (2, 3)]
