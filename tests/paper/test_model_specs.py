import pytest
from torch import nn

from ghr.paper.model_specs import MODELS


@pytest.mark.parametrize("kind", MODELS)
def test_every_kind_builds_the_model_of_its_options(kind):
    spec = MODELS[kind]()
    model = spec.build(edge_dim=1, coarse_edge_dim=2)
    assert isinstance(model, nn.Module)
    for name in ("steps", "t_low"):
        wanted = getattr(spec, name, None)
        if wanted is not None:
            assert getattr(model, name) == wanted
