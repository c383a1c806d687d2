"""Workloads that run the model: training steps and inference."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.bench.graphs import GeometricGraphs, HubGraphs, Lattices
from ghr.bench.targets import NO_TARGETS, Targets
from ghr.hierarchy.data import levels_of
from ghr.models import GHR
from ghr.testing.plain import PlainGHR
from ghr.train.loss import DiscountedLoss


@dataclass(frozen=True)
class ModelWork:
    """A training step (forward rollout, loss and backward pass, no optimiser), or inference without gradients.

    Args:
        name: What selects it.
        title: What it is, for the table.
        graphs: What the model runs on.
        options: Arguments of :class:`~ghr.GHR`.
        train: A training step; otherwise inference.
        targets: What it shall reach.
        max_repeats: Most repetitions that are worth their time; ``None`` without limit.
    """

    name: str
    title: str
    graphs: GeometricGraphs | HubGraphs | Lattices
    options: dict[str, Any] = field(repr=False)
    train: bool = True
    targets: Targets = NO_TARGETS
    max_repeats: int | None = None
    implementations: tuple[str, ...] = ("ghr", "plain")

    def quick(self) -> "ModelWork":
        """Return the same on tiny graphs, where the targets mean nothing."""
        options = {**self.options, "hidden_channels": min(self.options["hidden_channels"], 16)}
        title = f"{self.title}, shrunk"
        return replace(self, title=title, graphs=self.graphs.quick(), options=options, targets=NO_TARGETS)

    def sized(self, nodes: int) -> "ModelWork":
        """Return the same on one geometric graph of another size."""
        return replace(self, graphs=GeometricGraphs(1, nodes))

    def looped(self, steps: int, t_high: int, t_low: int) -> "ModelWork":
        """Return the same with other numbers of steps."""
        return replace(self, options={**self.options, "steps": steps, "t_high": t_high, "t_low": t_low})

    def load(self) -> Data:
        """Return the batch."""
        return self.graphs.load()

    def facts(self, data: Data, result: Any) -> dict[str, int]:
        """Return the sizes that matter."""
        fine, coarse = levels_of(data)
        return {"nodes": fine.num_nodes, "edges": fine.edge_index.size(1), "clusters": coarse.num_nodes}

    def prepare(self, implementation: str, data: Data) -> "Work":
        """Return the work of one implementation; all have the same weights."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            model = GHR(**self.options)
        return Work(model if implementation == "ghr" else PlainGHR.like(model), data, self.train)

    def errors(self, works: dict[str, Callable[[], Any]], results: dict[str, Any]) -> dict[str, float]:
        """Return how far our predictions and gradients are from the plain ones, relative to the latter."""
        errors = {"output": relative(results["ghr"], results["plain"])}
        ours, plain = works["ghr"], works["plain"]
        if self.train and isinstance(ours, Work) and isinstance(plain, Work):
            names = [name for name, _ in ours.model.named_parameters()]
            own = torch.cat([_gradient(ours.model, name) for name in names])
            other = torch.cat([_gradient(plain.model, plain.model.twin(name)) for name in names])
            errors["gradient"] = relative(own, other)
        return errors


class Work:
    """One implementation and its data, ready to run."""

    def __init__(self, model: nn.Module, data: Data, train: bool) -> None:
        self.model: Any = model
        self.data = data
        self.train = train
        self.loss = DiscountedLoss(nn.MSELoss(), gamma=0.8)

    def __call__(self) -> Tensor:
        """Run once; gradients stay in the model."""
        if not self.train:
            with torch.no_grad():
                return self.model(self.data)  # type: ignore[no-any-return]
        self.model.zero_grad(set_to_none=True)
        predictions = self.model.rollout(self.data)
        self.loss(predictions, self.data.y).backward()
        return predictions[-1].detach()  # type: ignore[no-any-return]


def relative(actual: Tensor, expected: Tensor) -> float:
    """Return the error of a tensor relative to the norm of what it should be."""
    difference = (actual.double() - expected.double()).norm()
    return float(difference / expected.double().norm().clamp(min=1e-30))


def _gradient(model: nn.Module, name: str) -> Tensor:
    gradient = model.get_parameter(name).grad
    if gradient is None:
        raise ValueError(f"The parameter {name} of {type(model).__name__} got no gradient to compare.")
    return gradient.reshape(-1)
