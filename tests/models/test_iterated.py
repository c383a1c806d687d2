import pytest
import torch

from cases import hierarchy
from dynamics_cases import small
from ghr.models import ADGN, PHDGN, SWAN, CacheGNN, GraphCON
from ghr.models.iterated import Iterated


@pytest.mark.parametrize("build", [ADGN, SWAN, GraphCON, PHDGN, CacheGNN])
def test_layers_are_the_one_loop(build):
    model, data = small(build), hierarchy(levels=1, edge_dim=None)
    assert isinstance(model, Iterated)
    assert model.loops == ("layers",)
    (prediction,) = model.rollout(data)
    assert torch.equal(prediction, model(data))
    assert torch.equal(prediction, model(data, layers=3))
    assert torch.equal(prediction, model(data, layers=None))
    with pytest.raises(ValueError, match=f"{build.__name__} has the loops layers, but steps=2 was given"):
        model(data, steps=2)
    for wrong in (0, 1.5, "two"):
        with pytest.raises(ValueError, match="layers must be a whole number of at least 1"):
            model(data, layers=wrong)
    with pytest.raises(ValueError, match="layers must be a whole number of at most"):
        small(build, layers=99999999999)


@pytest.mark.parametrize("build", [ADGN, SWAN, GraphCON, PHDGN, CacheGNN])
def test_cut_short_it_is_the_same_with_fewer_updates(build):
    model, data = small(build), hierarchy(levels=1, edge_dim=None)
    assert model.depth == 3
    assert torch.equal(model.cut(2)(data), model(data, layers=2))
    assert model.depth == 3
