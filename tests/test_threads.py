import numba
import pytest
import torch

from ghr.threads import available_cores, use_threads


def test_threads_are_set_and_set_back():
    before = torch.get_num_threads(), numba.get_num_threads()
    with use_threads(1):
        assert (torch.get_num_threads(), numba.get_num_threads()) == (1, 1)
    assert (torch.get_num_threads(), numba.get_num_threads()) == before


def test_threads_are_set_back_after_an_error_and_numba_takes_what_it_can():
    before = torch.get_num_threads()
    seen = []

    def fail():
        with use_threads(1000):
            seen.append(numba.get_num_threads())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert seen == [numba.config.NUMBA_NUM_THREADS]
    assert torch.get_num_threads() == before


def test_there_is_a_core():
    assert available_cores() >= 1
