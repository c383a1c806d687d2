import pytest

from ghr.search import DEFAULT_SPACE, Choice, Range


def test_a_range_is_whole_if_both_ends_are():
    assert Range(2, 6).whole
    assert not Range(2, 6.0).whole
    assert Range(1e-4, 1e-2, log=True).ends == (1e-4, 1e-2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((6, 2), "from a number to a larger one; got 6 to 2"),
        ((1, 1), "from a number to a larger one"),
        ((0.0, 1.0, True), "starts above 0; got 0.0"),
        (("1", 2), "must be a finite number; got '1'"),
        ((1, float("inf")), "must be a finite number; got inf"),
        ((True, 2), "must be a finite number; got True"),
        ((1, 2, "log"), "log must be True or False; got 'log'"),
    ],
)
def test_what_is_no_range_is_a_sentence(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        Range(*arguments)


@pytest.mark.parametrize("values", [[], ["max"], "max", 3])
def test_one_value_is_nothing_to_choose_from(values):
    with pytest.raises(ValueError, match="at least two values"):
        Choice(values)


def test_values_must_differ_and_may_be_lists():
    with pytest.raises(ValueError, match="must differ; got 1, 1"):
        Choice([1, 1])
    assert Choice([[2, 1], None, "max"]).texts == ["[2, 1]", "null", '"max"']
    assert Choice([1, 1.0, True]).texts == ["1", "1.0", "true"], "JSON tells these apart"


def test_the_default_space_is_described_in_json():
    assert DEFAULT_SPACE["lr"].describe() == {"low": 1e-4, "high": 1e-2, "log": True}
    assert DEFAULT_SPACE["pool"].describe() == ["max", "mean", "sum"]
