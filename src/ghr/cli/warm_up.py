"""``ghr warm-up``: compile the kernels before they are needed."""

import logging
import time
from dataclasses import dataclass
from typing import Literal

import torch
import tyro
from torch import nn

from ghr.checks import check_choice
from ghr.cli.list import make_example
from ghr.datasets import Task
from ghr.experiment import OWN_SUGGESTIONS
from ghr.models import MODELS
from ghr.progress import track
from ghr.train.loss import DiscountedLoss

logger = logging.getLogger(__name__)


@dataclass
class WarmUp:
    """Compile the kernels ahead, so that the first training step of a model does not wait for them.

    They are kept on disk, and compiled again only by another version of ghr or of numba, or on another kind of CPU.
    """

    models: tyro.conf.Positional[tuple[str, ...]] = ("ghr",)
    """Names of the models that shall be ready, as `ghr list` shows them."""
    dtype: Literal["float32", "float64"] = "float32"
    """Precision that they shall be ready for."""
    quiet: bool = False
    """Say nothing."""

    def run(self) -> None:
        """Take one training step of every model on a tiny graph."""
        for name in self.models:
            check_choice("model", name, MODELS)
        started = time.perf_counter()
        for name in track(self.models, "warm-up", unit="model"):
            warm_up(name, getattr(torch, self.dtype))
        logger.info("Ready after %.1f s: %s in %s.", time.perf_counter() - started, ", ".join(self.models), self.dtype)


def warm_up(name: str, dtype: torch.dtype) -> None:
    """Let everything be compiled that a training step of a model needs.

    Args:
        name: A name in ``MODELS``.
        dtype: Precision of the model.
    """
    entry = MODELS[name]
    graph = make_example(entry)
    model = entry.for_data(graph, Task("node"), {}, OWN_SUGGESTIONS).to(dtype)
    for key in ("x", "edge_attr", "y"):
        graph[key] = graph[key].to(dtype)
    graph = model.prepare(graph)
    loss = DiscountedLoss(nn.MSELoss(), gamma=1.0)(model.rollout(graph), graph.y)
    if loss.requires_grad:
        loss.backward()
