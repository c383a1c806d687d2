"""The graphs of experiments as values: which are drawn, and what is asked about them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from torch_geometric.transforms import BaseTransform

from ghr.datasets import RGGSSSP
from ghr.datasets.rgg import REGIMES
from ghr.hierarchy import CentrePaths, Coarsen, Graclus
from ghr.hierarchy.coarsen import Reduce
from ghr.paper.trial_data import Budget, Offsets, WidestPath

EdgeReduce: TypeAlias = tuple[Reduce, ...] | CentrePaths


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
