"""One experiment as a value: data, a model and its training; the only place that knows all three."""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from ghr.checks import check_choice, check_names
from ghr.datasets import BENCHMARKS, mae_by_distance
from ghr.datasets.benchmark import Benchmark
from ghr.datasets.metrics import find_metric
from ghr.datasets.splits import Examples, Splits, make_splits
from ghr.datasets.task import Task
from ghr.models import MODELS, Entry, GraphModel
from ghr.models.pretrained import describe_value
from ghr.progress import hide_bars, track
from ghr.train import Run, TrainConfig, collect, train
from ghr.train.evaluate import find_task
from ghr.train.select import select_rows
from ghr.train.trainer import Callback

logger = logging.getLogger("ghr.experiment")
TRAINING = tuple(entry.name for entry in fields(TrainConfig) if entry.name != "seed")
OWN = TrainConfig(epochs=100, lr=3e-3, schedule="cosine", batch_size=16)
OWN_SUGGESTIONS: Mapping[str, Any] = {"steps": 4, "t_high": 2, "t_low": 2}


@dataclass(frozen=True)
class BenchmarkGraphs:
    """The graphs of a benchmark.

    Args:
        name: Its name in :data:`~ghr.datasets.BENCHMARKS`.
        graphs: Training graphs, with validation and test in proportion; or a number for every split; ``None`` for all.
        source: ``"hub"`` or ``"generate"``; ``None`` for what the benchmark prefers.
        options: Further options of its data.
    """

    name: str
    graphs: int | Mapping[str, int] | None = None
    source: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_choice("benchmark", self.name, BENCHMARKS)
        check_names(f"The benchmark {self.name}", self.options, self.benchmark.options)

    @property
    def benchmark(self) -> Benchmark:
        """What is known of it."""
        return BENCHMARKS[self.name]

    @property
    def suggested(self) -> Mapping[str, Any]:
        """Options that it suggests to models."""
        return self.benchmark.suggested

    def load(self, root: str | Path, transform: BaseTransform | None = None, *, workers: int = 1) -> Splits:
        """Return its splits, generated or downloaded where they are not in `root` yet, as a model needs them."""
        return self.benchmark.splits(
            root, graphs=self.graphs, source=self.source, workers=workers, pre_transform=transform, **self.options
        )

    def describe(self) -> dict[str, Any]:
        """Return what stands in ``config.json``."""
        chosen = {"graphs": self.graphs, "source": self.source, "options": self.options}
        files = {} if self.benchmark.files is None else self.benchmark.files(self.options)
        described = {"benchmark": self.name, **{name: describe_value(value) for name, value in chosen.items()}}
        return {**described, "files": dict(files)} if files else described


@dataclass(frozen=True)
class OwnGraphs:
    """Graphs of a user.

    Args:
        splits: Divided already.
    """

    splits: Splits

    @property
    def suggested(self) -> Mapping[str, Any]:
        """Options that suit most graphs."""
        return OWN_SUGGESTIONS

    def load(self, root: str | Path, transform: BaseTransform | None = None, *, workers: int = 1) -> Splits:
        """Return the splits as a model needs them; nothing is kept in `root`."""
        if transform is None:
            return self.splits
        given = self.splits
        test = None if given.test is None else _transform(given.test, transform)
        return replace(given, train=_transform(given.train, transform), val=_transform(given.val, transform), test=test)

    def describe(self) -> dict[str, Any]:
        """Return what stands in ``config.json``."""
        return {"benchmark": None, **self.splits.description}


