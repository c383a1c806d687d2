import pytest

from ghr.paper.item import Place
from ghr.paper.runs import list_runs, work_on
from tiny_columns import ECHO, LRIM, SYSTEMS


@pytest.fixture(scope="session")
def tiny_place(tmp_path_factory):
    """Finished runs of tiny columns, for all items that read them."""
    folder = tmp_path_factory.mktemp("equal")
    place = Place(folder / "runs", folder / "data")
    rows = [*ECHO.rows(SYSTEMS)[:3], *LRIM.rows(SYSTEMS)]
    assert work_on(list_runs(rows, place.runs), place.data, quiet=True) == []
    return place
