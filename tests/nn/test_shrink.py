import torch
from torch import nn

from ghr.nn.shrink import shrink_parameters


def test_all_parameters_of_the_given_modules_are_multiplied():
    first, second, other = nn.Linear(2, 2), nn.RMSNorm(3), nn.Linear(1, 1)
    before = [parameter.detach().clone() for module in (first, second, other) for parameter in module.parameters()]
    shrink_parameters(0.5, first, second)
    weight, bias, gain, *rest = before
    assert torch.equal(first.weight, 0.5 * weight)
    assert torch.equal(first.bias, 0.5 * bias)
    assert torch.equal(second.weight, 0.5 * gain)
    assert torch.equal(other.weight, rest[0])
    assert first.weight.requires_grad
