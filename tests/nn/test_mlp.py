import pytest
import torch

import reference
from cases import randomise, relative_error
from ghr.nn import MLP


@pytest.mark.parametrize("layers", [1, 2])
def test_equals_the_loops(layers):
    block = randomise(MLP(4, 6, 3, layers))
    x = torch.randn(5, 4, dtype=torch.double)
    expected = [reference.mlp(reference.read_weights(block), row) for row in reference.read_rows(x)]
    assert relative_error(block(x), expected) <= 1e-12
    assert block(x).shape == (5, 3)


def test_reset_parameters_draws_anew():
    block = MLP(4, 6, 3)
    before = {name: value.clone() for name, value in block.state_dict().items()}
    block.reset_parameters()
    assert len(before) == 4
    assert not any(torch.equal(before[name], value) for name, value in block.state_dict().items())


@pytest.mark.parametrize("layers", [0, 3])
def test_other_depths_are_refused(layers):
    with pytest.raises(ValueError, match=f"one or two layers; got layers={layers}"):
        MLP(4, 4, 4, layers)
