import threading

import numba
import pytest
import torch

from ghr.ops.share import share, spans


@pytest.fixture
def threads():
    before = numba.get_num_threads()
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    yield numba.get_num_threads()
    numba.set_num_threads(before)


@pytest.mark.parametrize("count", [0, 1, 5, 100])
@pytest.mark.parametrize("least", [1, 40])
def test_ranges_cover_everything_once(threads, count, least):
    seen, lock = [], threading.Lock()

    def work(first, last, name):
        assert name == "rows"
        with lock:
            seen.extend(range(first, last))

    share(work, count, "rows", least=least)
    assert sorted(seen) == list(range(count))


def test_an_error_of_any_thread_comes_through(threads):
    def work(first, last):
        if first <= 7 < last:
            raise ValueError("seven")

    with pytest.raises(ValueError, match="seven"):
        share(work, 20)
    share(lambda first, last: None, 20)  # and the threads go on


def test_parts_that_touch_wait_after_every_update():
    assert spans(3, torch.tensor(True)) == [(0, 3)]
    assert spans(3, torch.tensor(False)) == [(0, 1), (1, 2), (2, 3)]
