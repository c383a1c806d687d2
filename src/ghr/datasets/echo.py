"""ECHO-Synth: shortest paths, eccentricities and diameters on graphs up to 40 hops wide."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data
from typing_extensions import Unpack

from ghr.checks import check_choice, check_flag
from ghr.datasets.benchmark import Benchmark
from ghr.datasets.generators.distances import eccentricities, hops_from
from ghr.datasets.generators.echo_graphs import FAMILIES, draw_graph
from ghr.datasets.metrics import METRICS
from ghr.datasets.storage.cached import Preparation
from ghr.datasets.storage.sourced import SourcedDataset, both_directions, expect
from ghr.datasets.storage.workers import in_order
from ghr.datasets.task import Task

REPOSITORY = "lucamiglior/echo-benchmark"
DIAMETERS = range(17, 41)
LARGEST = 40.0  # targets are divided by it
COLUMNS = {"ecc": 0, "diam": 1, "sssp": 2}  # of the published targets
SIZES = {"train": 7200, "val": 1440, "test": 1440}  # 50, 10 and 10 per family and diameter
TASKS = {
    "ecc": Task("node", metric=METRICS["mae"].scale(LARGEST, "hops"), name="eccentricity"),
    "diam": Task("graph", metric=METRICS["mae"].scale(LARGEST, "hops"), name="diameter"),
    "sssp": Task("node", metric=METRICS["mae"].scale(LARGEST, "hops"), name="distance"),
}


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
    the families are drawn is partly inferred, see :mod:`ghr.datasets.generators.echo_graphs`, and so is this split; the
    targets are exact. Each graph is drawn from a random stream of its own, so the first graphs of a longer set equal a
    shorter set, and the three tasks share their graphs.

    Targets are divided by 40; :meth:`metric` is in hops.

    Attributes of a graph: ``x`` :math:`(N, 2)` source flag and a random number in [0, 1), ``edge_index`` both
    directions in sorted order, ``y`` :math:`(N, 1)`, or :math:`(1, 1)` for ``diam``.

    Args:
        root: Folder of the cache.
        task: ``"sssp"``, ``"ecc"`` or ``"diam"``; the attribute ``target`` keeps this name.
        split: ``"train"``, ``"val"`` or ``"test"``.
        source: ``"hub"`` for the published files, ``"generate"`` to draw here.
        noise: Whether ``x`` has the random number; otherwise there is a one in its place, as the published code of GHR
            has it.
        num_graphs: Graphs of this split; families and diameters take turns. By default all.
        seed: Of a rebuilt set.
        workers: Processes that rebuild; the graphs do not depend on it.
        **preparation: ``transform``, ``pre_transform`` and ``pre_filter`` as in :class:`CachedDataset`.
    """

    sizes: ClassVar[Mapping[str, int]] = SIZES
    target_scale = LARGEST

    def __init__(
        self,
        root: str | Path,
        task: str = "sssp",
        split: str = "train",
        source: str = "generate",
        *,
        noise: bool = True,
        num_graphs: int | None = None,
        seed: int = 0,
        workers: int = 1,
        **preparation: Unpack[Preparation],
    ) -> None:
        self.target = check_choice("task", task, COLUMNS)
        self.task = TASKS[task]
        self.noise = check_flag("noise", noise)
        super().__init__(root, split, source, num_graphs=num_graphs, seed=seed, workers=workers, **preparation)

    def options(self) -> dict[str, Any]:
        """Return every option that changes the content."""
        return super().options() | {"target": self.target, "noise": self.noise}

    def published_file(self) -> tuple[str, str]:
        """Return the repository on the hub and the file in it."""
        return REPOSITORY, f"echo-synth/{self.split}_data.pt"

    def convert(self, graphs: Mapping[int, dict[str, Tensor]]) -> list[Data]:
        """Choose the target of this task from the published ones."""
        converted = []
        for place, graph in graphs.items():
            tensors = expect(graph, place, x=2, edge_index=None, y=len(COLUMNS))
            edge_index = both_directions(tensors["edge_index"])
            converted.append(self._graph(tensors["x"].float(), edge_index, tensors["y"].float()))
        return converted

    def rebuild(self) -> list[Data]:
        """Draw this split's graphs, each from its own random stream."""
        draw = partial(draw_example, self.seed, list(SIZES).index(self.split))
        name = f"ECHO-Synth {self.target} {self.split}"
        examples = in_order(draw, self.numbers(), workers=self.workers, description=name)
        return [self._graph(*map(torch.from_numpy, example)) for example in examples]

    def _graph(self, x: Tensor, edge_index: Tensor, targets: Tensor) -> Data:
        column = targets[:, COLUMNS[self.target], None]
        if not self.noise:
            x = torch.stack([x[:, 0], torch.ones(len(x))], dim=1)
        return Data(x=x, edge_index=edge_index, y=column[:1].clone() if self.task.level == "graph" else column.clone())


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


# Stated by the published code, but for the jitter, of which it says nothing for ECHO.
ECHO_TRAINING = {"epochs": 500, "batch_size": 128, "patience": 150, "gamma": 0.1, "log10": True, "jitter": False}
# Stated by the paper.
ECHO_SUGGESTED = {"hidden_channels": 32, "conv": "gated_gine", "steps": 4, "partition": "graclus", "rounds": 1}


def echo_benchmark(
    target: str, constant: str, *, training: Mapping[str, Any], suggested: Mapping[str, Any]
) -> Benchmark:
    """Return the benchmark of one task.

    Args:
        target: ``"sssp"``, ``"ecc"`` or ``"diam"``.
        constant: What is known about the error of the best constant on the published set.
        training: What is particular to its training.
        suggested: What models are suggested for it in particular.
    """
    return Benchmark(
        title=f"ECHO-Synth, {target}",
        summary=f"{TASKS[target].name} on graphs of six families, 17 to 40 hops wide",
        task=TASKS[target],
        dataset=partial(ECHOSynth, task=target),
        sizes=SIZES,
        comparable="nearly: families, diameters and targets agree, details of the generator and the split are inferred",
        options=("noise",),
        training={**ECHO_TRAINING, **training},
        suggested={**ECHO_SUGGESTED, "pool": "max", **suggested},
        published={
            "graphs": "10080 in all [S]",
            "nodes": "about 30 to several hundred [2]",
            "diameter": "17 to 40 [2]",
            "MAE of a constant": constant,
        },
        distance=_hops if target == "sssp" else None,
    )


def _hops(data: Data) -> Tensor:
    y: Tensor = data["y"]
    return (LARGEST * y).round().long().reshape(-1)
