"""Predictions in the unit of the targets."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ghr.nn.readout.base import Readout, ReadoutInput
from ghr.nn.reset import reset_children


class ScaledReadout(Readout):
    r"""A readout in another unit, :math:`\hat y = a + b \odot \mathrm{readout}(h)` with fixed :math:`a` and :math:`b`.

    A model then starts on the scale of its targets, whatever their unit, and predicts in that unit.

    Args:
        readout: The readout that is scaled.
        shift: :math:`a`, one number per column.
        scale: :math:`b`, one number per column.

    Shapes:
        - **output:** as of the readout
    """

    shift: Tensor
    scale: Tensor

    def __init__(self, readout: Readout, shift: Sequence[float], scale: Sequence[float]) -> None:
        nn.Module.__init__(self)  # it has no layers of its own
        columns = getattr(readout, "out_channels", len(shift))  # a readout of one's own need not say it
        if not len(shift) == len(scale) == columns:
            raise ValueError(
                f"A unit needs one number per column, {columns}; got {len(shift)} shifts and {len(scale)} scales."
            )
        self.out_channels = columns
        self.inner = readout
        # They are part of the model's config, so the file of the weights does not hold them.
        self.register_buffer("shift", torch.tensor(shift, dtype=torch.get_default_dtype()), persistent=False)
        self.register_buffer("scale", torch.tensor(scale, dtype=torch.get_default_dtype()), persistent=False)

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)

    def forward(self, given: ReadoutInput) -> Tensor:
        """Predict from the finest states."""
        prediction: Tensor = self.inner(given)
        return self.shift + self.scale * prediction

    def __repr__(self) -> str:
        return f"ScaledReadout({self.inner!r})"
