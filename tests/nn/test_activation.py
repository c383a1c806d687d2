import pytest
import torch

from ghr.nn.activation import ACTIVATIONS, make_activation


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_names_are_those_of_pytorch(name):
    x = torch.linspace(-2, 2, 9)
    assert torch.equal(make_activation(name)(x), getattr(torch.nn.functional, name)(x))


def test_others_are_refused():
    with pytest.raises(ValueError, match=r"Unknown act 'relo'.* Did you mean relu"):
        make_activation("relo")