@dataclass(frozen=True)
class Experiment:
    """A model on data, with its training and its seed.

    Args:
        data: What it is trained on.
        model: Its name in ``MODELS``, or a class of your own.
        options: Options of the model, in place of those of its name, of the benchmark and of the class.
        train: How it is trained; its seed also decides the weights at the start.
    """

    data: BenchmarkGraphs | OwnGraphs
    model: str | type[GraphModel] = "ghr"
    options: Mapping[str, Any] = field(default_factory=dict)
    train: TrainConfig = field(default_factory=TrainConfig)

    def __post_init__(self) -> None:
        check_names(self.entry.build.__name__, self.options, self.entry.build.option_names())

    @classmethod
    def on(
        cls,
        benchmark: str,
        model: str | type[GraphModel] = "ghr",
        settings: Mapping[str, Any] | None = None,
        *,
        graphs: int | Mapping[str, int] | None = None,
        source: str | None = None,
        seed: int = 0,
    ) -> "Experiment":
        """Return the experiment on a benchmark by its recipe, or by the model's own where it has one.

        Args:
            benchmark: Name of the benchmark.
            model: Name of the model, or its class.
            settings: What to change: options of the model, of the training and of the data, by their names.
            graphs: As in :class:`BenchmarkGraphs`.
            source: As in :class:`BenchmarkGraphs`.
            seed: Seed of weights and batches.
        """
        data = BenchmarkGraphs(benchmark, graphs, source)
        options, training, others = _sort_settings(model, settings or {}, data.benchmark.options)
        own = _find_entry(model).training
        recipe = TrainConfig(**{**data.benchmark.training, **own, **training, "seed": seed})
        return cls(replace(data, options=others), model, options, recipe)

    @property
    def entry(self) -> Entry:
        """How the model is built."""
        return _find_entry(self.model)

    @property
    def suggested(self) -> Mapping[str, Any]:
        """What the data suggest to models."""
        return self.data.suggested

    def build(self, splits: Splits) -> GraphModel:
        """Return the untrained model for data, the same for the same seed."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.train.seed)
            model = self.entry.for_data(_Joined(splits), splits.task, self.options, self.suggested)
        scaled = model.wants_unit or isinstance(self.data, OwnGraphs)
        if scaled and model.takes_unit and splits.task.is_regression:
            mean, deviation = _measure_targets(splits)
            if model.takes_shift:
                model.set_unit(mean, deviation)
            else:
                model.set_unit([0.0] * len(mean), [math.hypot(*pair) for pair in zip(mean, deviation, strict=True)])
        return model

    def run(
        self,
        out: str | Path,
        root: str | Path = "data",
        *,
        quiet: bool = False,
        callback: Callback | None = None,
        workers: int = 1,
    ) -> Run:
        """Train the model, or go on with it, and evaluate it on the test graphs.

        Args:
            out: The run directory.
            root: Folder of the benchmarks' graphs.
            quiet: Whether to hide the progress bars.
            callback: Called after every epoch with a line of ``metrics.jsonl``.
            workers: Processes that generate graphs.
        """
        with hide_bars(quiet):
            model = self.build(self.data.load(root, workers=workers))
            splits = self.data.load(root, model.transform, workers=workers)
        train(
            model,
            splits.train,
            splits.val,
            self.train,
            out,
            task=splits.task,
            extra={"experiment": self.describe()},
            report=lambda best: _report(best, splits, self.train),
            callback=callback,
            quiet=quiet,
        )
        return Run(out, task=splits.task, model=model)

    def describe(self) -> dict[str, Any]:
        """Return what stands in ``config.json``, beside what the training itself writes."""
        model = self.model if isinstance(self.model, str) else self.model.__name__
        return {"data": self.data.describe(), "model": model, "options": describe_value(self.options)}

    def config(self) -> dict[str, Any]:
        """Return all of the experiment in the types of JSON."""
        return {**self.describe(), "train": self.train.describe()}

    @classmethod
    def from_run(cls, run: Run) -> "Experiment":
        """Return the experiment on a benchmark that a run belongs to.

        Raises:
            ValueError: Where it was trained on graphs of the user, which the run does not hold.
        """
        described = run.config.get("experiment", {})
        data = described.get("data", {})
        if not data.get("benchmark"):
            raise ValueError(f"{run.path} was not trained on a benchmark, so its graphs must be given again.")
        graphs = BenchmarkGraphs(data["benchmark"], data["graphs"], data["source"], data["options"])
        return cls(graphs, described["model"], described["options"], TrainConfig(**run.config["train"]))


def fit(
    graphs: Data | Examples | Splits,
    task: Task | None = None,
    *,
    out: str | Path,
    model: str | type[GraphModel] = "ghr",
    val: Examples | None = None,
    test: Examples | None = None,
    seed: int = 0,
    quiet: bool = False,
    callback: Callback | None = None,
    **settings: Any,
) -> Run:
    """Train a model on your own graphs.

    Args:
        graphs: A list of graphs, a dataset, or a single graph, whose nodes or edges are divided by its ``train_mask``,
            ``val_mask`` and ``test_mask``, or at random.
        task: What is asked of them; by default the ``task`` of the dataset.
        out: The run directory. Started again with the same arguments, a killed run goes on.
        model: Name of a model in ``MODELS``, or a class of your own.
        val: Graphs that choose the best model; by default a tenth of those given.
        test: Graphs for the test; by default another tenth.
        seed: Seed of the division, of the weights and of the batches.
        quiet: Whether to hide the progress bars.
        callback: Called after every epoch with a line of ``metrics.jsonl``.
        **settings: Options of the model and of the training, such as ``steps=6`` or ``epochs=50``.

    Returns:
        The run, to evaluate and predict with.
    """
    splits = graphs
    if not isinstance(splits, Splits):
        splits = make_splits(graphs, find_task(task, graphs), val=val, test=test, seed=seed)  # type: ignore[arg-type]
    elif (task, val, test) != (None, None, None):
        raise ValueError("Splits have their task, validation and test already; leave out task, val and test.")
    options, training, _ = _sort_settings(model, settings, ())
    experiment = Experiment(OwnGraphs(splits), model, options, replace(OWN, **training, seed=seed))
    return experiment.run(out, quiet=quiet, callback=callback)


def evaluate_split(
    model: nn.Module, splits: Splits, split: str, *, batch_size: int = 64, parts: int = 1, **loops: Any
) -> dict[str, Any]:
    """Return the scores of a model on a split: by the metric and, where the data have distances, by distance.

    Args:
        model: The model.
        splits: Graphs as the model needs them.
        split: Which of them.
        batch_size: Graphs predicted at once; as many as in training certainly fit into the memory.
        parts: Predict nodes in so many parts of every graph.
        **loops: Numbers for the loops of the model.
    """
    graphs, task = splits.named()[check_choice("split", split, splits.named())], splits.task
    prediction, target = collect(model, graphs, task, batch_size=batch_size, parts=parts, **loops)
    name, factor = find_metric(task.score)
    scores: dict[str, Any] = {name.lower().replace(" ", "_"): task.score(prediction, target)}
    distance = splits.distance
    if distance is None:
        return scores
    listed = [graphs[index] for index in range(len(graphs))]
    hops = torch.cat([select_rows(task, graph, distance(graph))[0] for graph in listed])
    return {**scores, **mae_by_distance(factor * prediction, factor * target, hops, splits.in_range)}


def _report(model: nn.Module, splits: Splits, how: TrainConfig) -> dict[str, Any]:
    """Return the scores on the test graphs; where these have none, a training that is done is still finished."""
    if splits.test is None:
        return {}
    try:
        return evaluate_split(model, splits, "test", batch_size=how.batch_size, parts=how.parts)
    except ValueError as error:
        logger.warning("The test graphs have no score: %s", error)
        return {}


def _find_entry(model: str | type[GraphModel]) -> Entry:
    return MODELS[check_choice("model", model, MODELS)] if isinstance(model, str) else Entry(model)


def _sort_settings(
    model: str | type[GraphModel], settings: Mapping[str, Any], data: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Divide settings into options of the model, of the training and of the data."""
    known = _find_entry(model).build.option_names()
    name = model if isinstance(model, str) else model.__name__
    check_names(f"{name} (its training and its data included)", settings, [*known, *TRAINING, *data])
    parts = [{key: value for key, value in settings.items() if key in names} for names in (known, TRAINING, data)]
    return parts[0], parts[1], parts[2]


