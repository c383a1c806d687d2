"""Gradient boosting on fingerprints of molecules: the floor that a graph network on molecules has to beat."""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ghr.checks import check_names
from ghr.datasets import BENCHMARKS, PeptidesStruct
from ghr.datasets.fingerprint import fingerprint
from ghr.datasets.generators.molecules.needs import need
from ghr.datasets.generators.molecules.smiles import parse
from ghr.datasets.metrics import find_metric
from ghr.datasets.splits import Examples, Splits
from ghr.datasets.task import Task
from ghr.experiment import BenchmarkGraphs, Experiment
from ghr.files import write_text
from ghr.paper.row import Row
from ghr.progress import hide_bars, track
from ghr.train import Run, TrainConfig
from ghr.train.collate import collate
from ghr.train.directory import FORMAT, RunDirectory, jsonable
from ghr.train.evaluate import join_pairs, score
from ghr.train.provenance import machine, versions
from ghr.train.select import select_rows
from ghr.train.trainer import Callback

NAME = "ecfp-trees"
FINGERPRINT: Mapping[str, int] = {"radius": 2, "size": 2048}


@dataclass(frozen=True)
class Rounds(TrainConfig):
    """How trees are grown: in every round one more for every target.

    Of a training only three things matter: ``epochs`` is the number of rounds, ``lr`` how much of a tree counts, and
    ``seed``.
    """

    epochs: int = 200
    lr: float = 0.1

    def describe(self) -> dict[str, Any]:
        """Return what matters in the types of JSON."""
        return {"epochs": self.epochs, "lr": self.lr, "seed": self.seed}


