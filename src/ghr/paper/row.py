"""One row of a table, or one curve of a figure: what is trained, how often, and what the paper says of it."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ghr.paper.recipe import Recipe

SEEDS = (42, 43, 44)


@dataclass(frozen=True)
class Counts:
    """Numbers of steps at inference, where they differ from those in training.

    Args:
        steps: Global steps.
        t_high: Updates of the coarse level.
        t_low: Updates of the graph itself.
    """

    steps: int | None = None
    t_high: int | None = None
    t_low: int | None = None

    @property
    def given(self) -> dict[str, int]:
        """Only those that differ."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def label(self) -> str:
        """Such as ``steps=6, t_low=8``; ``as trained`` where nothing differs."""
        return ", ".join(f"{name}={value}" for name, value in self.given.items()) or "as trained"


AS_TRAINED = Counts()


@dataclass(frozen=True)
class Reported:
    """What the paper reports, each a mean and its deviation as printed there.

    Args:
        mae: Error over all test nodes.
        in_range: Error at distances seen in training.
        out_of_range: Error beyond them.
        largest_prediction: Largest distance predicted.
    """

    mae: tuple[float, float]
    in_range: tuple[float, float]
    out_of_range: tuple[float, float]
    largest_prediction: float


@dataclass(frozen=True)
class Row:
    """One model on one benchmark, trained once per seed.

    Args:
        title: Its name in tables and legends.
        name: Its folder among the runs of the same benchmark.
        group: The folder of the benchmark.
        recipe: What is trained; every run has its own seed in place of the recipe's.
        seeds: One run each.
        inference: Numbers of steps with which a trained model is judged besides those of training.
        beyond: Those among them (or :data:`AS_TRAINED`) with which the paper goes beyond the trained range.
        reported: The paper's numbers, where it prints any.
    """

    title: str
    name: str
    group: str
    recipe: Recipe
    seeds: tuple[int, ...] = SEEDS
    inference: tuple[Counts, ...] = ()
    beyond: Counts = AS_TRAINED
    reported: Reported | None = None

    def __post_init__(self) -> None:
        if self.beyond not in (AS_TRAINED, *self.inference):
            raise ValueError(f"{self.title} goes beyond its range with {self.beyond.label}, which is not in inference.")

    def seeded(self, seed: int) -> Recipe:
        """Return the recipe of one run."""
        return replace(self.recipe, train=replace(self.recipe.train, seed=seed))

    def run_dir(self, runs: str | Path, seed: int) -> Path:
        """Return the directory of one run, such as ``runs/rgg-small-cap5/ghr-gated_gine/seed-42``."""
        return Path(runs) / self.group / self.name / f"seed-{seed}"

    @property
    def budget(self) -> str:
        """What the training may cost, in words."""
        data, train = self.recipe.data, self.recipe.train
        epochs = f"{train.epochs} epochs" if train.patience is None else f"at most {train.epochs} epochs"
        words = [f"{data.train_graphs:,} graphs", epochs, f"batch {train.batch_size}"]
        words += [] if train.patience is None else [f"patience {train.patience}"]
        words.append(f"lr {train.lr:g}" if train.schedule == "constant" else f"lr {train.lr:g} {train.schedule}")
        return ", ".join(words)

    def describe(self) -> dict[str, Any]:
        """Return the row as JSON holds it, without its results."""
        return {
            "title": self.title,
            "runs": f"{self.group}/{self.name}",
            "budget": self.budget,
            "beyond": self.beyond.label,
            "config": self.recipe.config(),
            "paper": None if self.reported is None else asdict(self.reported),
        }
