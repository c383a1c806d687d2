import pytest

from ghr.datasets.folders.request import Request, list_names
from ghr.datasets.folders.schema import Schema


def test_names_may_be_one_or_many():
    assert [list_names("target", given) for given in (None, "y", ["a", "b"], ())] == [(), ("y",), ("a", "b"), ()]
    for wrong in (3, ["a", 3], {"a": 1}):
        with pytest.raises(ValueError, match="target must be the name of a column or a list of names"):
            list_names("target", wrong)
    with pytest.raises(ValueError, match="target names a column twice; got a, a"):
        list_names("target", ["a", "a"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"classes": "no"}, "classes must be True or False; got 'no'"),
        ({"undirected": 1}, "undirected must be True or False; got 1"),
        ({"level": "atom"}, "Unknown level 'atom'"),
        ({"target": ("y",), "ignore": ("y",)}, "'y' is the target; it cannot be in categorical or ignore"),
    ],
)
def test_wrong_options_are_sentences(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Request(**options)


def test_a_schema_leaves_nothing_to_ask():
    Request().check_alone(Schema())
    Request(target=("y",), classes=False).check_alone(None)
    with pytest.raises(ValueError, match="The schema says how to read the files; leave out target, classes"):
        Request(target=("y",), classes=False).check_alone(Schema())
    with pytest.raises(ValueError, match=r"schema must be a Schema, .*; got a dict"):
        Request().check_alone(Schema().describe())
