"""Nodes side by side in the rows of their clusters, and back."""

from typing import NamedTuple

from torch import Tensor


class Blocks(NamedTuple):
    """Which cluster every node is in, and at which of its places.

    Attributes:
        slot: The two as one number for every node, places of a cluster one after the other. Several nodes may have the
            same, and are added up.
        shape: In place of that, the number of lattices and of blocks of 2 x 2 nodes along a side, where all lattices
            have one side.
    """

    slot: Tensor | None
    shape: tuple[int, int] | None = None

    def collect(self, values: Tensor, num_clusters: int, places: int) -> Tensor:
        """Return the values of nodes :math:`(N, m)` as rows of clusters :math:`(C, P m)`."""
        if self.slot is None:
            count, side = self._image
            return values.view(count, side, 2, side, 2, -1).transpose(2, 3).reshape(num_clusters, -1)
        slots = values.new_zeros(num_clusters * places, values.size(1))
        return slots.index_add(0, self.slot, values).view(num_clusters, -1)

    def hand_out(self, rows: Tensor, places: int) -> Tensor:
        """Return rows of clusters :math:`(C, P m)` as values of their nodes :math:`(N, m)`."""
        width = rows.size(1) // places
        if self.slot is None:
            count, side = self._image
            return rows.view(count, side, side, 2, 2, width).transpose(2, 3).reshape(-1, width)
        return rows.reshape(-1, width).index_select(0, self.slot)

    @property
    def _image(self) -> tuple[int, int]:
        if self.shape is None:
            raise ValueError("Blocks need the slots of their nodes, or the shape of lattices.")
        return self.shape
