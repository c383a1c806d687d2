"""Rows that are trained on narrow graphs of ECHO only, and tested on graphs of all widths."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch_geometric.transforms import BaseTransform

from ghr.datasets.splits import Splits
from ghr.experiment import BenchmarkGraphs, Experiment
from ghr.paper.cell_group import CellRow
from ghr.paper.cell_tests import find_narrow

DIAMETER = 28  # the largest in training, where it is capped


@dataclass(frozen=True)
class NarrowGraphs(BenchmarkGraphs):
    """Graphs of ECHO that are trained on and chosen by only if they are narrow; those of the test are of all widths.

    Args:
        largest: The largest diameter in training and validation.
    """

    largest: int = DIAMETER

    def load(self, root: str | Path, transform: BaseTransform | None = None, *, workers: int = 1) -> Splits:
        """Return the splits, without the wide graphs of training and validation."""
        splits = super().load(root, transform, workers=workers)
        kept: dict[str, Any] = {}
        for name, graphs in (("train", splits.train), ("val", splits.val)):
            narrow = find_narrow(root, self.largest, split=name, num_graphs=len(graphs), workers=workers)
            kept[name] = graphs.index_select(narrow)  # type: ignore[attr-defined]
        return replace(splits, **kept)

    def describe(self) -> dict[str, Any]:
        """Return what stands in ``config.json``."""
        return {**super().describe(), "largest_diameter": self.largest}


@dataclass(frozen=True)
class NarrowRow(CellRow):
    """A row that is trained on narrow graphs of ECHO only."""

    def experiment(self, seed: int = 0) -> Experiment:
        """Return what one run trains."""
        whole = super().experiment(seed)
        return replace(whole, data=NarrowGraphs(**vars(whole.data)))

    @property
    def budget(self) -> str:
        """What the training may cost, in words."""
        return f"{super().budget}, only diameters to {DIAMETER}"
