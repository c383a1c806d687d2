import math

import numpy as np
import pytest

from ghr.datasets.options import one_of, positive, whole


def test_whole_numbers():
    assert whole("seed", np.int64(3), 0) == 3
    for value in (-1, 1.0, True, "2", None):
        with pytest.raises(ValueError, match=r"^seed must be a whole number of at least 0; got "):
            whole("seed", value, 0)


def test_positive_numbers():
    assert positive("sigma", 2) == 2.0
    for value in (0, -0.5, math.inf, math.nan, "1", None):
        with pytest.raises(ValueError, match=r"^sigma must be a positive number; got "):
            positive("sigma", value)


def test_names():
    one_of("split", "val", {"train": 1, "val": 2})
    with pytest.raises(ValueError, match=r"^Unknown split 'dev'; known are train, val\.$"):
        one_of("split", "dev", {"train": 1, "val": 2})
