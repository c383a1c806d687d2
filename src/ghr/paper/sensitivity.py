"""Left open by the paper: which of its numbers matter. Rows that differ from the recipe in one, and rows in all."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ghr.paper.row import Row, Setup

if TYPE_CHECKING:  # Optuna takes a second to import, which nobody else shall wait for
    from ghr.search import Space, Trial

SEED, SEEDS = 42, (42, 43, 44)
COARSE = ("t_high", "pool", "partition")  # what a model without coarse levels does not have


@dataclass(frozen=True)
class Factor:
    """One number or choice of the model.

    Args:
        title: What the paper calls it.
        name: Its name among the settings; for a partition it stands for several.
        recipe: Its value in the recipe of the benchmark.
        others: The other values that are tried.
    """

    title: str
    name: str
    recipe: Any
    others: tuple[Any, ...]

    @property
    def values(self) -> tuple[Any, ...]:
        """All values, that of the recipe first."""
        return (self.recipe, *self.others)


# How to write a partition as settings.
PARTITIONS: dict[str, dict[str, Any]] = {
    "Graclus, 1 round": {"partition": "graclus", "rounds": 1},
    "Graclus, 2 rounds": {"partition": "graclus", "rounds": 2},
    "Graclus, 3 rounds": {"partition": "graclus", "rounds": 3},
    "heavy edge, 2 rounds": {"partition": "graclus", "rounds": 2, "mode": "heavy_edge"},
    "random, 2 rounds": {"partition": "graclus", "rounds": 2, "mode": "random"},
    "blocks of 2 x 2": {"partition": "grid", "block": 2},
}


@dataclass(frozen=True)
class Sensitivity:
    """The recipe of a benchmark, varied.

    Args:
        benchmark: Its name in ``BENCHMARKS``.
        title: For people.
        model: Its name in ``MODELS``.
        factors: What is varied.
        settings: What all rows share.
        graphs: Graphs of every split.
        epochs: Epochs of the recipe; others get as many as cost about the same.
        number: The name of the error.
        coarse: What an update of a coarse level costs, in updates of the graph itself, as measured.
        fixed: What a pass costs beside its updates, in the same unit.
        digits: Digits after the point.
        drawn: How many rows have a value at random for every factor.
    """

    benchmark: str
    title: str
    model: str
    factors: tuple[Factor, ...]
    settings: Mapping[str, Any]
    graphs: Mapping[str, int]
    epochs: int
    number: str
    coarse: float
    fixed: float
    digits: int = 3
    drawn: int = 24
    recipe: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "recipe", {factor.name: factor.recipe for factor in self.factors})

    @property
    def base(self) -> Row:
        """The recipe itself, with three seeds, so that one knows what chance does."""
        return self._row("the recipe", "recipe", {}, SEEDS)

    def row(self, factor: Factor, value: Any) -> Row:
        """Return the row in which one factor has another value."""
        return self._row(f"{factor.title} = {value}", f"{factor.name}-{_slug(value)}", {factor.name: value}, (SEED,))

    @property
    def single_rows(self) -> tuple[Row, ...]:
        """All rows in which one factor has another value."""
        return tuple(self.row(factor, value) for factor in self.factors for value in factor.others)

    @property
    def drawn_rows(self) -> tuple[Row, ...]:
        """Rows with values at random for all factors at once."""
        return tuple(
            self._row(f"drawn {place}", f"drawn-{place:02d}", self.draw(place), (SEED,)) for place in range(self.drawn)
        )

    def draw(self, place: int) -> dict[str, Any]:
        """Return a value for every factor, at random; the same for the same place."""
        rng = np.random.default_rng((SEED, place))
        return {factor.name: factor.values[int(rng.integers(len(factor.values)))] for factor in self.factors}

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows: what tells most first."""
        return (self.base, *self.single_rows, *self.drawn_rows)

    @property
    def space(self) -> "Space":
        """What is chosen from, as a search has it."""
        from ghr.search import Choice

        return {factor.name: Choice(factor.values) for factor in self.factors}

    def trials(self, scores: Mapping[str, float]) -> "list[Trial]":
        """Return finished rows as trials of a search.

        Args:
            scores: For the folders of rows, their scores.
        """
        from ghr.search import Trial

        chosen = {self.base.folder: {**self.recipe}}
        chosen |= {
            self.row(factor, value).folder: {**self.recipe, factor.name: value}
            for factor in self.factors
            for value in factor.others
        }
        chosen |= {row.folder: self.draw(place) for place, row in enumerate(self.drawn_rows)}
        done = [(choice, scores[folder]) for folder, choice in chosen.items() if folder in scores]
        return [Trial(place, choice, score) for place, (choice, score) in enumerate(done)]

    def count_epochs(self, changed: Mapping[str, Any]) -> int:
        """Return how many epochs cost about as much as the recipe's, by the number of updates of all levels."""
        usual, other = (
            count_updates(chosen, self.coarse, self.fixed) for chosen in (self.recipe, {**self.recipe, **changed})
        )
        return max(1, round(self.epochs * usual / other))

    def _row(self, title: str, folder: str, changed: Mapping[str, Any], seeds: tuple[int, ...]) -> Row:
        setup = Setup(f"sensitivity/{self.benchmark}", self.benchmark, self.settings, self.graphs, seeds)
        settings = {**to_settings(changed), "epochs": self.count_epochs(changed)}
        return Row(title, "GHR", setup, self.model, settings, folder=folder)


