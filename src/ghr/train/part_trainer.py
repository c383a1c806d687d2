"""The epochs of a training on the parts of one large graph."""

import math
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.datasets.splits import Examples
from ghr.datasets.task import Task
from ghr.hierarchy.parts import Parts
from ghr.models.in_parts import InParts, Share
from ghr.train.config import TrainConfig
from ghr.train.evaluate import join_pairs, predict_parts, score
from ghr.train.processes import on_rank_zero, sum_gradients
from ghr.train.select import Selection, select_rows
from ghr.train.trainer import Trainer

MODEL_READS = ("x", "edge_index", "edge_attr", "edge_weight", "level1_assignment", "level1_edge_index")


class PartTrainer(Trainer):
    r"""Trains on the parts of one graph: a batch is some of its parts, each of which is run by itself.

    The gradient of a batch is the sum over its parts, each process adding those it took, so any number of processes
    takes the same steps. What parts read of each other (:class:`~ghr.InParts`) is noted at the start
    of every epoch, by the run that also gives the validation metric of the epoch before.
    """

    def __init__(self, model: nn.Module, train_set: Examples, *arguments: Any, **options: Any) -> None:
        super().__init__(model, train_set, *arguments, **options)
        self.graph: Data = train_set[0]
        fabric = self.fabric
        self.share = Share(fabric.global_rank, fabric.world_size, self._add_up)
        parts = Parts(self.graph, self.config.parts, halo=self.config.halo)
        self.inside = InParts(model, parts, share=self.share)
        self.target = self.task.target(self.graph)
        self.counted = self.task.counted(self.graph, self.target)

    @property
    def num_examples(self) -> int:
        """The number of parts."""
        return self.config.parts

    def _add_up(self, value: Tensor) -> Tensor:
        summed = self.fabric.all_reduce(value.to(self.fabric.device), reduce_op="sum")
        return cast(Tensor, summed).to(value.device)

    def _refresh(self) -> Tensor:
        steps = self.inside.model.steps
        return self.inside.refresh(steps + 1 if self.config.jitter else steps, read=steps)

    def _validate(self) -> float:
        prediction, pairs = self._refresh(), []
        for index in range(len(self.val_set)):
            graph = self.val_set[index]
            if _are_same(graph, self.graph):
                found = prediction
            else:
                found = predict_parts(self.model, graph, self.task, self.config.parts, {}, self.share)
            pairs.append(select_rows(self.task, graph, found))
        return on_rank_zero(self.fabric, lambda: score(*join_pairs(pairs, self.task), self.task))

    def _train_batches(self, epoch: int, bar: Any) -> float:
        if self.inside.noted is None:
            self._refresh()
        return super()._train_batches(epoch, bar)

    def _train_batch(self, batch: list[int], steps: int | None, *, place: str) -> float | None:
        mine = batch[self.fabric.global_rank :: self.fabric.world_size]
        chosen = [self._select(index) for index in mine]
        shares = [self.objective.weigh(selection.target) for selection in chosen]
        whole = self.objective.add_up(sum(shares))
        if whole == 0:
            return None
        self.stepper.zero_grad()
        total = 0.0
        for index, selection, share in zip(mine, chosen, shares, strict=True):
            if share:
                with self.fabric.autocast():
                    outputs = self.inside.rollout(self.inside.parts[index], steps)
                value = self.objective.loss.total([selection.apply(output) for output in outputs], selection.target)
                with self.fabric.no_backward_sync(self.module):
                    self.fabric.backward(value * (share / whole))
                total += float(value.detach()) * (share / whole)
        total = self.objective.add_up(total)
        sum_gradients(self.fabric, self.model.parameters())
        loss = total
        if self.config.log10:
            loss = math.log10(total) if total > 0 else -math.inf
            slope = 1 / (math.log(10.0) * total) if total > 0 else 0.0
            for parameter in self.model.parameters():
                if parameter.grad is not None:
                    parameter.grad.mul_(slope)
        self._check_loss(loss, place)
        self._take_step(loss, place)
        return loss

    def _select(self, index: int) -> Selection:
        """Return the targets of the nodes of a part that count."""
        own = self.inside.parts.own_nodes(index)
        data = Data(y=self.target[own], mask=self.counted[own], num_nodes=len(own))
        return Selection.of(self.task, data).to(self.fabric.device)


def try_parts(model: nn.Module, train_set: Examples, task: Task, config: TrainConfig) -> None:
    """Raise a ValueError if a model cannot be trained on parts of a graph, while there is nothing on disk yet."""
    if task.level != "node":
        raise ValueError(f"parts={config.parts} divide the nodes of a graph, but the task is on {task.level}s.")
    if len(train_set) != 1:
        raise ValueError(
            f"parts={config.parts} divide one large graph, but there are {len(train_set)} to train on; leave parts out."
        )
    inside = InParts(model, Parts(train_set[0], config.parts, halo=0))
    data = inside.parts[0].data.to(inside.device)
    with torch.no_grad():
        encoded = inside.model.encode(data)
        task.check_prediction(inside.model.read_state(encoded, inside.model.initial_state(encoded)), data)


def _are_same(one: Data, other: Data) -> bool:
    """Whether a model would predict the same for two graphs."""
    pairs = [(one._store.get(name), other._store.get(name)) for name in MODEL_READS]
    return all(
        a is b or (isinstance(a, Tensor) and isinstance(b, Tensor) and a.shape == b.shape and torch.equal(a, b))
        for a, b in pairs
    )
