import pytest

from cases import randomise
from ghr import MinPlusGHR
from ghr.bench import select
from ghr.testing.plain_min_plus import PlainMinPlus


def test_predictions_equal_those_of_ghr():
    work = select(["V-min"])[0].quick()
    model = randomise(MinPlusGHR(**{**work.options, "steps": 2, "t_low": 3})).float()
    plain, data = PlainMinPlus(model), work.load()
    assert {plain.twin(parameter) for parameter, _ in model.named_parameters()} == dict(plain.named_parameters()).keys()
    for ours, theirs in zip(model.rollout(data), plain.rollout(data), strict=True):
        assert float(((ours - theirs).norm() / theirs.norm()).detach()) < 1e-5


def test_more_than_one_level_is_refused():
    with pytest.raises(ValueError, match="levels=2"):
        PlainMinPlus(MinPlusGHR())
