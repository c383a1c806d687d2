"""What stands for the Jacobian of a prediction: its own, that of the states that are read, or the second derivative."""

from collections.abc import Callable

import torch
from torch import Tensor

from ghr.analysis.follow import Pass

Measure = Callable[[Tensor], Tensor]  # rows, of different graphs -> the influence on these of every node of each graph


def make_measure(done: Pass, num_nodes: int, kind: str) -> Measure:
    """Return what measures the influence on rows: ``"jacobian"``, ``"readout"`` or ``"hessian"``.

    Args:
        done: The pass.
        num_nodes: Nodes of the whole batch.
        kind: Which of them; see :func:`~ghr.analysis.measure_range`.
    """
    if not done.leaves:  # nothing is made of the input
        return lambda rows: done.prediction.new_zeros(num_nodes)
    return {"jacobian": _by_jacobian, "readout": _by_readout, "hessian": _by_hessian}[kind](done)


def _by_jacobian(done: Pass) -> Measure:
    prediction = done.prediction

    def measure(rows: Tensor) -> Tensor:
        total = torch.zeros_like(done.leaves[0][:, 0])
        for column in range(prediction.size(1)):
            weight = torch.zeros_like(prediction)
            weight[rows, column] = 1
            total += done.pull_back([prediction], [weight])
        return total

    return measure


def _by_readout(done: Pass) -> Measure:
    read = done.read
    if read is None:
        raise ValueError(
            "The readout of the model does not read nodes, so predictions cannot be followed through their states; "
            "measure the range through='hessian'."
        )
    parts = [part for part in (read.state, read.values, read.x) if part is not None and part.requires_grad]
    slopes = []
    for column in done.prediction.sum(dim=0):
        slopes.append(torch.autograd.grad(column, parts, retain_graph=True, materialize_grads=True) if parts else ())

    def measure(rows: Tensor) -> Tensor:
        total = torch.zeros_like(done.leaves[0][:, 0])
        for slope in slopes:
            weights = [torch.zeros_like(part).index_copy(0, rows, part.index_select(0, rows)) for part in slope]
            total += done.pull_back(parts, weights)
        return total

    return measure


def _by_hessian(done: Pass) -> Measure:
    columns = done.prediction.sum(dim=0)
    slopes = [done.differentiate([column], [torch.ones_like(column)], again=True) for column in columns]

    def measure(rows: Tensor) -> Tensor:
        total = torch.zeros_like(done.leaves[0][:, 0])
        for slope in [leaf for leaves in slopes for leaf in leaves]:
            for channel in range(slope.size(1)):
                weight = torch.zeros_like(slope)
                weight[rows, channel] = 1
                total += done.pull_back([slope], [weight])
        return total

    return measure
