"""One experiment as a value: data, model and training, enough to run it again."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ghr.datasets import RGGSSSP, mae_by_distance
from ghr.hierarchy import CentrePaths
from ghr.models.settle import Steps
from ghr.paper.data_specs import DATA, RGGSpec
from ghr.paper.model_specs import MODELS, GHRSpec, MinPlusSpec, ModelSpec
from ghr.train import TrainConfig, predict, train


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