@dataclass(frozen=True)
class TreeExperiment(Experiment):
    """Gradient boosting of absolute errors on counts of ECFP fingerprints, one ensemble for every target.

    It is scored as a model is: on the same test graphs and targets, with as many rounds as were best on the validation
    graphs. Trees are not kept, as no table needs them again.

    Args:
        data: Molecules of :class:`~ghr.datasets.PeptidesStruct`.
        model: The name that stands in ``config.json``; no model of ``MODELS``.
        options: ``radius`` of the fingerprints in bonds, and their ``size``.
        train: How trees are grown.
    """

    model: str = NAME
    options: Mapping[str, Any] = field(default_factory=lambda: dict(FINGERPRINT))
    train: TrainConfig = field(default_factory=Rounds)

    def __post_init__(self) -> None:
        check_names(NAME, self.options, FINGERPRINT)

    def run(
        self,
        out: str | Path,
        root: str | Path = "data",
        *,
        quiet: bool = False,
        callback: Callback | None = None,
        workers: int = 1,
    ) -> Run:
        """Grow the trees and score them; a finished run is left as it is.

        Args:
            out: The run directory.
            root: Folder of the benchmarks' graphs.
            quiet: Whether to hide the progress bars.
            callback: Called after all rounds with a line of ``metrics.jsonl`` for each.
            workers: Processes that generate graphs.
        """
        directory = RunDirectory(out)
        with ExitStack() as stack:
            stack.enter_context(hide_bars(quiet))
            splits = self.data.load(root, workers=workers)
            config = {
                "format": FORMAT,
                "task": splits.task.describe(),
                "train": self.train.describe(),
                "data": {"train": fingerprint(splits.train), "val": fingerprint(splits.val)},
                "experiment": self.describe(),
            }
            if directory.open(dict(jsonable(config)), stack) is None:
                lines, result = self._grow(splits)
                write_text(directory.metrics, "".join(f"{json.dumps(line)}\n" for line in lines))
                directory.finish({"config": config, **result})
                if callback is not None:
                    for line in lines:
                        callback(line)
        return Run(out, task=splits.task)

    def _grow(self, splits: Splits) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return a line for every round, and the result."""
        started, cpu_started = time.monotonic(), time.process_time()
        task, parts = splits.task, splits.named()
        counts = {name: self._count_fragments(graphs) for name, graphs in parts.items()}
        target = task.target(_join(splits.train)).double().numpy()
        grown = self._boost(counts["train"], target)
        scores = [_score(guess, splits.val, task) for guess in _predict_rounds(grown, counts["val"])]
        best = (max if task.score.higher_is_better else min)(range(len(scores)), key=scores.__getitem__)
        name, _ = find_metric(task.score)
        test = _score(_predict_rounds(grown, counts["test"])[best], parts["test"], task)
        result = {
            "seed": self.train.seed,
            "epochs": self.train.epochs,
            "best_epoch": best + 1,
            "best_val": scores[best],
            "parameters": (best + 1) * len(grown),
            "metrics": {name.lower().replace(" ", "_"): test},
            "seconds": round(time.monotonic() - started, 3),
            "cpu_seconds": round(time.process_time() - cpu_started, 3),
            "processes": 1,
            "versions": {**versions(), **{package: version(package) for package in ("scikit-learn", "rdkit")}},
            "machine": {**machine(torch.device("cpu")), "threads": 1},
        }
        lines = [{"epoch": number, "val": val, "lr": self.train.lr} for number, val in enumerate(scores, start=1)]
        return lines, result

    def _count_fragments(self, graphs: Examples) -> NDArray[np.float64]:
        """Return the fingerprints of molecules, how often every fragment is in each."""
        if not isinstance(graphs, PeptidesStruct):
            raise ValueError(f"Fingerprints need the SMILES of molecules, which {type(graphs).__name__} does not have.")
        made = need("rdkit.Chem.rdFingerprintGenerator").GetMorganGenerator(
            radius=self.options["radius"], fpSize=self.options["size"]
        )
        molecules = track(graphs.list_smiles(), "fingerprints", unit="molecule")
        return np.stack([made.GetCountFingerprintAsNumPy(parse(smiles)) for smiles in molecules]).astype(np.float64)

    def _boost(self, counts: NDArray[np.float64], target: NDArray[np.float64]) -> list[Any]:
        """Grow the trees of every target, on one thread, so that their sums do not depend on the machine."""
        try:
            ensemble, pools = import_module("sklearn.ensemble"), import_module("threadpoolctl")
        except ImportError as error:
            raise ImportError(
                f"Gradient boosting needs scikit-learn, which cannot be imported ({error}); install it with: "
                "pip install scikit-learn."
            ) from error
        with pools.threadpool_limits(1):
            return [
                ensemble.HistGradientBoostingRegressor(
                    loss="absolute_error",
                    learning_rate=self.train.lr,
                    max_iter=self.train.epochs,
                    early_stopping=False,
                    random_state=self.train.seed,
                ).fit(counts, column)
                for column in track(list(target.T), "trees", unit="target")
            ]


@dataclass(frozen=True)
class TreeRow(Row):
    """A row of :class:`TreeExperiment`; its settings are those of the data, of fingerprints, ``epochs`` and ``lr``."""

    def experiment(self, seed: int = 0) -> TreeExperiment:
        """Return what one run grows."""
        setup, settings = self.setup, {**self.setup.settings, **self.settings}
        known = BENCHMARKS[setup.benchmark].options
        check_names(self.title, settings, [*known, *FINGERPRINT, "epochs", "lr", "patience"])
        data, options, rounds = (
            {name: value for name, value in settings.items() if name in names}
            for names in (known, FINGERPRINT, ("epochs", "lr", "patience"))
        )
        graphs = BenchmarkGraphs(setup.benchmark, setup.graphs, options=data)
        return TreeExperiment(graphs, NAME, {**FINGERPRINT, **options}, Rounds(**rounds, seed=seed))

    @property
    def budget(self) -> str:
        """What the training may cost, in words."""
        train = self.experiment().train
        return f"{train.epochs} rounds, {self.count_parameters():,} trees, learning rate {train.lr:g}"

    @property
    def size_unit(self) -> str:
        """What its size counts."""
        return "trees"

    def count_parameters(self) -> int:
        """Return the number of trees, one for every target and round."""
        return BENCHMARKS[self.setup.benchmark].task.out_channels * self.experiment().train.epochs


def _join(graphs: Examples) -> Any:
    return collate(graphs, list(range(len(graphs))))


def _predict_rounds(grown: Sequence[Any], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return predictions after every round, of the shape (rounds, molecules, targets)."""
    return np.stack([np.stack(list(trees.staged_predict(counts))) for trees in grown], axis=2)


def _score(guess: NDArray[np.float64], graphs: Examples, task: Task) -> float:
    """Return the score of predictions for graphs, taken as that of a model is."""
    pair = select_rows(task, _join(graphs), torch.from_numpy(guess).float())
    return score(*join_pairs([pair], task), task)
