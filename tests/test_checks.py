import math

import numpy as np
import pytest
import torch

from ghr.checks import MOST, check_choice, check_flag, check_names, check_number, check_whole, show


@pytest.mark.parametrize("value", [0, -2, 1.0, True, None, "3", np.float64(2), torch.tensor([1, 2]), [1]])
def test_what_is_no_count_is_refused(value):
    with pytest.raises(ValueError, match="steps must be a whole number of at least 1; got"):
        check_whole("steps", value)


def test_whole_numbers_pass_and_come_back_as_python_has_them():
    assert check_whole("steps", 10**6) == 10**6
    assert type(check_whole("steps", np.int64(3))) is int
    assert check_whole("seed", 0, 0) == 0
    with pytest.raises(ValueError, match='at most 5, or "auto"; got 6'):
        check_whole("steps", 6, most=5, also=', or "auto"')


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, True, None, "1", 1j])
def test_what_is_no_positive_number_is_refused(value):
    with pytest.raises(ValueError, match="lr must be a finite number above 0; got"):
        check_number("lr", value, above=0)


def test_numbers_pass_within_their_bounds():
    assert check_number("gamma", 1, above=0, most=1) == 1.0
    assert check_number("decay", np.float32(0), least=0) == 0.0
    with pytest.raises(ValueError, match=r"above 0 and of at most 1; got 1.5"):
        check_number("gamma", 1.5, above=0, most=1)
    with pytest.raises(ValueError, match="must be a finite number; got nan"):
        check_number("x", math.nan)


def test_a_choice_lists_what_is_known():
    assert check_choice("pool", "max", ["max", "sum"]) == "max"
    for value in ("maximum", None, torch.zeros(2), np.zeros(2), {}):
        with pytest.raises(ValueError, match=r"Unknown pool .*; known are max, sum"):
            check_choice("pool", value, ["max", "sum"])


@pytest.mark.parametrize("value", ["no", 0, 1, None, np.bool_(True)])
def test_words_and_numbers_are_no_flags(value):
    with pytest.raises(ValueError, match="log10 must be True or False; got"):
        check_flag("log10", value)


def test_unknown_names_are_listed_beside_the_known():
    check_names("GHR", ["steps"], ["steps", "conv"])
    with pytest.raises(ValueError, match="GHR has no option 'stepz', 'x'; known are conv, steps"):
        check_names("GHR", ["stepz", "x", "conv"], ["steps", "conv"])


@pytest.mark.parametrize("value", [10**400, -(10**400), 10**5000], ids=["large", "below", "unprintable"])
def test_numbers_beyond_all_bounds_are_refused_too(value):
    for check in (check_number, check_whole):
        with pytest.raises(ValueError, match=r"size must be a (finite|whole) number.*; got"):
            check("size", value, least=0, **({} if check is check_number else {"most": MOST}))


def test_an_array_of_one_known_word_is_not_that_word():
    for value in (np.array(["max"]), [["max"]], {"max"}):
        with pytest.raises(ValueError, match="Unknown pool"):
            check_choice("pool", value, ["max", "sum"])
    assert check_choice("pool", np.str_("max"), ["max"]) == "max"


def test_values_are_shown_in_one_short_line():
    assert show("word") == "'word'"
    assert show(10**5000) == "a value of type int that is too long to print"
    for value in (np.zeros((30, 30)), torch.zeros(30, 30), "a" * 500, 10**400, list(range(100))):
        assert "\n" not in show(value)
        assert len(show(value)) == 80
