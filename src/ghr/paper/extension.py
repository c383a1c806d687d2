"""Past the paper: rows of the min-plus extension, and the graphs and loops it is tested with."""

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch_geometric.transforms import BaseTransform

from ghr.datasets import RGGSSSP, mae_by_distance
from ghr.datasets.splits import Examples
from ghr.datasets.task import Task
from ghr.models import MinPlusGHR
from ghr.paper.row import Row, Setup
from ghr.train import collect

TEST_SEED = 2026  # nothing was chosen on these graphs

_TRAINING = {"epochs": 12, "lr": 1e-2, "schedule": "cosine", "patience": None}
_SMALL, _LARGE = {"train": 1000, "val": 100, "test": 100}, {"train": 200, "val": 30, "test": 30}
_TO_5 = Setup("beyond", "rgg-sssp-small", {**_TRAINING, "batch_size": 32}, _SMALL)
_TO_20 = Setup("beyond", "rgg-sssp-large", {**_TRAINING, "batch_size": 8}, _LARGE)
_LENGTHS_TO_5 = Setup("beyond", "rgg-sssp-small", {**_TRAINING, "batch_size": 32, "weighted": True}, _SMALL)
_LENGTHS_TO_20 = Setup("beyond", "rgg-sssp-large", {**_TRAINING, "batch_size": 8, "weighted": True}, _LARGE)

# The loss counts every global step, so each of them reaches a hop further than training goes.
_FLAT_5, _FLAT_20 = {"levels": 1, "t_low": 6}, {"levels": 1, "t_low": 21}
_TWO_5, _TWO_20 = {"levels": 2, "t_low": 6}, {"levels": 2, "t_low": 21}


EXTENSION = tuple(
    Row(f"min-plus, {title}", "min-plus", setup, "min-plus", settings, folder=folder)
    for title, setup, settings, folder in (
        ("flat, hops, trained to 5", _TO_5, _FLAT_5, "cap5-hops-flat"),
        ("two levels, hops, trained to 5", _TO_5, _TWO_5, "cap5-hops-two-levels"),
        ("flat, lengths, trained to 5", _LENGTHS_TO_5, _FLAT_5, "cap5-lengths-flat"),
        ("two levels, lengths, trained to 5", _LENGTHS_TO_5, _TWO_5, "cap5-lengths-two-levels"),
        ("flat, hops, trained to 20", _TO_20, _FLAT_20, "cap20-hops-flat"),
        ("two levels, hops, trained to 20", _TO_20, _TWO_20, "cap20-hops-two-levels"),
        ("flat, lengths, trained to 20", _LENGTHS_TO_20, _FLAT_20, "cap20-lengths-flat"),
        ("two levels, lengths, trained to 20", _LENGTHS_TO_20, _TWO_20, "cap20-lengths-two-levels"),
    )
)


@dataclass(frozen=True)
class FarTest:
    """Graphs on which nothing was chosen.

    Args:
        regime: Their sizes, see :class:`~ghr.datasets.RGGSSSP`.
        distance: The largest distance in hops that occurs in the regime.
        graphs: How many.
    """

    regime: Literal["small", "large", "huge"]
    distance: int
    graphs: int

    def load(self, root: str | Path, *, weighted: bool = False, transform: BaseTransform | None = None) -> RGGSSSP:
        """Return the graphs, with what a model needs prepared of them.

        Args:
            root: Folder of the cache.
            weighted: Lengths instead of hops.
            transform: That of the model, or what else to ask of the graphs.
        """
        return RGGSSSP(
            root,
            self.regime,
            "test",
            weighted=weighted,
            num_graphs=self.graphs,
            seed=TEST_SEED,
            pre_transform=transform,
        )

    def updates(self, part: int) -> int:
        """Return how many low-level updates reach one part of the largest distance: all of it, a half, a third."""
        return math.ceil(self.distance / part)


FAR_TESTS = (FarTest("large", 40, 100), FarTest("huge", 90, 20))
PARTS = (1, 2, 3)


def evaluate_far(model: MinPlusGHR, graphs: Examples, task: Task, in_range: int, updates: int) -> dict[str, Any]:
    """Return the errors by distance with some number of low-level updates, and the CPU time of predicting.

    ``"lost"`` is the share of the nodes out of range that are predicted at more than twice their distance, as those
    are that nothing has reached; ``"found"`` is the error of the others.

    A flat model runs the updates in one step. One with a coarse level runs as many steps, of one update of each level:
    the most that the coarse level can do in the same number of low-level updates.

    Args:
        model: The model.
        graphs: Graphs of :class:`~ghr.datasets.RGGSSSP`, prepared for it.
        task: What is asked of them.
        in_range: Largest distance seen in training.
        updates: Low-level updates in all.
    """
    steps, t_low = (1, updates) if model.levels == 1 else (updates, 1)
    started = time.process_time()
    prediction, target = collect(model, graphs, task, batch_size=10, steps=steps, t_low=t_low)
    seconds = time.process_time() - started
    hops = torch.cat([graphs[index].hops[graphs[index].mask] for index in range(len(graphs))])
    out_of_range = hops > in_range
    predicted, true = prediction[out_of_range].double(), target[out_of_range].double()
    lost = predicted > 2 * true
    return {
        **mae_by_distance(prediction, target, hops, in_range),
        "lost": float(lost.double().mean()) if lost.numel() else None,
        "found": None if lost.all() else float((predicted - true)[~lost].abs().mean()),
        "updates": updates,
        "cpu_seconds": round(seconds, 3),
    }
