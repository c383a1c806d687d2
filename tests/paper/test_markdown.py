import pytest

from ghr.paper.markdown import any_size, markdown_table, number, spread
from ghr.paper.results import Spread


def test_tables_and_numbers():
    text = markdown_table(["model", "a", "b"], [["GHR", number(1.23456), spread(Spread(0.5, 0.25), 2)]])
    assert text.splitlines() == ["| model | a | b |", "|---|---:|---:|", "| GHR | 1.235 | 0.50 ± 0.25 |"]
    assert (number(None), spread(None)) == ("-", "-")
    assert spread(Spread(0.5, None), 2) == "0.50", "one seed has no deviation"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0005, "0.001"),
        (-0.0004, "-4.0e-04"),
        (0, "0.000"),
        (-7.14, "-7.140"),
        (9.99e5, "999000.000"),
        (2e6, "2.0e+06"),
    ],
)
def test_no_error_reads_as_zero_but_zero(value, text):
    assert any_size(value) == text
    assert any_size(None) == "-"
