from ghr.paper.markdown import markdown_table, number, spread
from ghr.paper.results import Spread


def test_tables_and_numbers():
    text = markdown_table(["model", "a", "b"], [["GHR", number(1.23456), spread(Spread(0.5, 0.25), 2)]])
    assert text.splitlines() == ["| model | a | b |", "|---|---:|---:|", "| GHR | 1.235 | 0.50 ± 0.25 |"]
    assert (number(None), spread(None)) == ("-", "-")
    assert spread(Spread(0.5, None), 2) == "0.50", "one seed has no deviation"
