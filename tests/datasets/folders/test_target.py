import numpy as np
import pytest
from writing import GRAPHS, NODES, write

from ghr.datasets.folders.csv_table import Table
from ghr.datasets.folders.tables import read_tables
from ghr.datasets.folders.target import encode_target, find_level, infer_classes


def table(**columns):
    return Table("nodes.csv", columns, range(2, 2 + len(next(iter(columns.values())))))


def test_the_level_follows_from_the_file(tmp_path):
    tables = read_tables(write(tmp_path, nodes=NODES, graphs=GRAPHS))
    assert [find_level(tables, (name,)) for name in ("size", "kind", "energy")] == ["node", "edge", "graph"]


def test_several_files_with_the_target_ask_for_the_level(tmp_path):
    tables = read_tables(write(tmp_path, nodes=NODES, graphs="graph,size\nm1,1\nm2,2\n"))
    with pytest.raises(ValueError, match=r"nodes.csv and graphs.csv have a column 'size'; .* node or graph .*--level"):
        find_level(tables, ("size",))
    assert find_level(tables, ("size",), "graph") == "graph"
    with pytest.raises(ValueError, match="There is no column 'size' to predict of level 'edge'"):
        find_level(tables, ("size",), "edge")
    with pytest.raises(ValueError, match="Unknown level 'atom'"):
        find_level(tables, ("size",), "atom")


def test_a_target_that_is_not_there_lists_those_that_are(tmp_path):
    tables = read_tables(write(tmp_path, nodes=NODES, graphs=GRAPHS))
    with pytest.raises(
        ValueError, match=r"no column 'charge'.*nodes.csv: size, element; edges.csv: kind; graphs.csv: energy"
    ):
        find_level(tables, ("charge",))
    with pytest.raises(ValueError, match="There is no column 'target' to predict"):
        find_level(tables, ("target",))
    with pytest.raises(ValueError, match="The targets size, energy must be columns of the same file"):
        find_level(tables, ("size", "energy"))


@pytest.mark.parametrize(
    ("entries", "classes", "found"),
    [
        (["1.5", "2", ""], None, None),
        (["1", "2"], None, None),
        (["1", "2"], False, None),
        (["2", "10", "2.0", ""], True, ("2", "10")),
        (["yes", "no", ""], None, ("no", "yes")),
        (["true", "false"], True, ("false", "true")),
        (["1", "x"], True, ("1", "x")),
    ],
)
def test_words_are_classes_and_numbers_are_numbers(entries, classes, found):
    assert infer_classes(table(y=entries), ("y",), classes) == found


@pytest.mark.parametrize(
    ("entries", "classes", "sentence"),
    [
        (["", "NA"], None, "nodes.csv: no row has the target 'y'; training needs some"),
        (["1", "yes"], False, "nodes.csv, line 3: 'y' holds words, which can only be classes; got 'yes'"),
        (["1", "2", "x"], None, r"nodes.csv, line 4: 'y' is no number here \('x'\).*\(classes, --classes\)"),
        (["1", "2.5"], True, "nodes.csv, line 3: classes must be words or whole numbers; got '2.5'"),
        (["yes", "yes"], None, "all rows have the same class 'y', 'yes'; training needs two"),
        ([f"n{n}" for n in range(30)], None, "the target 'y' has 30 different classes in 30 rows"),
    ],
)
def test_targets_that_are_neither_are_said(entries, classes, sentence):
    with pytest.raises(ValueError, match=sentence):
        infer_classes(table(y=entries), ("y",), classes)


def test_several_targets_are_numbers():
    both = table(a=["1", ""], b=["2", "3"])
    assert infer_classes(both, ("a", "b")) is None
    assert np.array_equal(encode_target(both, ("a", "b"), None), [[1, 2], [np.nan, 3]], equal_nan=True)
    with pytest.raises(ValueError, match=r"nodes.csv: several targets must be numbers, but 'b' holds words"):
        infer_classes(table(a=["1", "2"], b=["x", "y"]), ("a", "b"))
    with pytest.raises(ValueError, match="Several targets must be numbers, not classes; got a, b"):
        infer_classes(both, ("a", "b"), True)


def test_targets_are_encoded():
    assert encode_target(table(y=["no", "", "yes"]), ("y",), ("no", "yes")).tolist() == [0, -1, 1]
    with pytest.raises(ValueError, match="line 2: 'y' has the unknown value 'perhaps'; known are no, yes"):
        encode_target(table(y=["perhaps"]), ("y",), ("no", "yes"))
    with pytest.raises(ValueError, match=r"nodes.csv, line 2: the target 'y' must be a number; got 'x'"):
        encode_target(table(y=["x"]), ("y",), None)
    with pytest.raises(
        ValueError, match=r"nodes.csv, line 3: the target 'y' must be a finite number below 3.4e38; got 'inf'"
    ):
        encode_target(table(y=["1", "inf"]), ("y",), None)
