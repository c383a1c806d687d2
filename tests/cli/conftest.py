import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghr.cli import main


@pytest.fixture(autouse=True)
def quiet_afterwards() -> Iterator[None]:
    """Commands choose what the library says; the tests after them shall not hear it."""
    yield
    logger = logging.getLogger("ghr")
    logger.handlers.clear()
    logger.setLevel(logging.NOTSET)


@pytest.fixture(scope="session")
def trained(tmp_path_factory) -> Path:
    """The directory of a small run on ten graphs, its data beside it; tests must not change it."""
    folder = tmp_path_factory.mktemp("trained")
    small = ["--set", "hidden_channels=4", "steps=2", "t_low=1", "--graphs", "10", "--epochs", "2", "--quiet"]
    main(["train", "rgg-sssp-small", *small, "--out", str(folder / "run"), "--data", str(folder / "data")])
    return folder / "run"
