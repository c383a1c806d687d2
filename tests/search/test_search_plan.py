from dataclasses import replace

import pytest

from ghr.search import Choice, Range, Search, with_default_space

LIKE_ALL = {"lr", "batch_size", "hidden_channels"}


@pytest.fixture(scope="module")
def splits(tmp_path_factory):
    return Search("rgg-sssp-small", graphs=20).choose({}).data.load(tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("ghr", LIKE_ALL | {"steps", "t_high", "t_low", "gamma", "pool", "rounds"}),
        ("recurrent-gine", LIKE_ALL | {"gamma"}),
        ("deep-gine", LIKE_ALL | {"layers"}),
        ("deep-gr-gine", LIKE_ALL | {"layers", "gamma"}),
        ("gps", LIKE_ALL | {"dropout"}),
    ],
)
def test_by_default_what_makes_a_difference_is_chosen(splits, model, names):
    search = with_default_space(Search("rgg-sssp-small", model, graphs=20), splits)
    assert set(search.space) == names
    search.check(splits)


def test_what_is_fixed_is_not_chosen(splits):
    fixed = Search("rgg-sssp-small", settings={"lr": 1e-3, "steps": 3, "levels": 1, "gamma": 1.0}, graphs=20)
    assert set(with_default_space(fixed, splits).space) == {"batch_size", "hidden_channels", "t_low"}


def test_rounds_are_not_chosen_where_blocks_are_coarsened(tmp_path):
    grid = Search("lrim-16-hard", graphs=10)
    chosen = with_default_space(grid, grid.choose({}).data.load(tmp_path)).space
    own = {"steps", "t_high", "t_low", "gamma", "pool"}
    assert set(chosen) == own | LIKE_ALL - {"batch_size"}, "ten graphs are one batch anyway"


def test_a_setting_cannot_be_fixed_and_chosen():
    with pytest.raises(ValueError, match="lr cannot be fixed and chosen at once"):
        Search("rgg-sssp-small", space={"lr": Range(1e-4, 1e-2)}, settings={"lr": 1e-3})


@pytest.mark.parametrize(
    ("space", "sentence"),
    [
        ({"stepz": Range(1, 2)}, "no option 'stepz'"),
        ({"lr": Range(-1.0, 1.0)}, "lr must be a finite number above 0; got -1.0"),
        ({"schedule": Choice(["cosine", "plateu"])}, "Unknown schedule 'plateu'"),
    ],
)
def test_mistakes_in_training_and_names_are_found_at_once(space, sentence):
    with pytest.raises(ValueError, match=sentence):
        Search("rgg-sssp-small", space=space)


def test_mistakes_in_options_are_found_before_any_trial(splits, search):
    search.check(splits)
    with pytest.raises(ValueError, match="t_low=0 cannot be tried: t_low must be a whole number"):
        replace(search, space={"t_low": Range(0, 3)}, settings={}).check(splits)
    with pytest.raises(ValueError, match="nothing to choose: every setting is fixed"):
        replace(search, space={}).check(splits)


def test_it_is_described_in_json(search):
    assert search.describe() == {
        "benchmark": "rgg-sssp-small",
        "model": "recurrent-gine",
        "space": {"lr": {"low": 1e-4, "high": 1e-2, "log": True}, "hidden_channels": [4, 8]},
        "settings": {"epochs": 1, "steps": 1, "t_low": 1},
        "graphs": 10,
        "source": None,
        "seed": 0,
    }
