import pytest

from cases import randomise
from ghr import GHR
from ghr.bench import select
from ghr.testing.plain_values import PlainValues


@pytest.mark.parametrize(("name", "channels"), [("V-select", 8), ("V-sum", 12)])
def test_predictions_equal_those_of_ghr(name, channels):
    work = select([name])[0].quick()
    data = work.load()
    model = randomise(GHR(**{**work.options, "steps": 2, **({"t_low": 3} if name == "V-select" else {})})).float()
    plain = PlainValues(model)
    assert {plain.twin(parameter) for parameter, _ in model.named_parameters()} == dict(plain.named_parameters()).keys()
    for ours, theirs in zip(model.rollout(data), plain.rollout(data), strict=True):
        assert float(((ours - theirs).norm() / theirs.norm()).detach()) < 1e-4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"values": "select", "levels": 1, "conv": "gcn"}, "without control"),
        ({"values": "sum", "conv": None}, "directions=True"),
        ({"values": "select", "levels": 2, "conv": None}, "levels=2"),
    ],
)
def test_what_it_does_not_do_is_said(options, words):
    with pytest.raises(ValueError, match=words):
        PlainValues(GHR(1, 4, 1, **options))
