"""Linear maps with a symmetry that training cannot break."""

import math

import torch
from torch import Tensor, nn


class AntisymmetricLinear(nn.Module):
    r"""A map with imaginary eigenvalues, less a diffusion, :math:`x \mapsto (W - W^\top - \gamma I)\, x + b`.

    Args:
        channels: Width :math:`d`.
        diffusion: Diffusion :math:`\gamma`.

    Shapes:
        - **input:** :math:`(N, d)`
        - **output:** :math:`(N, d)`
    """

    def __init__(self, channels: int, diffusion: float = 0.0) -> None:
        super().__init__()
        self.channels, self.diffusion = channels, diffusion
        self.weight = nn.Parameter(torch.empty(channels, channels))
        self.bias = nn.Parameter(torch.empty(channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset all parameters, as those of a linear layer."""
        bound = 1 / math.sqrt(self.channels)
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the map."""
        return x @ (self.weight.T - self.weight) - self.diffusion * x + self.bias

    def __repr__(self) -> str:
        return f"AntisymmetricLinear({self.channels}, diffusion={self.diffusion})"


class TriangularLinear(nn.Module):
    r"""A map that is antisymmetric, :math:`V = P - P^\top`, or symmetric, :math:`Z = P + P^\top`.

    The parameters are the upper triangle :math:`P` alone, of a symmetric map with the diagonal.

    Args:
        channels: Width :math:`d`.
        sign: ``-1`` for an antisymmetric map, ``1`` for a symmetric one.

    Shapes:
        - **input:** :math:`(N, d)`
        - **output:** :math:`(N, d)`
    """

    def __init__(self, channels: int, sign: int) -> None:
        super().__init__()
        if sign not in (-1, 1):
            raise ValueError(f"sign must be -1 or 1; got {sign!r}.")
        self.channels, self.sign = channels, sign
        self.triangle = nn.Parameter(torch.empty(channels * (channels + sign) // 2))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset all parameters, as those of a linear layer."""
        bound = 1 / math.sqrt(self.channels)
        nn.init.uniform_(self.triangle, -bound, bound)

    @property
    def weight(self) -> Tensor:
        r"""The matrix :math:`(d, d)`."""
        row, column = torch.triu_indices(
            self.channels, self.channels, offset=int(self.sign < 0), device=self.triangle.device
        )
        upper = self.triangle.new_zeros(self.channels, self.channels).index_put((row, column), self.triangle)
        return upper + self.sign * upper.T

    def forward(self, x: Tensor) -> Tensor:
        """Apply the map."""
        return x @ self.weight.T

    def __repr__(self) -> str:
        return f"TriangularLinear({self.channels}, sign={self.sign})"
