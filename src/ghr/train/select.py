"""Which entries of predictions and targets count."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from ghr.datasets.task import Task


@dataclass(frozen=True)
class Selection:
    """The targets of a batch that count, and where their predictions stand.

    Args:
        target: The targets that count: whole rows where a row counts or does not, single entries otherwise.
        index: Their places among the rows, or among all entries row by row.
        entries: Whether these are single entries.
    """

    target: Tensor
    index: Tensor
    entries: bool

    @classmethod
    def of(cls, task: Task, data: Any) -> "Selection":
        """Select the targets of a graph or a batch that are neither missing nor masked."""
        target = task.target(data)
        counted = task.counted(data, target)
        rows = any_entry(counted)
        entries = counted.dim() == 2 and not bool((counted == rows.unsqueeze(1)).all())
        # Indexing with a mask has a backward whose order of additions depends on threads; index_select has not.
        index = (counted.reshape(-1) if entries else rows).nonzero().squeeze(1)
        return cls((target.reshape(-1) if entries else target).index_select(0, index), index, entries)

    def to(self, device: torch.device) -> "Selection":
        """Return the same on another device."""
        return replace(self, target=self.target.to(device), index=self.index.to(device))

    def apply(self, prediction: Tensor) -> Tensor:
        """Return the predictions that belong to the targets."""
        return (prediction.reshape(-1) if self.entries else prediction).index_select(0, self.index)


def select_rows(task: Task, data: Any, prediction: Tensor) -> tuple[Tensor, Tensor]:
    """Return the rows of predictions and targets in which anything counts, with NaN where a target does not."""
    target = task.target(data)
    counted = task.counted(data, target)
    rows = any_entry(counted).nonzero().squeeze(1)
    if not task.has_classes:
        target = torch.where(counted, target, torch.full_like(target, torch.nan))
    return prediction.index_select(0, rows), target.index_select(0, rows)


def any_entry(counted: Tensor) -> Tensor:
    """Return in which rows any entry counts."""
    return counted if counted.dim() == 1 else counted.any(dim=1)
