"""Making parameters smaller in place."""

import torch
from torch import nn


@torch.no_grad()
def shrink_parameters(factor: float, *modules: nn.Module) -> None:
    """Multiply all parameters of some modules by a factor."""
    for module in modules:
        for parameter in module.parameters():
            parameter.mul_(factor)
