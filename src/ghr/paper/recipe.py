"""One experiment as a value: data, model and training, enough to run it again."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import torch
from torch import nn
from torch_geometric.transforms import BaseTransform

from ghr.datasets import RGGSSSP, mae_by_distance
from ghr.datasets.rgg import REGIMES
from ghr.hierarchy import CentrePaths, Coarsen, Graclus
from ghr.hierarchy.coarsen import Reduce
from ghr.models import GHR, GPS, DeepGNN, MinPlusGHR
from ghr.models.settle import Steps
from ghr.ops import Pool
from ghr.paper.trial_data import Budget, Offsets, WidestPath
from ghr.paper.trial_models import Aggregate, TrialGHR, WithinBudget
from ghr.train import TrainConfig, predict, train

EdgeReduce: TypeAlias = tuple[Reduce, ...] | CentrePaths


@dataclass(frozen=True)
class GHRSpec:
    """GHR as the paper builds it for shortest paths.

    Args:
        conv: Message passing.
        hidden_channels: Width of the states.
        steps: Global steps in training.
        t_high: Updates of the coarse level per step.
        t_low: Updates of the graph after each of these.
        pool: How clusters read their members.
    """

    conv: str = "gated_gine"
    hidden_channels: int = 32
    steps: int = 4
    t_high: int = 2
    t_low: int = 2
    pool: Pool = "max"

    def build(self, edge_dim: int, coarse_edge_dim: int) -> nn.Module:
        """Return a new model."""
        return GHR(1, out_channels=1, edge_dim=edge_dim, coarse_edge_dim=coarse_edge_dim, **asdict(self))


@dataclass(frozen=True)
class DeepSpec:
    """The flat baseline with distinct layers.

    Args:
        conv: Message passing.
        hidden_channels: Width of the states.
        layers: Number of layers.
        steps: Global steps in training; ``None`` for a feed-forward stack.
    """

    conv: str = "gine"
    hidden_channels: int = 32
    layers: int = 10
    steps: int | None = None

    def build(self, edge_dim: int, coarse_edge_dim: int) -> nn.Module:
        """Return a new model."""
        return DeepGNN(1, out_channels=1, edge_dim=edge_dim, **asdict(self))


@dataclass(frozen=True)
class RecurrentSpec:
    """The flat baseline with one layer for all iterations, which is GHR without its coarse level.

    Args:
        conv: Message passing.
        hidden_channels: Width of the states.
        steps: Global steps in training; train with ``jitter=False`` where a single step is to stay one.
        t_low: Iterations per step.
    """

    conv: str = "gine"
    hidden_channels: int = 32
    steps: int = 1
    t_low: int = 20

    def build(self, edge_dim: int, coarse_edge_dim: int) -> nn.Module:
        """Return a new model."""
        return GHR(1, out_channels=1, levels=1, edge_dim=edge_dim, **asdict(self))


@dataclass(frozen=True)
class GPSSpec:
    """The fixed-depth baseline with attention.

    Args:
        conv: Message passing beside the attention.
        hidden_channels: Width of the states.
        layers: Number of layers.
        heads: Heads of the attention.
        dropout: Probability of dropping an entry.
    """

    conv: str = "gine"
    hidden_channels: int = 32
    layers: int = 10
    heads: int = 4
    dropout: float = 0.3

    def build(self, edge_dim: int, coarse_edge_dim: int) -> nn.Module:
        """Return a new model."""
        return GPS(1, out_channels=1, edge_dim=edge_dim, **asdict(self))


@dataclass(frozen=True)
class MinPlusSpec:
    """The extension with min-plus message passing, which is not in the paper.

    The loss counts every global step, so one of them should reach as far as training goes.

    Args:
        hidden_channels: Width of the states.
        levels: ``1`` for a flat recurrence, ``2`` for one with a coarse level.
        steps: Global steps in training.
        t_high: Updates of the coarse level per step.
        t_low: Updates of the graph after each of these.
    """

    hidden_channels: int = 8
    levels: int = 2
    steps: int = 2
    t_high: int = 1
    t_low: int = 6

    def build(self, edge_dim: int, coarse_edge_dim: int) -> nn.Module:
        """Return a new model."""
        return MinPlusGHR(1, out_channels=1, **asdict(self))


@dataclass(frozen=True)
class TrialSpec:
    """The flat extension with one part replaced, see :class:`~ghr.paper.trial_models.TrialGHR`.

    Args:
        aggregate: What takes the place of the minimum.
        norm: Whether messages are made of normalised states.
        mixing: At what part of the usual size the mixing weights start.
        edge_dim: Width of the edge features where the lengths are to be learned.
        budget: Whether to say if a node is within a budget, in place of how far it is.
        steps: Global steps in training.
        t_low: Updates per step.
    """

    aggregate: Aggregate = "min"
    norm: bool = False
    mixing: float = 0.3
    edge_dim: int | None = None
    budget: bool = False
    steps: int = 2
    t_low: int = 6

    def build(self, edge_dim: int, coarse_edge_dim: int) -> nn.Module:
        """Return a new model."""
        options = asdict(self)
        return WithinBudget(**options) if options.pop("budget") else TrialGHR(**options)


ModelSpec: TypeAlias = GHRSpec | DeepSpec | RecurrentSpec | GPSSpec | MinPlusSpec | TrialSpec
MODELS: dict[str, type[ModelSpec]] = {
    "ghr": GHRSpec,
    "deep": DeepSpec,
    "recurrent": RecurrentSpec,
    "gps": GPSSpec,
    "min-plus": MinPlusSpec,
    "trial": TrialSpec,
}


@dataclass(frozen=True)
class RGGSpec:
    """Shortest paths on random geometric graphs, coarsened by Graclus.

    Args:
        regime: Sizes and caps, see :class:`~ghr.datasets.RGGSSSP`.
        max_distance: Largest distance in training; ``None`` for the regime's own.
        mean_degree: Expected degree; ``None`` for the regime's own.
        weighted: Lengths instead of hops.
        train_graphs: Graphs to train on.
        val_graphs: Graphs to choose the weights by.
        test_graphs: Graphs to judge by.
        rounds: Rounds of Graclus.
        seed: Seed of the graphs.
    """

    regime: Literal["small", "large", "huge"] = "small"
    max_distance: int | None = None
    mean_degree: float | None = None
    weighted: bool = False
    train_graphs: int = 6000
    val_graphs: int = 1000
    test_graphs: int = 1000
    rounds: int = 3
    seed: int = 0

    @property
    def in_range(self) -> int:
        """Largest distance seen in training."""
        return REGIMES[self.regime].max_distance if self.max_distance is None else self.max_distance

    def load(self, root: str | Path, split: str, edge_reduce: EdgeReduce = ("min", "mean")) -> RGGSSSP:
        """Return one split, generated where it is not in `root` yet; the cap on distances is not for the test split.

        Args:
            root: Folder of the cache.
            split: ``"train"``, ``"val"`` or ``"test"``.
            edge_reduce: What coarse edges carry.
        """
        return self._load(root, split, Coarsen(Graclus(rounds=self.rounds, seed=0), edge_reduce))

    def _load(self, root: str | Path, split: str, pre_transform: BaseTransform) -> RGGSSSP:
        counts = {"train": self.train_graphs, "val": self.val_graphs, "test": self.test_graphs}
        return RGGSSSP(
            root,
            self.regime,
            split,
            max_distance=None if split == "test" else self.max_distance,
            mean_degree=self.mean_degree,
            weighted=self.weighted,
            num_graphs=counts[split],
            seed=self.seed,
            pre_transform=pre_transform,
        )


Question = Literal["offsets", "widest", "budget"]
QUESTIONS: dict[Question, BaseTransform] = {"offsets": Offsets(), "widest": WidestPath(), "budget": Budget()}


@dataclass(frozen=True)
class TrialData(RGGSpec):
    """The same graphs with another question, without a coarse level.

    Args:
        question: Distances by lengths that have to be learned from ``"offsets"``, the ``"widest"`` path, or what is
            within a ``"budget"``.
    """

    weighted: bool = True
    question: Question = "offsets"

    def load(self, root: str | Path, split: str, edge_reduce: EdgeReduce = ("min", "mean")) -> RGGSSSP:
        """Return one split; `edge_reduce` has nothing to do here."""
        return self._load(root, split, QUESTIONS[self.question])


DATA: dict[str, type[RGGSpec]] = {"rgg": RGGSpec, "trial": TrialData}


@dataclass(frozen=True)
class Recipe:
    """A model, its data and its training.

    Args:
        model: What is trained.
        data: On what.
        train: How.
    """

    model: ModelSpec = field(default_factory=GHRSpec)
    data: RGGSpec = field(default_factory=RGGSpec)
    train: TrainConfig = field(default_factory=TrainConfig)

    def describe(self) -> dict[str, Any]:
        """Return model and data as they stand in a run's ``config.json``, beside its training config."""
        kind = next(name for name, spec in MODELS.items() if type(self.model) is spec)
        data = asdict(self.data)
        if type(self.data) is not RGGSpec:
            data["kind"] = next(name for name, spec in DATA.items() if type(self.data) is spec)
        return {"model": {"kind": kind, **asdict(self.model)}, "data": data}

    def config(self) -> dict[str, Any]:
        """Return what stands in the ``config.json`` of a run."""
        return {"train": asdict(self.train), **self.describe()}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Recipe":
        """Return the recipe that a run's ``config.json`` describes."""
        try:
            model, data = dict(config["model"]), dict(config["data"])
            spec = DATA[data.pop("kind", "rgg")]
            return cls(MODELS[model.pop("kind")](**model), spec(**data), TrainConfig(**config["train"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"This config does not describe a recipe of this version: {error}.") from error

    def load(self, root: str | Path, split: str) -> RGGSSSP:
        """Return one split of the data, coarsened as the model needs it."""
        return self.data.load(root, split, CentrePaths() if isinstance(self.model, MinPlusSpec) else ("min", "mean"))

    def build(self) -> nn.Module:
        """Return the untrained model, the same for the same seed."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.train.seed)
            return self.model.build(edge_dim=1, coarse_edge_dim=2)

    def run(
        self, run_dir: str | Path, data_root: str | Path, *, quiet: bool = False
    ) -> tuple[nn.Module, dict[str, Any]]:
        """Train the model, or go on with it, and judge it on the test split; return it and its result."""
        model = self.build()
        train_set, val_set = self.load(data_root, "train"), self.load(data_root, "val")
        result = train(
            model,
            train_set,
            val_set,
            self.train,
            run_dir,
            extra=self.describe(),
            report=lambda trained: self.judge(trained, data_root),
            quiet=quiet,
        )
        return model, result

    def judge(
        self,
        model: nn.Module,
        data_root: str | Path,
        *,
        steps: Steps | None = None,
        t_high: int | None = None,
        t_low: int | None = None,
    ) -> dict[str, Any]:
        """Return the errors on the test split by distance; recurrent models may be given other numbers of steps."""
        test_set = self.load(data_root, "test")
        prediction, target = predict(model, test_set, steps=steps, t_high=t_high, t_low=t_low)
        hops = test_set.hops[test_set.mask]
        return dict(mae_by_distance(prediction, target, hops, self.data.in_range))
