import pytest

from ghr.ops import using


@pytest.fixture(autouse=True)
def _without_kernels():
    with using("torch"):  # compiling kernels in double precision would take longer than all of these tests
        yield
