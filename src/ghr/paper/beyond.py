"""Past the paper: rows of the min-plus extension, and the graphs and numbers of steps it is tested with."""

import math
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from ghr.datasets import RGGSSSP, mae_by_distance
from ghr.paper.data_specs import RGGSpec
from ghr.paper.model_specs import MinPlusSpec
from ghr.paper.recipe import Recipe
from ghr.paper.row import Row
from ghr.train import TrainConfig, predict
from ghr.train.evaluate import Examples

TEST_SEED = 2026  # no recipe was chosen on these graphs


def _row(cap: int, weighted: bool, levels: int) -> Row:
    what, shape = "lengths" if weighted else "hops", "flat" if levels == 1 else "two levels"
    if cap == 5:
        data = RGGSpec("small", weighted=weighted, train_graphs=1000, val_graphs=100, test_graphs=100)
        train = TrainConfig(epochs=12, batch_size=32, lr=1e-2, schedule="cosine")
    else:
        data = RGGSpec("large", weighted=weighted, train_graphs=200, val_graphs=30, test_graphs=30)
        train = TrainConfig(epochs=12, batch_size=8, lr=1e-2, schedule="cosine")
    # The loss counts every global step, so each of them reaches a hop further than training goes.
    recipe = Recipe(MinPlusSpec(levels=levels, t_low=cap + 1), data, train)
    name = f"cap{cap}-{what}-{shape.replace(' ', '-')}"
    return Row(f"min-plus, {shape}, {what}, trained to {cap}", name, "beyond", recipe)


BEYOND = tuple(_row(cap, weighted, levels) for cap in (5, 20) for weighted in (False, True) for levels in (1, 2))


@dataclass(frozen=True)
class FarTest:
    """Graphs on which nothing was chosen.

    Args:
        regime: Their sizes.
        distance: The largest distance in hops that occurs in the regime.
        graphs: How many.
    """

    regime: Literal["small", "large", "huge"]
    distance: int
    graphs: int

    def load(self, root: str | Path, recipe: Recipe) -> RGGSSSP:
        """Return the graphs with what the recipe asks about them, and the coarse level that its model needs."""
        data = replace(recipe.data, regime=self.regime, test_graphs=self.graphs, seed=TEST_SEED)
        return replace(recipe, data=data).load(root, "test")

    def updates(self, part: int) -> int:
        """Return so many low-level updates as reach one `part`-th of the largest distance."""
        return math.ceil(self.distance / part)


FAR = (FarTest("large", 40, 100), FarTest("huge", 90, 20))
PARTS = (1, 2, 3)


def judge_far(model: nn.Module, row: Row, graphs: Examples, updates: int) -> dict[str, Any]:
    """Return the errors by distance with so many low-level updates in all, and the CPU time of predicting.

    ``"lost"`` is the share of the nodes beyond the trained range that are predicted at more than twice their distance,
    as those are that nothing has reached; ``"found"`` is the error of the others.

    A flat model runs them in one step. One with a coarse level runs as many steps, of one update of each level: the
    most that the coarse level can do in the same number of low-level updates.
    """
    flat = getattr(row.recipe.model, "levels", 1) == 1
    started = time.process_time()
    steps, t_low = (1, updates) if flat else (updates, 1)
    prediction, target = predict(model, graphs, batch_size=10, steps=steps, t_low=t_low)
    seconds = time.process_time() - started
    hops = torch.cat([graphs[i].hops[graphs[i].mask] for i in range(len(graphs))])
    errors = mae_by_distance(prediction, target, hops, row.recipe.data.in_range)
    beyond = hops > row.recipe.data.in_range
    predicted, true = prediction[beyond].double(), target[beyond].double()
    lost = predicted > 2 * true
    others = {
        "lost": float(lost.double().mean()) if lost.numel() else None,
        "found": None if lost.all() else float((predicted - true)[~lost].abs().mean()),
    }
    return {**errors, **others, "updates": updates, "cpu_seconds": round(seconds, 3)}
