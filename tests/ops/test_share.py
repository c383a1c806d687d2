import numba
import pytest
import torch

from ghr.ops.share import share, spans


@pytest.fixture
def two_threads():
    before = numba.get_num_threads()
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    yield
    numba.set_num_threads(before)


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_every_part_is_done_once(count, two_threads):
    done = []
    share(lambda first, stop, into: into.extend(range(first, stop)), count, done)
    assert sorted(done) == list(range(count))


def test_an_error_in_any_part_comes_through(two_threads):
    for wrong in (0, 3):
        with pytest.raises(ZeroDivisionError):
            share(lambda first, stop, wrong: first <= wrong < stop and 1 / 0, 4, wrong)


def test_parts_that_touch_wait_after_every_update():
    assert spans(3, torch.tensor(True)) == [(0, 3)]
    assert spans(3, torch.tensor(False)) == [(0, 1), (1, 2), (2, 3)]
