import torch
from torch import nn

from ghr.nn.reset import reset_children


class Zeros(nn.Module):
    """Knows how to reset all that is inside it."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def reset_parameters(self) -> None:
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)


def test_what_a_part_does_for_all_inside_it_is_not_undone():
    module = nn.Sequential(nn.Sequential(Zeros(), nn.Linear(2, 2)), nn.ReLU())
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(7)
    reset_children(module)
    zeros, linear = module[0]
    assert not any(parameter.any() for parameter in zeros.parameters())
    assert not any((parameter == 7).any() for parameter in linear.parameters())
