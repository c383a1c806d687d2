from ghr.cli.table import table


def test_columns_line_up_whatever_their_width():
    lines = table(["name", "x"], [["a", "10.0"], ["longer", "1"]]).splitlines()
    assert lines == ["name       x", "a       10.0", "longer     1"]
