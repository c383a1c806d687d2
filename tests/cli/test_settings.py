import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghr.cli.settings import format_settings, parse_settings, parse_value

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("007", 7),
        ("+3", 3),
        ("1e-3", 0.001),
        (".5", 0.5),
        ("-2", -2),
        ("true", True),
        ("False", False),
        ("none", None),
        ("null", None),
        ("None", None),
        ("max", "max"),
        ("nan", "nan"),
        ("Infinity", "Infinity"),
        ("1e999", float("inf")),
        ("9" * 5000, "9" * 5000),
        ("[" * 100_000, "[" * 100_000),
        ("min,mean", ["min", "mean"]),
        ("[min, mean]", ["min", "mean"]),
        ("2,1", [2, 1]),
        ("[2,1]", [2, 1]),
        ("[]", []),
        ("true,none,x", [True, None, "x"]),
        ('"none"', "none"),
        ('{"rounds": 2}', {"rounds": 2}),
        ("a=b", "a=b"),
    ],
)
def test_a_value_is_json_or_a_number_or_a_list_or_a_word(text, value):
    found = parse_value(text)
    assert found == value
    assert type(found) is type(value)


def test_settings_stand_behind_one_option_or_several():
    assert parse_settings([["steps=8", "pool = max"], ["lr=1e-3"]]) == {"steps": 8, "pool": "max", "lr": 0.001}
    assert parse_settings([]) == {}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ([["steps"]], "--set needs a name and a value, such as --set steps=4; got 'steps'."),
        ([[]], "got nothing."),
        ([["=4"]], "--set needs a name before the equals sign; got '=4'."),
        ([[" =4"]], "--set needs a name before the equals sign"),
        ([["lr=1"], ["lr=2"]], "--set gives lr twice, as '1' and as '2'; give it once."),
        ([["lr="]], "--set lr is empty; write a value, or none."),
        ([["edge_reduce=min,"]], "--set edge_reduce is a list with an empty entry; got 'min,'."),
        ([["edge_reduce=[min,,max]"]], "a list with an empty entry"),
    ],
)
def test_what_is_no_setting_is_a_sentence(settings, sentence):
    with pytest.raises(ValueError, match="--set") as caught:
        parse_settings(settings)
    assert sentence in str(caught.value)


@given(st.dictionaries(st.from_regex(r"[a-z_]+", fullmatch=True), VALUES, max_size=4))
def test_written_settings_are_read_back(settings):
    assert parse_settings([format_settings(settings)] if settings else []) == settings
