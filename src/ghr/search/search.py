"""A search as a value: what stays fixed, what is chosen, and what is done with a choice."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ghr.datasets.splits import Splits
from ghr.experiment import TRAINING, Experiment
from ghr.search.space import DEFAULT_SPACE, Space

LOOPS = ("steps", "t_high", "t_low")


@dataclass(frozen=True)
class Search:
    """Settings of a model on a benchmark, some of them fixed and some to be chosen.

    Args:
        benchmark: Name of the benchmark.
        model: Name of the model.
        space: What to choose from, by the names of settings; see :func:`with_default_space`.
        settings: What stays fixed, by the names of settings, as in :meth:`~ghr.Experiment.on`.
        graphs: As in :meth:`~ghr.Experiment.on`; so is `source`.
        source: Where the graphs come from.
        seed: Seed of every training and of what is chosen.
    """

    benchmark: str
    model: str = "ghr"
    space: Space = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    graphs: int | None = None
    source: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        both = [name for name in self.space if name in self.settings]
        if both:
            raise ValueError(f"{', '.join(both)} cannot be fixed and chosen at once; give it once.")
        for name, values in self.space.items():
            for value in values.ends:
                self.choose({name: value})

    def choose(self, chosen: Mapping[str, Any]) -> Experiment:
        """Return the experiment with a choice."""
        return Experiment.on(
            self.benchmark,
            self.model,
            {**self.settings, **chosen},
            graphs=self.graphs,
            source=self.source,
            seed=self.seed,
        )

    def check(self, splits: Splits) -> None:
        """Raise a ValueError if a model cannot be built with a value of the space."""
        if not self.space:
            raise ValueError("There is nothing to choose: every setting is fixed.")
        for name, values in self.space.items():
            for value in values.ends:
                try:
                    self.choose({name: value}).build(splits)
                except ValueError as error:
                    raise ValueError(f"{name}={value} cannot be tried: {error}") from error

    def describe(self) -> dict[str, Any]:
        """Return the search in the types of JSON."""
        return {
            "benchmark": self.benchmark,
            "model": self.model,
            "space": {name: values.describe() for name, values in self.space.items()},
            "settings": dict(self.settings),
            "graphs": self.graphs,
            "source": self.source,
            "seed": self.seed,
        }


def with_default_space(search: Search, splits: Splits) -> Search:
    """Return the search over those of :data:`DEFAULT_SPACE` that are not fixed and make a difference to the model."""
    space = {name: values for name, values in DEFAULT_SPACE.items() if _matters(name, search, splits)}
    return replace(search, space=space)


def _matters(name: str, search: Search, splits: Splits) -> bool:
    experiment = search.choose({})
    build, own = experiment.entry.build, {**experiment.entry.options, **experiment.options}
    if name in own or name in search.settings:
        return False
    loops = experiment.build(splits).loops
    if name in LOOPS:
        return name in loops
    if name == "gamma":  # it weighs steps
        return "steps" in loops
    if name == "batch_size":
        return len(splits.train) > int(DEFAULT_SPACE[name].ends[0])  # else all graphs are one batch
    if name in TRAINING:
        return True
    # What a benchmark may suggest to the class, but not with these options, these options make void.
    if name not in build.option_names() or name in {*build.suggested_names({})} - {*build.suggested_names(own)}:
        return False
    try:
        one, other = (search.choose({name: value}).build(splits).config for value in DEFAULT_SPACE[name].ends)
    except ValueError:  # it does not go with the other options
        return False
    return one != other
