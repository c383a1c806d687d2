import os
from functools import partial

import pytest

from ghr.datasets.storage.workers import in_order


def scaled(factor, index):
    return factor * index, os.getpid()


@pytest.mark.parametrize("workers", [1, 2])
def test_results_stand_in_the_order_of_the_indices(workers):
    indices = range(5, 25)
    results = in_order(partial(scaled, 3), indices, workers=workers, description="Working")
    assert [value for value, _ in results] == [3 * index for index in indices]
    assert ({process for _, process in results} == {os.getpid()}) is (workers == 1)


def failing(index):
    raise ValueError(f"No graph {index}.")


@pytest.mark.parametrize("workers", [1, 2])
def test_what_fails_in_a_process_fails_here(workers):
    with pytest.raises(ValueError, match="No graph 7"):
        in_order(failing, [7], workers=workers, description="Working")
