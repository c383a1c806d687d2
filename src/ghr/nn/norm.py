"""Norms by name."""

from torch import Tensor, nn

from ghr.checks import check_choice


class BatchNorm(nn.BatchNorm1d):
    r"""Batch norm over rows, which says what it cannot be trained on, and leaves no rows as they are.

    .. math::
        x' = \frac{x - \operatorname{mean}(x)}{\sqrt{\operatorname{var}(x) + 10^{-5}}} \odot w + b

    In evaluation the mean and variance are those gathered in training.

    Args:
        channels: Width of the rows.

    Shapes:
        - **input and output:** :math:`(N, C)`
    """

    def __init__(self, channels: int) -> None:
        super().__init__(channels)

    def forward(self, x: Tensor) -> Tensor:
        """Normalise rows."""
        if x.size(0) == 0:
            return x
        if self.training and x.size(0) == 1:
            raise ValueError(
                "A batch norm cannot be trained on a single row, a node or an edge; put more graphs in a batch, or "
                "take norm='layer' or None."
            )
        return super().forward(x)

    def __repr__(self) -> str:
        return f"BatchNorm({self.num_features})"


NORMS: dict[str | None, type[nn.Module]] = {None: nn.Identity, "batch": BatchNorm, "layer": nn.LayerNorm}


def make_norm(norm: str | None, channels: int) -> nn.Module:
    """Return a norm by its name in :data:`NORMS`; ``None`` for none.

    Args:
        norm: The name.
        channels: Width of what is normalised.
    """
    return NORMS[check_choice("norm", norm, NORMS)](channels)
