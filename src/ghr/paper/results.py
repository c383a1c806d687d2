"""What the finished runs of a row say together."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from ghr.paper.row import AS_TRAINED, Counts, Row
from ghr.paper.runs import runs_of

NUMBERS = ("mae", "in_range", "out_of_range", "largest_prediction")


@dataclass(frozen=True)
class Spread:
    """Mean and deviation over seeds.

    Args:
        mean: Their mean.
        std: Their sample standard deviation; ``None`` for a single seed, which says nothing of it.
    """

    mean: float
    std: float | None

    @classmethod
    def over(cls, values: Sequence[float]) -> "Spread | None":
        """Return mean and deviation; ``None`` of no values."""
        if not values:
            return None
        return cls(fmean(values), stdev(values) if len(values) > 1 else None)


@dataclass(frozen=True)
class RowResults:
    """A row with what its finished runs say.

    Args:
        row: The row.
        asked: How many seeds were asked for.
        results: For every finished seed, the content of ``result.json``.
        metrics: For every finished seed, the errors by the label of the numbers of steps.
    """

    row: Row
    asked: int
    results: dict[int, dict[str, Any]]
    metrics: dict[int, dict[str, dict[str, Any]]]

    @property
    def seeds(self) -> str:
        """How many seeds are finished, in words."""
        if not self.results:
            return "not run"
        return f"{len(self.results)} of {self.asked}" if len(self.results) < self.asked else str(self.asked)

    @property
    def parameters(self) -> int:
        """Number of parameters of the model."""
        if self.results:
            return int(next(iter(self.results.values()))["parameters"])
        return sum(parameter.numel() for parameter in self.row.recipe.build().parameters())

    @property
    def cost(self) -> str:
        """What the training took, in words: epochs and minutes on the clock, the mean over seeds."""
        if not self.results:
            return "-"
        epochs, seconds = (fmean(result[name] for result in self.results.values()) for name in ("epochs", "seconds"))
        return f"{epochs:.0f} epochs, {seconds / 60:.0f} min"

    def spread(self, number: str, counts: Counts = AS_TRAINED) -> Spread | None:
        """Return one of :data:`NUMBERS` over the seeds; ``None`` where no run has it."""
        found = [metrics[counts.label][number] for metrics in self.metrics.values() if counts.label in metrics]
        return Spread.over([value for value in found if value is not None])

    def mean(self, number: str, counts: Counts = AS_TRAINED) -> float | None:
        """Return the mean of one of :data:`NUMBERS` over the seeds; ``None`` where no run has it."""
        found = self.spread(number, counts)
        return None if found is None else found.mean

    def by_distance(self, counts: Counts = AS_TRAINED) -> dict[int, Spread]:
        """Return the error at every distance over the seeds."""
        values: dict[int, list[float]] = {}
        for metrics in self.metrics.values():
            for distance, group in metrics.get(counts.label, {}).get("by_distance", {}).items():
                values.setdefault(int(distance), []).append(group["mae"])
        spreads = {distance: Spread.over(found) for distance, found in sorted(values.items())}
        return {distance: each for distance, each in spreads.items() if each is not None}

    def record(self) -> dict[str, Any]:
        """Return everything as JSON holds it: small enough to be kept without the runs."""
        return {
            **self.row.describe(),
            "parameters": self.parameters,
            "seeds": [
                {
                    "seed": seed,
                    **{name: result[name] for name in ("epochs", "best_epoch", "best_val", "seconds")},
                    "errors": {label: self._short(label, each) for label, each in self.metrics[seed].items()},
                    "versions": result["versions"],
                    "machine": result["machine"],
                }
                for seed, result in self.results.items()
            ],
        }

    def _short(self, label: str, metrics: dict[str, Any]) -> dict[str, Any]:
        short: dict[str, Any] = {name: _rounded(metrics[name]) for name in NUMBERS}
        if label in (AS_TRAINED.label, self.row.beyond.label):
            short["by_distance"] = {d: _rounded(group["mae"]) for d, group in metrics["by_distance"].items()}
        return short


def gather(row: Row, runs: str | Path, seeds: int | None = None) -> RowResults:
    """Read what the finished runs of a row say."""
    results, metrics = {}, {}
    asked = runs_of([row], runs, seeds=seeds)
    for run in asked:
        result = run.result()
        if result is None:
            continue
        results[run.seed] = result
        found = {counts.label: run.metrics(counts) for counts in (AS_TRAINED, *row.inference)}
        metrics[run.seed] = {label: each for label, each in found.items() if each is not None}
    return RowResults(row, len(asked), results, metrics)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 5)
