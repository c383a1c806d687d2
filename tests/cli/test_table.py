from ghr.cli.table import table


def test_columns_line_up_whatever_their_width():
    lines = table(["name", "x"], [["a", "10.0"], ["longer", "1"]]).splitlines()
    assert lines == ["name       x", "a       10.0", "longer     1"]


def test_words_stand_to_the_left():
    lines = table(["name", "x", "what"], [["a", "10", "b c"], ["d", "1", "e"]], left=(0, 2)).splitlines()
    assert lines == ["name   x  what", "a     10  b c", "d      1  e"]


def test_a_table_without_rows_is_its_header():
    assert table(["name", "x"], []) == "name  x"
