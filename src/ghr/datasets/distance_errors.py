"""Errors by distance: at every distance, within those seen in training, and beyond."""

from typing import TypedDict

import torch
from torch import Tensor

from ghr.datasets.metrics import check_shapes


class GroupError(TypedDict):
    """Error over the nodes at one distance."""

    mae: float
    count: int


class DistanceErrors(TypedDict):
    """What :func:`mae_by_distance` returns; ``None`` stands where a group has no node."""

    mae: float | None
    in_range: float | None
    out_of_range: float | None
    largest_prediction: float | None
    by_distance: dict[str, GroupError]


def mae_by_distance(prediction: Tensor, target: Tensor, hops: Tensor, in_range: int | None) -> DistanceErrors:
    """Return the mean absolute error over all reached nodes, within and beyond a distance, and at every distance.

    Args:
        prediction: Predicted distances :math:`(N)` or :math:`(N, 1)`.
        target: True distances, of the same shape.
        hops: Distance of every node in hops :math:`(N)`; negative where the node is not reached and not counted.
        in_range: Largest distance in hops that counts as in range; ``None`` where training has no cap, and neither
            error is given.
    """
    check_shapes(prediction, target)
    if hops.shape != prediction.shape[:1] or prediction.numel() != hops.numel():
        raise ValueError(
            f"One prediction per entry of hops is needed; got {tuple(prediction.shape)} for {tuple(hops.shape)}."
        )
    reached = (hops >= 0).cpu()
    distance = hops.detach().cpu()[reached]
    predicted = prediction.detach().cpu().double().reshape(-1)[reached]
    error = (predicted - target.detach().cpu().double().reshape(-1)[reached]).abs()

    def mean(rows: Tensor) -> float | None:
        return float(error[rows].mean()) if bool(rows.any()) else None

    total, count = torch.bincount(distance, weights=error), torch.bincount(distance)
    return {
        "mae": mean(distance >= 0),
        "in_range": None if in_range is None else mean(distance <= in_range),
        "out_of_range": None if in_range is None else mean(distance > in_range),
        "largest_prediction": float(predicted.max()) if predicted.numel() else None,
        "by_distance": {
            str(hop): {"mae": float(total[hop] / count[hop]), "count": int(count[hop])}
            for hop in count.nonzero().flatten().tolist()
        },
    }
