import numpy as np
import pytest

from ghr.datasets.folders.csv_table import Table
from ghr.datasets.folders.kinds import (
    encode_classes,
    encode_column,
    find_words,
    infer_column,
    list_words,
    parse_numbers,
    simplify,
)
from ghr.datasets.folders.schema import Column


def table(*entries, words=()):
    return Table("nodes.csv", {"a": list(entries)}, range(2, 2 + len(entries)), words=frozenset(words))


def test_numbers_are_numbers_however_they_are_written():
    assert parse_numbers(["1", "-2.5", "1e3", "+4", ".5"]).tolist() == [1, -2.5, 1000, 4, 0.5]
    assert np.isnan(parse_numbers(["1", "", "NA", "NaN"])).tolist() == [False, True, True, True]
    assert parse_numbers(["1", "b"]) is None
    assert parse_numbers(["1_000"]) is None
    assert parse_numbers([]).shape == (0,)


def test_kinds_of_columns():
    assert infer_column(table("1", "2.5"), "a") == Column("a")
    assert infer_column(table("yes", "no", "yes"), "a") == Column("a", words=("no", "yes"))
    assert infer_column(table("10", "9"), "a", words=True) == Column("a", words=("9", "10")), "numbers sort as numbers"
    assert infer_column(table("1", "2", words="a"), "a") == Column("a", words=("1", "2"))


def test_sodium_is_an_element_and_not_missing():
    assert infer_column(table("Na", "C", "None"), "a").words == ("C", "Na", "None")


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        (["1", "", "3"], r"nodes.csv, line 3: the feature 'a' is missing \(''\); fill it in, .*--ignore a"),
        (["x", "NA"], r"nodes.csv, line 3: the feature 'a' is missing \('NA'\)"),
        (
            ["1", "2", "big"],
            r"line 4: 'a' is no number here \('big'\), but it is elsewhere \('1'\).*--categorical a",
        ),
        (["1", "inf"], "nodes.csv, line 3: 'a' must be a finite number below 3.4e38; got 'inf'"),
        (["1", "-1e39"], "nodes.csv, line 3: 'a' must be a finite number"),
        (["1", "-nan"], "nodes.csv, line 3: 'a' must be a finite number"),
        ([f"name {n}" for n in range(30)], "has 30 different words in 30 rows, which looks like names .*--ignore a"),
    ],
)
def test_columns_that_are_no_features_are_said_with_their_line(entries, sentence):
    with pytest.raises(ValueError, match=sentence):
        infer_column(table(*entries), "a")


def test_insisting_on_a_column_of_many_words_or_of_both_is_possible():
    assert len(infer_column(table(*(f"n{n}" for n in range(30))), "a", words=True).words) == 30
    assert infer_column(table("1", "x"), "a", words=True).words == ("1", "x")


def test_columns_are_encoded_as_their_kind_says():
    assert encode_column(table("1", "2.5"), Column("a")).tolist() == [1, 2.5]
    codes = encode_column(table("H", "C", "H"), Column("a", words=("C", "H")))
    assert (codes.tolist(), codes.dtype) == ([1, 0, 1], np.int64)
    assert encode_column(table("1.0", "2"), Column("a", words=("1", "2"))).tolist() == [0, 1]
    assert encode_classes(table("yes", "", "no"), "a", ("no", "yes")).tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    ("column", "entries", "sentence"),
    [
        (Column("a"), ["1", "x"], "nodes.csv, line 3: 'a' must be a number; got 'x'"),
        (Column("a"), ["1", ""], "nodes.csv, line 3: the feature 'a' is missing"),
        (Column("a"), ["inf"], "nodes.csv, line 2: 'a' must be a finite number"),
        (
            Column("a", words=("C", "H")),
            ["C", "U"],
            "nodes.csv, line 3: 'a' has the unknown value 'U'; known are C, H",
        ),
        (Column("a", words=("C", "H")), ["C", ""], "nodes.csv, line 3: the feature 'a' is missing"),
    ],
)
def test_what_training_did_not_have_is_said_with_its_line(column, entries, sentence):
    with pytest.raises(ValueError, match=sentence):
        encode_column(table(*entries), column)


def test_words_in_sentences_and_in_order():
    assert list_words("abc") == "a, b, c"
    assert list_words("abcdefghijklm") == "a, b, c, d, e, f, g, h, i, j and 3 more"
    assert find_words(["b", "a", "", "b"]) == ("a", "b")
    assert find_words(["10", "2.0", "2"]) == ("2", "10")
    assert [simplify(word) for word in ("1.0", "1.50", "01", "x.0")] == ["1", "1.50", "01", "x.0"]
