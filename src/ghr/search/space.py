"""What a search may choose from, ranges of numbers and lists of values; and what it chose."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ghr.checks import check_flag, check_number


@dataclass(frozen=True)
class Range:
    """All numbers from one to another, both included; whole ones if both are whole.

    Args:
        low: The smallest.
        high: The largest.
        log: Whether small numbers are tried as often as large ones, by their logarithm.
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        check_number("The smallest number of a range", self.low)
        check_number("The largest number of a range", self.high)
        check_flag("log", self.log)
        if self.low >= self.high:
            raise ValueError(f"A range goes from a number to a larger one; got {self.low!r} to {self.high!r}.")
        if self.log and self.low <= 0:
            raise ValueError(f"A range by the logarithm starts above 0; got {self.low!r}.")

    @property
    def whole(self) -> bool:
        """Whether it holds whole numbers only."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def ends(self) -> tuple[Any, Any]:
        """Two values that differ as much as any."""
        return self.low, self.high

    def describe(self) -> dict[str, Any]:
        """Return it in the types of JSON."""
        return {"low": self.low, "high": self.high, "log": self.log}


@dataclass(frozen=True)
class Choice:
    """Some values, in the types of JSON.

    Args:
        values: At least two, all different.
    """

    values: Sequence[Any]

    def __post_init__(self) -> None:
        if isinstance(self.values, str) or not isinstance(self.values, Sequence) or len(self.values) < 2:
            raise ValueError(f"There must be at least two values to choose from; got {self.values!r}.")
        texts = self.texts
        if len(set(texts)) < len(texts):
            raise ValueError(f"The values to choose from must differ; got {', '.join(texts)}.")

    @property
    def texts(self) -> list[str]:
        """The values as JSON."""
        return [json.dumps(value) for value in self.values]

    @property
    def ends(self) -> tuple[Any, Any]:
        """Two values that differ."""
        return self.values[0], self.values[-1]

    def describe(self) -> list[Any]:
        """Return it in the types of JSON."""
        return [*self.values]


@dataclass(frozen=True)
class Trial:
    """One choice, and what became of it.

    Args:
        number: Its number, from zero.
        chosen: Settings that were chosen.
        score: Its validation score; ``None`` if it failed or is not finished.
        failed: Whether it failed.
    """

    number: int
    chosen: dict[str, Any]
    score: float | None = None
    failed: bool = False


Space = Mapping[str, Range | Choice]

# What is varied by default of all that a model and its training have.
DEFAULT_SPACE: Space = {
    "lr": Range(1e-4, 1e-2, log=True),
    "batch_size": Choice([16, 32, 64]),
    "hidden_channels": Choice([16, 32, 64]),
    "steps": Range(2, 6),
    "t_high": Range(1, 3),
    "t_low": Range(1, 6),
    "gamma": Choice([0.1, 0.5, 0.8, 1.0]),
    "pool": Choice(["max", "mean", "sum"]),
    "rounds": Range(1, 3),
    "layers": Range(4, 16),
    "dropout": Range(0.0, 0.5),
}
