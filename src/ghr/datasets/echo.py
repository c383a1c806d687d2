"""ECHO-Synth: shortest paths, eccentricities and diameters on graphs up to 40 hops wide."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from ghr.datasets.distances import eccentricities, hops_from
from ghr.datasets.echo_graphs import FAMILIES, draw_graph
from ghr.datasets.metrics import mean_absolute_error
from ghr.datasets.options import one_of, whole
from ghr.datasets.sourced import SourcedDataset, both_directions, expect
from ghr.datasets.workers import in_order

REPOSITORY = "lucamiglior/echo-benchmark"
DIAMETERS = range(17, 41)
LARGEST = 40.0  # targets are divided by it
COLUMNS = {"ecc": 0, "diam": 1, "sssp": 2}  # of the published targets
PER_CELL = {"train": 50, "val": 10, "test": 10}  # graphs per family and diameter
NUM_GRAPHS = len(FAMILIES) * len(DIAMETERS) * sum(PER_CELL.values())


class ECHOSynth(SourcedDataset):
    """How far things are on long graphs: from a marked source, from the farthest node, or at most.

    ====  ================================================  =====
    task  target                                            level
    ====  ================================================  =====
    sssp  distance from the source                          node
    ecc   eccentricity: distance from the farthest node     node
    diam  diameter: the largest distance                    graph
    ====  ================================================  =====

    10,080 graphs of six families (line, ladder, grid, tree, caterpillar, lobster) with diameters 17 to 40. A rebuilt
    set has 70 graphs of each family and diameter, 50 of them for training, 10 for validation and 10 for the test. How
    the families are drawn is partly inferred, see :mod:`ghr.datasets.echo_graphs`, and so is this split; the targets
    are exact. Each graph is drawn from a random stream of its own, and the three tasks share their graphs.

    Targets are divided by 40; :meth:`metric` is in hops.

    Attributes of a graph: ``x`` :math:`(N, 2)` source flag and a random number in [0, 1), ``edge_index`` both
    directions in sorted order, ``y`` :math:`(N, 1)`, or :math:`(1, 1)` for ``diam``.

    Args:
        root: Folder of the cache.
        task: ``"sssp"``, ``"ecc"`` or ``"diam"``.
        split: ``"train"``, ``"val"`` or ``"test"``.
        source: ``"hub"`` for the published files, ``"generate"`` to draw here.
        num_graphs: Of a rebuilt set, the graphs in all splits together, five sevenths of them for training and one
            each for validation and test; families and diameters take turns.
        seed: Of a rebuilt set.
        workers: Processes that rebuild; the graphs do not depend on it.
        transform: Applied at every access.
        pre_transform: Applied once, before the graphs are stored.
        pre_filter: Keeps only the graphs for which it is true.
    """

    target_scale: ClassVar[float] = LARGEST

    def __init__(
        self,
        root: str | Path,
        task: str = "sssp",
        split: str = "train",
        source: str = "generate",
        *,
        num_graphs: int | None = None,
        seed: int = 0,
        workers: int = 1,
        transform: Callable[[Any], Any] | None = None,
        pre_transform: Callable[[Any], Any] | None = None,
        pre_filter: Callable[[Any], bool] | None = None,
    ) -> None:
        one_of("task", task, COLUMNS)
        one_of("split", split, PER_CELL)
        if source == "hub" and (num_graphs is not None or seed != 0):
            raise ValueError("The published graphs have no choice of number and seed; leave both out.")
        self.target = task
        self.task = "graph" if task == "diam" else "node"
        self.split = split
        self.num_graphs = whole("num_graphs", NUM_GRAPHS if num_graphs is None else num_graphs, 7)
        self.seed = whole("seed", seed, 0)
        super().__init__(
            root, source, workers=workers, transform=transform, pre_transform=pre_transform, pre_filter=pre_filter
        )

    def options(self) -> dict[str, Any]:
        """Return every option that changes the content."""
        names = ("target", "split", "source") + (("num_graphs", "seed") if self.source == "generate" else ())
        return {name: getattr(self, name) for name in names}

    def published_file(self) -> tuple[str, str]:
        """Return the repository on the hub and the file in it."""
        return REPOSITORY, f"echo-synth/{self.split}_data.pt"

    def convert(self, graphs: list[dict[str, Tensor]]) -> list[Data]:
        """Choose the target of this task from the published ones."""
        converted = []
        for index, graph in enumerate(graphs):
            tensors = expect(graph, index, x=2, edge_index=None, y=len(COLUMNS))
            edge_index = both_directions(tensors["edge_index"])
            converted.append(self._graph(tensors["x"].float(), edge_index, tensors["y"].float()))
        return converted

    def rebuild(self) -> list[Data]:
        """Draw this split's graphs, each from its own random stream."""
        count = self.num_graphs * PER_CELL[self.split] // sum(PER_CELL.values())
        draw = partial(draw_example, self.seed, list(PER_CELL).index(self.split))
        name = f"ECHO-Synth {self.target} {self.split}"
        examples = in_order(draw, range(count), workers=self.workers, description=name)
        return [self._graph(*map(torch.from_numpy, example)) for example in examples]

    def _graph(self, x: Tensor, edge_index: Tensor, targets: Tensor) -> Data:
        column = targets[:, COLUMNS[self.target], None]
        return Data(x=x, edge_index=edge_index, y=column[:1].clone() if self.task == "graph" else column.clone())

    @staticmethod
    def metric(prediction: Tensor, target: Tensor) -> float:
        """Return the mean absolute error in hops, pooled over all rows."""
        return LARGEST * mean_absolute_error(prediction, target)


class Example(NamedTuple):
    """A graph with all three targets, as the published files have them."""

    x: NDArray[np.float32]
    edge_index: NDArray[np.int64]
    targets: NDArray[np.float32]


def draw_example(seed: int, split: int, index: int) -> Example:
    """Draw a graph of the family and diameter whose turn it is, with source, noise and targets.

    Args:
        seed: Seed of the set.
        split: Number of the split.
        index: Position in the split; families take turns first, then diameters in steps of seven, so that the first
            few graphs already spread over both.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(split, index)))
    turn, family = divmod(index, len(FAMILIES))
    edges, num_nodes = draw_graph(list(FAMILIES)[family], DIAMETERS[7 * turn % len(DIAMETERS)], rng)
    source = int(rng.integers(num_nodes))
    x = np.stack([np.arange(num_nodes) == source, rng.random(num_nodes)], axis=1).astype(np.float32)
    farthest = eccentricities(edges, num_nodes)
    targets = np.stack([farthest, np.full(num_nodes, farthest.max()), hops_from(edges, num_nodes, source)], axis=1)
    both = np.concatenate([edges, edges[::-1]], axis=1)
    return Example(x, both[:, np.lexsort(both[::-1])], (targets / LARGEST).astype(np.float32))
