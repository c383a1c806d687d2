import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghr.datasets.folders.csv_table import cut_columns, read_csv


def table_of(tmp_path, content):
    path = tmp_path / "nodes.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_csv(path)


@pytest.mark.parametrize(
    "content",
    [
        "node,size\na,1\nb,2\n",
        "node,size\r\na,1\r\nb,2",
        b"\xef\xbb\xbfnode,size\na,1\nb,2\n",
        '"node","size"\n"a","1"\nb,2\n',
        "node, size\n a ,1 \n\tb,2\n",
        "node,size\ra,1\rb,2\r",
    ],
    ids=["unix", "windows", "byte order mark", "quoted", "blanks", "old mac"],
)
def test_every_way_to_write_the_same_table(tmp_path, content):
    table = table_of(tmp_path, content)
    assert table.columns == {"node": ["a", "b"], "size": ["1", "2"]}
    assert [table.locate(row) for row in range(len(table))] == ["nodes.csv, line 2", "nodes.csv, line 3"]


def test_lines_are_those_of_the_file_where_lines_are_blank_or_entries_have_several(tmp_path):
    table = table_of(tmp_path, '\nnode,size\n\na,1\n"b\nb",2\n   \nc,"3,5"\n')
    assert table.columns == {"node": ["a", "b\nb", "c"], "size": ["1", "2", "3,5"]}
    assert list(table.lines) == [4, 5, 8]


def test_a_table_of_one_column_and_one_without_rows(tmp_path):
    assert table_of(tmp_path, "node\na\n\nb\n").columns == {"node": ["a", "b"]}
    assert table_of(tmp_path, "node,size\n").columns == {"node": [], "size": []}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "nodes.csv is empty; its first line must name the columns"),
        ("\n \n", "nodes.csv is empty"),
        ("node;size\na;1\n", "nodes.csv has semicolons between its columns; write it with commas"),
        ("node\tsize\na\t1\n", "nodes.csv has tabs between its columns"),
        ("node,size\na,1\nb\n", r"nodes.csv, line 3 has 1 entry, but the file has 2 columns \(node, size\)"),
        ("node,size\na,1,2\n", "nodes.csv, line 2 has 3 entries"),
        ("node,node\na,1\n", "nodes.csv has two columns of the name 'node'"),
        (",node\n0,a\n", r"nodes.csv: column 1 has no name.*to_csv\(index=False\)"),
        (b"node,size\na,1\n\xe4,2\n", r"nodes.csv, line 3 is not UTF-8 \(byte 0xe4\)"),
        ('node,size\na,1\n"b,2\n', "nodes.csv, line 3: this is not CSV"),
        ('node,size\n"a"x,1\n', "nodes.csv, line 2: this is not CSV"),
    ],
)
def test_what_is_no_table_is_said_with_its_line(tmp_path, content, sentence):
    with pytest.raises(ValueError, match=sentence):
        table_of(tmp_path, content)


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path):
    (tmp_path / "nodes.csv").mkdir()
    with pytest.raises(OSError, match=r"Could not read .*nodes.csv: "):
        read_csv(tmp_path / "nodes.csv")


@given(
    st.integers(1, 3).flatmap(
        lambda width: st.lists(
            st.lists(st.text('ab1.,"\n\r ;', max_size=3), min_size=width, max_size=width), min_size=1, max_size=4
        )
    ),
    st.sampled_from(["\n", "\r\n"]),
)
def test_the_fast_way_reads_what_the_csv_module_reads(rows, end):
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator=end).writerows(rows)
    columns = cut_columns(file.getvalue(), len(rows[0]))
    if columns is not None:
        assert [list(row) for row in zip(*columns, strict=True)] == rows[1:]
    elif not any(mark in entry for row in rows for entry in row for mark in ',"\n\r') and all(map(any, rows)):
        raise AssertionError("A plain text was not recognised as one.")
