"""The gated feed-forward block."""

from torch import Tensor, nn
from torch.nn import functional as F


class SwiGLU(nn.Module):
    r"""A feed-forward block in which one projection gates the other.

    .. math::
        \mathrm{SwiGLU}(x) = W_d \big( X_c \odot \mathrm{Swish}(X_g) \big), \qquad [X_g, X_c] = W_{gc}\, x,
        \qquad \mathrm{Swish}(z) = z \odot \sigma(z)

    without biases. The inner width is :math:`I = 8 \lceil \lfloor 4d/3 \rfloor / 8 \rceil`.

    Args:
        channels: Width :math:`d`.

    Shapes:
        - **input:** :math:`(N, d)`
        - **output:** :math:`(N, d)`
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.channels = channels
        self.inner = 8 * -(-(4 * channels // 3) // 8)
        self.gate_content = nn.Linear(channels, 2 * self.inner, bias=False)
        self.down = nn.Linear(self.inner, channels, bias=False)

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        self.gate_content.reset_parameters()
        self.down.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        """Apply the block to every row."""
        gate, content = self.gate_content(x).chunk(2, dim=-1)
        return self.down(F.silu(gate) * content)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"SwiGLU({self.channels}, inner={self.inner})"
