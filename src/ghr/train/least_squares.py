"""Training in closed form, for models whose predictions are linear in all that they learn."""

from collections.abc import Iterator
from typing import Any, Protocol, cast, runtime_checkable

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.checks import show
from ghr.datasets.task import Task
from ghr.train.batches import epoch_batches, local_share
from ghr.train.collate import collate
from ghr.train.select import Selection
from ghr.train.trainer import Trainer

SMALLEST = 1e-12  # relative to the largest eigenvalue: what is below it was not determined by the equations


@runtime_checkable
class LinearModel(Protocol):
    """A model whose predictions are a matrix times its coefficients."""

    def design(self, data: Data) -> Tensor:
        """Return that matrix, one row per prediction :math:`(N, P)`."""
        ...

    def set_coefficients(self, value: Tensor) -> None:
        """Take over coefficients :math:`(P, C)`."""
        ...


class Equations:
    r"""The normal equations of a least squares problem, added up batch by batch in double precision.

    .. math::
        \Big(\sum A^\top A\Big)\, w = \sum A^\top y

    Args:
        width: Number of coefficients.
    """

    def __init__(self, width: int) -> None:
        self.left = torch.zeros(width, width, dtype=torch.float64)
        self.right = torch.zeros(width, dtype=torch.float64)

    def add(self, design: Tensor, target: Tensor) -> None:
        """Add the equations of some rows.

        Args:
            design: What the coefficients are multiplied with :math:`(N, P)`.
            target: What should come out :math:`(N)`.
        """
        wide = design.detach().double().cpu()
        self.left += wide.t() @ wide
        self.right += wide.t() @ target.detach().double().cpu()

    def add_processes(self, fabric: Fabric) -> None:
        """Add the equations of all processes."""
        if fabric.world_size > 1:
            for own in (self.left, self.right):
                own.copy_(cast(Tensor, fabric.all_reduce(own.to(fabric.device), reduce_op="sum")))

    def solve(self) -> Tensor:
        """Return the coefficients with the least squared error :math:`(P)`; of several such ones the smallest."""
        values, vectors = torch.linalg.eigh(self.left)
        known = values > SMALLEST * values[-1]
        inverse = torch.where(known, 1 / torch.where(known, values, 1.0), 0.0)
        solution: Tensor = vectors @ (inverse * (vectors.t() @ self.right))
        return solution


class LeastSquaresTrainer(Trainer):
    """Trains a :class:`LinearModel` in one epoch: all training rows are seen, then its coefficients are solved for.

    A second epoch, another learning rate or another seed would change nothing but the order of additions.
    """

    def _is_stale(self) -> bool:
        return self.progress.epoch >= 1

    def _train_batches(self, epoch: int, bar: Any) -> float:
        model = cast(LinearModel, self.model)
        self.model.eval()
        columns: list[Equations] = []
        with torch.no_grad():
            for data, counts in self._batches(epoch):
                target = self.task.target(data)
                counted = self.task.counted(data, target) & counts
                design = model.design(data.to(self.fabric.device)).cpu()
                columns = columns or [Equations(design.size(1)) for _ in range(target.size(1))]
                for equations, column, mask in zip(columns, target.t(), counted.t(), strict=True):
                    equations.add(design[mask], column[mask])
                bar.update()
            for equations in columns:
                equations.add_processes(self.fabric)
            model.set_coefficients(torch.stack([equations.solve() for equations in columns], dim=1))
            return self._measure(epoch)

    def _batches(self, epoch: int) -> Iterator[tuple[Data, bool]]:
        """Yield what this process takes of every batch, and whether it counts."""
        for batch in epoch_batches(self.num_examples, self.config.batch_size, seed=self.config.seed, epoch=epoch):
            indices, counts = local_share(batch, rank=self.fabric.global_rank, world=self.fabric.world_size)
            yield collate(self.train_set, indices), counts

    def _measure(self, epoch: int) -> float:
        """Return the mean loss of all batches, as any other training reports it."""
        losses = []
        for data, counts in self._batches(epoch):
            chosen = Selection.of(self.task, data).to(self.fabric.device)
            share = self.objective.weigh(chosen.target) if counts else 0.0
            whole = self.objective.add_up(share)
            if whole:
                outputs = self.model.rollout(data.to(self.fabric.device))  # type: ignore[operator]
                predictions = [chosen.apply(output) for output in outputs]
                losses.append(self.objective(predictions, chosen.target, share=share, whole=whole)[1])
        return sum(losses) / len(losses)


def check_least_squares(model: nn.Module, task: Task) -> None:
    """Raise a ValueError if a model is solved for, but something else than a squared error shall be small."""
    if isinstance(model, LinearModel) and task.loss != "mse":
        raise ValueError(
            f"{type(model).__name__} is solved for by least squares, that is for loss='mse'; the loss is "
            f"{show(task.loss)}."
        )
