"""``ghr train``: one model on one benchmark, by its recipe."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import tyro

from ghr.cli.errors import errors_table
from ghr.paper import DeepSpec, Recipe
from ghr.paper.protocol import RECIPES


@dataclass
class Train:
    """Train one model on one benchmark by its recipe; started again, a killed run goes on where it was."""

    task: tyro.conf.Positional[Literal["rgg-sssp-small", "rgg-sssp-large"]]
    """The benchmark."""
    model: Literal["ghr", "deep"] = "ghr"
    """GHR, or the flat stack of distinct layers."""
    conv: Literal["gine", "gated_gine", "gcn", "gated_gcn", "gat", "adgn"] | None = None
    """Message passing, if not the recipe's."""
    graphs: int | None = None
    """Training graphs, if not the recipe's."""
    epochs: int | None = None
    """Most epochs, if not the recipe's."""
    lr: float | None = None
    """Learning rate, if not the recipe's."""
    schedule: Literal["constant", "cosine", "plateau"] | None = None
    """Schedule of the learning rate, if not the recipe's."""
    steps: int | None = None
    """Global steps of GHR, if not the recipe's; likewise --t-high and --t-low."""
    t_high: int | None = None
    """Updates of the coarse level."""
    t_low: int | None = None
    """Updates of the graph itself."""
    layers: int | None = None
    """Layers of the deep stack, if not 10."""
    weighted: bool = False
    """Lengths instead of hops."""
    seed: int = 0
    """Seed of weights and batches."""
    out: Path | None = None
    """Run directory; by default runs/TASK-MODEL-SEED."""
    data: Path = Path("data")
    """Folder of the generated graphs."""
    quiet: bool = False
    """No progress bar."""

    def run(self) -> None:
        """Train and print the errors."""
        recipe = self._recipe()
        out = self.out or Path("runs") / f"{self.task}-{self.model}-{self.seed}"
        if out.is_file():
            raise NotADirectoryError(f"--out takes a folder for the run, but {out} is a file.")
        _, result = recipe.run(out, self.data, quiet=self.quiet)
        in_range = recipe.data.in_range
        print(errors_table({out.name: result["metrics"]}, in_range))
        print(f"\n{result['epochs']} epochs in {result['seconds']:.0f} s; everything about the run is in {out}")

    def _recipe(self) -> Recipe:
        base = RECIPES[self.task]
        flat: dict[str, Any] = {"layers": self.layers}
        loops: dict[str, Any] = {"steps": self.steps, "t_high": self.t_high, "t_low": self.t_low}
        own, foreign = (flat, loops) if self.model == "deep" else (loops, flat)
        for name, value in _given(foreign).items():
            raise ValueError(f"--{name.replace('_', '-')} {value} does not apply to --model {self.model}.")
        chosen = _given({"conv": self.conv, **own})
        model = DeepSpec(**chosen) if self.model == "deep" else replace(base.model, **chosen)
        data = replace(base.data, weighted=self.weighted, **_given({"train_graphs": self.graphs}))
        how = {"epochs": self.epochs, "lr": self.lr, "schedule": self.schedule}
        return Recipe(model, data, replace(base.train, seed=self.seed, **_given(how)))


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
