"""One row of a table, or one curve of a figure: what is trained, how often, and what the paper says of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import torch
from torch_geometric.data import Data

from ghr.datasets import BENCHMARKS
from ghr.datasets.task import Task
from ghr.experiment import Experiment
from ghr.models import GraphModel

SEEDS = (42, 43, 44)
Family = Literal["GHR", "Recurrent", "Deep", "GPS", "min-plus", "other", "floor"]
# As wide as the graphs of all rows, for models that are not trained yet.
_EXAMPLE = Data(x=torch.zeros(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]), edge_attr=torch.ones(2, 1))


@dataclass(frozen=True)
class Loops:
    """Numbers for the loops of a model, where they differ from those in training.

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


AS_TRAINED = Loops()


@dataclass(frozen=True)
class Inference:
    """With which loops a trained model is evaluated, besides those of training.

    Args:
        loops: All of them.
        far: Those among them (or :data:`AS_TRAINED`) with which the paper goes out of the trained range.
    """

    loops: tuple[Loops, ...] = ()
    far: Loops = AS_TRAINED

    def __post_init__(self) -> None:
        if self.far not in (AS_TRAINED, *self.loops):
            raise ValueError(f"{self.far.label} is to go out of range, but is not among the loops that are evaluated.")


class Test(Protocol):
    """What a trained model is asked beside the errors on its benchmark; kept in a file of the run."""

    @property
    def name(self) -> str:
        """What the file of a run calls it; all that changes its numbers is in it."""
        ...

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return numbers of a model by name.

        Args:
            model: The model.
            data: Folder of the generated graphs.
            loops: Numbers for its loops.
        """
        ...


@dataclass(frozen=True)
class Reported:
    """What the paper reports, each a mean and its deviation as printed there.

    Args:
        mae: Error over all test nodes.
        in_range: Error at distances seen in training.
        out_of_range: Error at larger ones.
        largest_prediction: Largest distance predicted.
    """

    mae: tuple[float, float]
    in_range: tuple[float, float]
    out_of_range: tuple[float, float]
    largest_prediction: float


@dataclass(frozen=True)
class Setup:
    """What the rows of one table share.

    Args:
        group: The folder of their runs.
        benchmark: Its name in ``BENCHMARKS``.
        settings: What differs from the recipe of the benchmark, in its data and in the training.
        graphs: Graphs of every split; of those that are not named, all.
        seeds: One run each.
        reported: The paper's numbers by the name of the model, where it prints any.
    """

    group: str
    benchmark: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    graphs: Mapping[str, int] | None = None
    seeds: tuple[int, ...] = SEEDS
    reported: Mapping[str, Reported] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One model on one benchmark, trained once per seed.

    Args:
        title: Its name in tables and legends.
        family: What kind of model it is.
        setup: What it shares with other rows.
        model: Its name in ``MODELS``.
        settings: What else differs from the recipe of the benchmark.
        inference: With which loops it is evaluated.
        folder: Its folder in that of the group; by default the name of the model.
        tests: What it is asked when it is trained, with the loops of training.
    """

    title: str
    family: Family
    setup: Setup
    model: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    inference: Inference = field(default_factory=Inference)
    folder: str = ""
    tests: tuple[Test, ...] = ()

    def experiment(self, seed: int = 0) -> Experiment:
        """Return what one run trains."""
        setup, settings = self.setup, {**self.setup.settings, **self.settings}
        return Experiment.on(setup.benchmark, self.model, settings, graphs=setup.graphs, seed=seed)

    @property
    def name(self) -> str:
        """The folder of all its runs, such as ``rgg-large/ghr-gine``."""
        return f"{self.setup.group}/{self.folder or self.model}"

    def run_dir(self, runs: str | Path, seed: int) -> Path:
        """Return the directory of one run, such as ``runs/rgg-large/ghr-gine/seed-42``."""
        return Path(runs) / self.name / f"seed-{seed}"

    @property
    def all_loops(self) -> tuple[Loops, ...]:
        """The loops of training, and all others with which it is evaluated."""
        return (AS_TRAINED, *self.inference.loops)

    @property
    def far_loops(self) -> Loops:
        """The loops with which the paper goes out of the trained range."""
        return self.inference.far

    @property
    def reported(self) -> Reported | None:
        """The paper's numbers, where it prints any."""
        return self.setup.reported.get(self.model)

    @property
    def in_range(self) -> int:
        """Largest distance seen in training."""
        limit = BENCHMARKS[self.setup.benchmark].in_range
        if limit is None:
            raise ValueError(f"{self.setup.benchmark} has no trained range; rows need a benchmark that has one.")
        return limit(self.experiment().data.describe()["options"])

    @property
    def budget(self) -> str:
        """What the training may cost, in words."""
        benchmark, train = BENCHMARKS[self.setup.benchmark], self.experiment().train
        graphs = benchmark.share_out(self.setup.graphs).get("train", benchmark.sizes["train"])
        epochs = f"{train.epochs} epochs" if train.patience is None else f"at most {train.epochs} epochs"
        words = [f"{graphs:,} graphs", epochs, f"batch {train.batch_size}"]
        words += [] if train.patience is None else [f"patience {train.patience}"]
        words.append(f"lr {train.lr:g}" if train.schedule == "constant" else f"lr {train.lr:g} {train.schedule}")
        return ", ".join(words)

    @property
    def size_unit(self) -> str:
        """What the size of the model counts, where it is not parameters."""
        return ""

    def count_parameters(self) -> int:
        """Return the number of parameters of the model; no data are needed for it."""
        experiment = self.experiment()
        model = experiment.entry.for_data(_EXAMPLE, Task("node"), experiment.options, experiment.suggested)
        return model.num_parameters

    def describe(self) -> dict[str, Any]:
        """Return the row as JSON holds it, without its results."""
        return {
            "title": self.title,
            "family": self.family,
            "runs": self.name,
            "budget": self.budget,
            "far_loops": self.far_loops.label,
            "config": self.experiment().config(),
            "paper": None if self.reported is None else asdict(self.reported),
        }
