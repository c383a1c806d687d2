import subprocess
import sys

import pytest

import ghr
from ghr import api


def test_every_public_name_is_there():
    assert [name for name in ghr.__all__ if getattr(ghr, name) is not getattr(api, name)] == []
    assert {*ghr.__all__} <= {*dir(ghr)}
    assert ghr.datasets.BENCHMARKS


def test_an_unknown_name_shows_the_known_ones():
    with pytest.raises(AttributeError, match="has no attribute 'GRH'; it has GHR, "):
        _ = ghr.GRH


def test_a_star_brings_everything_and_nothing_comes_unasked():
    code = (
        "import sys, ghr; print('torch' in sys.modules); from ghr import *; print(GHR.__name__, sorted(ghr.__all__)[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"False\nGHR {sorted(api.__all__)[0]}\n"