def used_factors(changed: Mapping[str, Any]) -> dict[str, Any]:
    """Return those factors that the model has; a flat one has no coarse level for some of them."""
    flat = changed.get("levels") == 1
    return {name: value for name, value in changed.items() if not (flat and name in COARSE)}


def to_settings(changed: Mapping[str, Any]) -> dict[str, Any]:
    """Return factors as settings of a model."""
    settings: dict[str, Any] = {}
    for name, value in used_factors(changed).items():
        settings |= PARTITIONS[value] if name == "partition" else {name: value}
    return settings


def count_updates(chosen: Mapping[str, Any], coarse: float, fixed: float) -> float:
    """Return what a forward pass costs, in updates of the graph itself.

    Args:
        chosen: A value for every factor.
        coarse: What an update of a coarse level costs.
        fixed: What a pass costs beside its updates.

    Example:
        >>> count_updates({"steps": 2, "t_high": 3, "t_low": 4, "levels": 2}, coarse=0.5, fixed=1)
        28.0
    """
    above, repeats = 0, 1
    for _ in range(chosen["levels"] - 1):
        repeats *= chosen["t_high"]
        above += repeats
    return float(chosen["steps"] * (repeats * chosen["t_low"] + coarse * above) + fixed)


def _slug(value: Any) -> str:
    words = "".join(letter if letter.isalnum() or letter == "." else " " for letter in str(value).lower())
    return "-".join(words.split())


def _factors(
    *, steps: Any, t_high: Any, t_low: Any, gamma: Any, levels: Any, pool: Any, partition: Any
) -> tuple[Factor, ...]:
    """Return the factors, of each the values, that of the recipe first."""
    named = (
        ("R", "steps", steps),
        ("T_H", "t_high", t_high),
        ("T_L", "t_low", t_low),
        ("gamma", "gamma", gamma),
        ("levels", "levels", levels),
        ("pooling", "pool", pool),
        ("partition", "partition", partition),
    )
    return tuple(Factor(title, name, values[0], tuple(values[1:])) for title, name, values in named)


_TRAINING = {"batch_size": 16, "schedule": "cosine", "patience": None}
_GRACLUS = ("Graclus, 1 round", "Graclus, 2 rounds", "Graclus, 3 rounds", "heavy edge, 2 rounds", "random, 2 rounds")
ECHO = Sensitivity(
    "echo-sssp",
    "Shortest paths on ECHO",
    "ghr-gated-gine",
    _factors(
        steps=(4, 1, 2, 6),
        t_high=(3, 1, 2, 5),
        t_low=(6, 1, 3, 10),
        gamma=(0.1, 0.01, 0.5, 1.0),
        levels=(2, 1, 3),
        pool=("max", "mean", "sum"),
        partition=_GRACLUS,
    ),
    {**_TRAINING, "lr": 3e-3},
    {"train": 1000, "val": 200, "test": 480},
    20,
    "mae",
    coarse=3.0,
    fixed=8.0,
)
LRIM = Sensitivity(
    "lrim-16-hard",
    "Local energies on LRIM-16-hard",
    "ghr-gated-gcn",
    _factors(
        steps=(3, 1, 2, 5),
        t_high=(3, 1, 2, 5),
        t_low=(3, 1, 2, 5),
        gamma=(0.8, 0.1, 0.5, 1.0),
        levels=(2, 1, 3),
        pool=("sum", "max", "mean"),
        partition=("blocks of 2 x 2", *_GRACLUS),
    ),
    {**_TRAINING, "lr": 1e-3, "log10": True, "hidden_channels": 32},
    {"train": 500, "val": 100, "test": 250},
    14,
    "log10_mse",
    coarse=0.4,
    fixed=0.0,
)