def _measure_targets(splits: Splits) -> tuple[list[float], list[float]]:
    """Return mean and deviation of every column of the training targets; one for a column without any deviation."""
    graphs, task = splits.train, splits.task
    targets = [task.target(graphs[index]) for index in range(len(graphs))]
    counted = [task.counted(graphs[index], target) for index, target in enumerate(targets)]
    known = torch.where(torch.cat(counted), torch.cat(targets).double(), torch.nan)
    count = (~known.isnan()).sum(dim=0).clamp(min=1)
    mean = known.nansum(dim=0) / count
    deviation = ((known - mean).square().nansum(dim=0) / count).sqrt()
    return mean.tolist(), torch.where(deviation > 1e-12 * mean.abs(), deviation, 1.0).tolist()


def _transform(graphs: Examples, transform: BaseTransform) -> list[Data]:
    return [transform(graphs[index]) for index in track(range(len(graphs)), "prepare", unit="graph")]


class _Joined:
    """All graphs of all splits as one sequence, so that a model knows every code that occurs.

    What a model measures it reads off ``training_part`` alone.
    """

    def __init__(self, splits: Splits) -> None:
        self.parts = list(splits.named().values())
        self.training_part = splits.train
        self.node_codes = getattr(splits.train, "node_codes", None)
        self.edge_codes = getattr(splits.train, "edge_codes", None)

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts)

    def __getitem__(self, index: int) -> Data:
        for part in self.parts:
            if index < len(part):
                return part[index]  # type: ignore[no-any-return]
            index -= len(part)
        raise IndexError(index)
