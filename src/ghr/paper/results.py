"""What the finished runs of a row say together."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

from ghr.paper.row import AS_TRAINED, Loops, Row
from ghr.paper.runs import list_runs

NUMBERS = ("mae", "in_range", "out_of_range", "largest_prediction")


class Spread(NamedTuple):
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
        metrics: For every finished seed, the errors by the label of the loops.
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
        return self.row.count_parameters()

    @property
    def cost(self) -> str:
        """What the training took, in words: epochs and minutes on the clock, the mean over seeds."""
        if not self.results:
            return "-"
        epochs, seconds = (fmean(result[name] for result in self.results.values()) for name in ("epochs", "seconds"))
        return f"{epochs:.0f} epochs, {seconds / 60:.0f} min"

    def spread(self, number: str, loops: Loops = AS_TRAINED) -> Spread | None:
        """Return one of :data:`NUMBERS` over the seeds; ``None`` where no run has it."""
        found = [metrics[loops.label][number] for metrics in self.metrics.values() if loops.label in metrics]
        return Spread.over([value for value in found if value is not None])

    def mean(self, number: str, loops: Loops = AS_TRAINED) -> float | None:
        """Return the mean of one of :data:`NUMBERS` over the seeds; ``None`` where no run has it."""
        found = self.spread(number, loops)
        return None if found is None else found.mean

    def by_distance(self, loops: Loops = AS_TRAINED) -> dict[int, Spread]:
        """Return the error at every distance over the seeds."""
        values: dict[int, list[float]] = {}
        for metrics in self.metrics.values():
            for distance, group in metrics.get(loops.label, {}).get("by_distance", {}).items():
                values.setdefault(int(distance), []).append(group["mae"])
        spreads = {distance: Spread.over(found) for distance, found in sorted(values.items())}
        return {distance: spread for distance, spread in spreads.items() if spread is not None}

    def at_distance(self, distance: int, loops: Loops = AS_TRAINED) -> float | None:
        """Return the mean error at one distance; ``None`` where no run has it."""
        found = self.by_distance(loops).get(distance)
        return None if found is None else found.mean

    def record(self) -> dict[str, Any]:
        """Return everything as JSON holds it: small enough to be kept without the runs."""
        return {
            **self.row.describe(),
            "parameters": self.parameters,
            "seeds": [
                {
                    "seed": seed,
                    **{name: result[name] for name in ("epochs", "best_epoch", "best_val", "seconds")},
                    "errors": {label: self._shorten(label, errors) for label, errors in self.metrics[seed].items()},
                    "versions": result["versions"],
                    "machine": result["machine"],
                }
                for seed, result in self.results.items()
            ],
        }

    def _shorten(self, label: str, errors: dict[str, Any]) -> dict[str, Any]:
        short: dict[str, Any] = {name: _round(errors[name]) for name in NUMBERS}
        if label in (AS_TRAINED.label, self.row.far_loops.label):
            short["by_distance"] = {d: _round(group["mae"]) for d, group in errors["by_distance"].items()}
        return short


def gather(rows: Sequence[Row], runs: str | Path, seeds: int | None = None) -> list[RowResults]:
    """Read what the finished runs of rows say.

    Args:
        rows: The rows.
        runs: The folder of all runs.
        seeds: How many seeds of every row count; ``None`` for all.
    """
    return [_gather_row(row, runs, seeds) for row in rows]


def _gather_row(row: Row, runs: str | Path, seeds: int | None) -> RowResults:
    results, metrics = {}, {}
    asked = list_runs([row], runs, seeds=seeds)
    for run in asked:
        result = run.result()
        if result is None:
            continue
        results[run.seed] = result
        found = {loops.label: run.metrics(loops) for loops in row.all_loops}
        metrics[run.seed] = {label: errors for label, errors in found.items() if errors is not None}
    return RowResults(row, len(asked), results, metrics)


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 5)
