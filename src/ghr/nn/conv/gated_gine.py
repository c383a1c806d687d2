"""GatedGINE: the paper's own message passing."""

from torch import nn

from ghr.nn.conv.gine import GINE
from ghr.nn.swiglu import SwiGLU


class GatedGINE(GINE):
    r"""GINE whose update is a SwiGLU block.

    .. math::
        x_i' = \mathrm{SwiGLU}\Big( (1 + \epsilon)\, x_i + \sum_{j \in \mathcal{N}_i}
        \mathrm{ReLU}\big( x_j + W_g\, e_{ji} \big) \Big)

    Args:
        channels: Width :math:`d` of the node states.
        edge_dim: Width of the edge features; ``None`` for messages without them.
    """

    gated = True
    summed = 0.05  # less than of GINE: here the sum enters as a square

    @staticmethod
    def make_update(channels: int) -> nn.Module:
        """Return the block that follows the sum."""
        return SwiGLU(channels)

    def maps(self) -> tuple[nn.Linear, nn.Linear]:
        """Return the two linear maps of the update."""
        assert isinstance(self.update, SwiGLU)
        return self.update.gate_content, self.update.down
