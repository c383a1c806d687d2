"""Whether a recurrence settles: what further steps still change, and whether the answer depends on where it began."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.checks import check_names, check_whole
from ghr.hierarchy.tensors import check_range, check_tensor, describe
from ghr.models.recurrence import Recurrence
from ghr.models.settle import MOST_STEPS, relative_change
from ghr.models.state import State


@dataclass(frozen=True)
class Settling:
    """How much predictions still move long after the steps of training.

    Attributes:
        steps: Global steps that were run.
        residual: Largest change of a prediction by the last step, over the largest prediction.
        disagreement: Largest difference between predictions from two random starts, over the largest prediction.
    """

    steps: int
    residual: float
    disagreement: float


@torch.no_grad()
def measure_settling(
    model: nn.Module, data: Data, rows: Tensor | None = None, *, times: int = 4, seed: int = 0, **loops: Any
) -> Settling:
    """Run a recurrence several times as long as in training, from its own start and from two random ones.

    Random starts have normal states, on every level of the size that states have after the steps of training.

    Args:
        model: A recurrence, such as :class:`~ghr.GHR`.
        data: A graph or a batch, prepared for the model.
        rows: A mask or the numbers of the predictions that are looked at, such as ``data.mask``; all by default. Values
            of nodes that no source reaches, for one, grow for ever.
        times: How many times the steps of training.
        seed: Of the random starts.
        **loops: Other numbers for the loops within a step, such as ``t_low=8``.
    """
    if not isinstance(model, Recurrence):
        raise ValueError(f"Only a recurrence can settle, such as GHR; got {type(model).__name__}.")
    check_names("measure_settling", loops, ("t_high", "t_low"))
    steps = model.steps * check_whole("times", times, most=MOST_STEPS)
    training = model.training
    model.eval()
    try:
        encoded = model.encode(data)
        state, before = model.initial_state(encoded), None
        size = state
        for number in range(1, steps + 1):
            prediction, state = model.step(encoded, state, **loops)
            size = state if number == model.steps else size
            if number == steps - 1:
                before = prediction
        before = model.read_state(encoded, size) if before is None else before
        chosen = _check_rows(rows, len(prediction))
        residual = relative_change(before[chosen], prediction[chosen])
        generator = torch.Generator().manual_seed(seed)
        ends = []
        for _ in range(2):
            state = State(*(tuple(_draw_like(part, generator) for part in parts) for parts in size))
            for _ in range(steps):
                prediction, state = model.step(encoded, state, **loops)
            ends.append(prediction[chosen])
    finally:
        model.train(training)
    return Settling(steps, residual, relative_change(*ends))


def _check_rows(rows: Any, count: int) -> Tensor | slice:
    """Return which predictions are looked at, or raise a ValueError if they are not there."""
    if rows is None:
        return slice(None)
    if check_tensor("rows", rows).dtype == torch.bool and rows.shape != (count,):
        raise ValueError(f"rows is a mask of the shape {tuple(rows.shape)}, but there are {count} predictions.")
    if rows.is_floating_point():
        raise ValueError(f"rows must be a mask or whole numbers; got {describe(rows)}.")
    if rows.dtype != torch.bool:
        check_range("rows", rows, count - 1)
    return rows  # type: ignore[no-any-return]


def _draw_like(state: Tensor, generator: torch.Generator) -> Tensor:
    if state.numel() == 0:
        return state
    drawn = torch.randn(state.shape, generator=generator, dtype=state.dtype).to(state.device)
    return drawn * state.square().mean().sqrt()
