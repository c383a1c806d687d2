import pytest

from ghr.paper.item import Place, write_report
from ghr.paper.items import ITEMS

MEASURED = {"table-memory", "table-start", "figure-diameter"}


def test_all_items_of_the_study_are_there():
    assert set(ITEMS) == MEASURED | {
        "figure-small-range", "table-ablations", "figure-ablations", "figure-prediction", "figure-parameters",
        "table-beyond", "table-cells", "table-questions",
        "table-echo", "figure-echo-range", "table-lrim", "table-lrim-transfer", "table-lrgb",
        "table-shift", "table-sensitivity",
    }  # fmt: skip
    assert all(item.name == name for name, item in ITEMS.items())
    assert {name for name, item in ITEMS.items() if not item.rows} == MEASURED


@pytest.mark.parametrize("name", sorted(set(ITEMS) - MEASURED))
def test_without_any_run_every_row_says_so(tmp_path, name):
    write_report(ITEMS[name], Place(tmp_path / "runs", tmp_path / "data"), tmp_path)
    text = (tmp_path / f"{name}.md").read_text()
    assert f"`ghr reproduce {name}`" in text
    assert text.count("not run") >= len(ITEMS[name].rows)
