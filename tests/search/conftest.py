import pytest

from ghr.search import Choice, Range, Search


@pytest.fixture
def search() -> Search:
    """Two things to choose, on ten graphs, trained in no time."""
    return Search(
        "rgg-sssp-small",
        "recurrent-gine",
        {"lr": Range(1e-4, 1e-2, log=True), "hidden_channels": Choice([4, 8])},
        {"epochs": 1, "steps": 1, "t_low": 1},
        graphs=10,
    )
