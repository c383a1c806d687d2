"""The influence of nodes by distance, and the one number that sums it up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Profile:
    r"""How much predictions depend on nodes at every distance.

    With :math:`J_{uv}` the size of the derivative of prediction :math:`u` by the input of node :math:`v`, the share of
    a distance is what its nodes have of the whole influence,

    .. math::
        s_u(d) = \frac{\sum_{v:\, d(u, v) = d} J_{uv}}{\sum_v J_{uv}}, \qquad
        \rho = \mathrm{mean}_u \sum_d d\, s_u(d),

    averaged over the predictions :math:`u` that were looked at. :math:`\rho` is the normalised range of Bamberger et
    al., "On measuring long-range interactions in graph neural networks", 2025.

    Attributes:
        share: For every distance in hops, its mean share; they add up to one.
        each: For every distance, the mean share of a single node there: a share is large also where many nodes are.
        rows: How many predictions depend on anything, of those that were looked at.
        silent: How many do not; they have no range and are left out.
        unreached: Mean part of the influence that comes from nodes without a path, which have no distance; shares are
            of the rest.
        even: The range of a model for which all nodes within reach count alike.
    """

    share: dict[int, float]
    each: dict[int, float]
    rows: int
    silent: int
    unreached: float
    even: float | None

    @property
    def range(self) -> float | None:
        r"""The range :math:`\rho` in hops; ``None`` where no prediction depends on anything."""
        return sum(distance * share for distance, share in self.share.items()) if self.share else None

    @classmethod
    def of(cls, influence: Sequence[NDArray[Any]], hops: Sequence[NDArray[np.int64]]) -> "Profile":
        """Sum up the influence on some predictions.

        Args:
            influence: For every prediction, the influence of every node of its graph :math:`(N)`.
            hops: For every prediction, how far each node is; -1 where there is no path.
        """
        shares: list[NDArray[np.float64]] = []
        counts: list[NDArray[np.float64]] = []
        lost: list[float] = []
        for size, distance in zip(influence, hops, strict=True):
            near, total = distance >= 0, float(size.sum(dtype=np.float64))
            seen = float(size[near].sum(dtype=np.float64))
            if total > 0:
                lost.append(1 - seen / total)
            if seen > 0:
                weight = size[near].astype(np.float64) / seen
                shares.append(np.bincount(distance[near], weights=weight).astype(np.float64))
                counts.append(np.bincount(distance[near]).astype(np.float64))
        silent = len(influence) - len(shares)
        if not shares:
            return cls({}, {}, 0, silent, float(np.mean(lost)) if lost else 0.0, None)
        longest = max(len(share) for share in shares)
        summed, counted = (
            sum((np.pad(part, (0, longest - len(part))) for part in parts), np.zeros(longest))
            for parts in (shares, counts)
        )
        even = [float(np.arange(len(count)) @ count / count.sum()) for count in counts]
        there = [int(distance) for distance in np.flatnonzero(counted)]
        return cls(
            {distance: float(summed[distance] / len(shares)) for distance in there},
            {distance: float(summed[distance] / counted[distance]) for distance in there},
            len(shares),
            silent,
            float(np.mean(lost)),
            float(np.mean(even)),
        )

    def within(self, distance: int) -> float:
        """Return the share of all nodes up to a distance."""
        return sum(share for hops, share in self.share.items() if hops <= distance)

    def describe(self) -> dict[str, Any]:
        """Return everything in the types of JSON."""
        return {
            "range": self.range,
            "even": self.even,
            "rows": self.rows,
            "silent": self.silent,
            "unreached": self.unreached,
            "share": {str(distance): share for distance, share in self.share.items()},
            "each": {str(distance): share for distance, share in self.each.items()},
        }
