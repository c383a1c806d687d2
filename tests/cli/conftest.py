import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def quiet_afterwards() -> Iterator[None]:
    """Commands choose what the library says; the tests after them shall not hear it."""
    yield
    logger = logging.getLogger("ghr")
    logger.handlers.clear()
    logger.setLevel(logging.NOTSET)
