"""LRIM: local energies of the long-range Ising model."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data
from typing_extensions import Unpack

from ghr.checks import check_choice, check_number, check_whole
from ghr.datasets.benchmark import Benchmark, TextTable
from ghr.datasets.generators.ising import couplings, local_energies, sample_spins
from ghr.datasets.lrim_report import autocorrelation_table, oracle_table
from ghr.datasets.storage.cached import Preparation
from ghr.datasets.storage.sourced import SourcedDataset, both_directions, expect, refuse_choices
from ghr.datasets.storage.workers import in_order
from ghr.datasets.task import Task
from ghr.hierarchy.lattice import lattice_edges

REPOSITORY = "jmathys/lrim_graph_benchmark"
SIZES = {"train": 8000, "val": 1000, "test": 1000}  # in this order in the published file
NUM_GRAPHS = sum(SIZES.values())
UPDATES = 300  # clusters flipped per graph; the autocorrelation times are 4 to 21
MOST_NODES = 1 << 22  # of all lattices that the oracle is asked about
TRAINED = 32  # the largest side that the paper trains on; beyond it batches are small and steps are computed again
BATCH_NODES = 1 << 14  # of lattices beyond that: GHR then takes 4 GB for side 64, 14 GB for side 128
SIGMAS = {"hard": 0.6, "easy": 1.5}

# By side and sigma. Stated by the benchmark: 16 with 0.6. Fitted to its published curves: the others up to 64, and
# roughly 128 with 0.6. The last three follow the trend of the sizes and are no more than that.
TEMPERATURES: dict[tuple[int, float], float] = {
    (16, 0.6): 8.8787,
    (16, 1.5): 5.42,
    (32, 0.6): 10.25,
    (32, 1.5): 5.52,
    (64, 0.6): 11.02,
    (64, 1.5): 5.56,
    (128, 0.6): 11.4,
    (128, 1.5): 5.58,
    (256, 0.6): 11.6,
    (256, 1.5): 5.59,
}


class LRIM(SourcedDataset):
    r"""The local energy of every spin of a long-range Ising model, near its critical temperature.

    .. math::
        y_i = -s_i \sum_{j \neq i} r_{ij}^{-(2 + \sigma)} s_j

    on a periodic :math:`L \times L` lattice, where :math:`r_{ij}` is the Euclidean distance the shorter way round.
    With :math:`\sigma = 0.6` ("hard") distant spins matter more than with :math:`\sigma = 1.5` ("easy").

    A rebuilt set has the same distribution as the published one: the r-hop oracle, which knows the couplings but sees
    only spins within r hops, has the published errors. Each graph is a Markov chain of its own with a random stream of
    its own, so graphs are independent, and the first graphs of a longer set equal a shorter set.

    Of 10,000 graphs the first 8,000 are for training, the next 1,000 for validation, the rest for the test; a rebuilt
    split may have more, and no graph is ever in two. All edges are stored with every graph: 16,000 bytes per lattice of
    side 16, a megabyte per lattice of side 128; take fewer graphs of the large ones.

    Attributes of a graph: ``x`` :math:`(N, 1)` spin, ``edge_index`` :math:`(2, 4N)` both directions in sorted order,
    ``y`` :math:`(N, 1)` local energy; nodes row by row.

    Args:
        root: Folder of the cache.
        size: Side :math:`L`: 16, 32, 64, 128 or 256, or any from 3 with ``source="generate"`` and a ``temperature``.
        sigma: Decay: 0.6 or 1.5, or any as above.
        split: ``"train"``, ``"val"`` or ``"test"``.
        source: ``"hub"`` for the published files, ``"generate"`` to sample here.
        num_graphs: Graphs of this split; by default 8,000 for training and 1,000 each for validation and test.
        temperature: Of a rebuilt set; by default that of the benchmark.
        seed: Of a rebuilt set.
        workers: Processes that rebuild; the graphs do not depend on it.
        **preparation: ``transform``, ``pre_transform`` and ``pre_filter`` as in :class:`CachedDataset`.
    """

    sizes: ClassVar[Mapping[str, int]] = SIZES
    task = Task("node", metric="log10_mse", name="local energy")

    def __init__(
        self,
        root: str | Path,
        size: int = 16,
        sigma: float = 0.6,
        split: str = "train",
        source: str = "generate",
        num_graphs: int | None = None,
        *,
        temperature: float | None = None,
        seed: int = 0,
        workers: int = 1,
        **preparation: Unpack[Preparation],
    ) -> None:
        self.size = check_whole("size", size, 3)
        self.sigma = check_number("sigma", sigma, above=0)
        refuse_choices(source, temperature=temperature)
        if temperature is None:
            temperature = TEMPERATURES[check_choice("(size, sigma)", (self.size, self.sigma), TEMPERATURES)]
        self.temperature = check_number("temperature", temperature, above=0)
        super().__init__(root, split, source, num_graphs=num_graphs, seed=seed, workers=workers, **preparation)

    def options(self) -> dict[str, Any]:
        """Return every option that changes the content."""
        names = ("size", "sigma") + (("temperature",) if self.source == "generate" else ())
        return super().options() | {name: getattr(self, name) for name in names}

    def published_file(self) -> tuple[str, str]:
        """Return the repository on the hub and the file in it."""
        return REPOSITORY, f"lrim_{self.size}_{self.sigma:g}_10k.pt"

    def choose(self, published: int) -> range:
        """Return the places of this split's graphs in the published file."""
        if published != NUM_GRAPHS:
            raise ValueError(f"The published file has {published} graphs instead of {NUM_GRAPHS}.")
        return self.take(PLACES[self.split])

    def convert(self, graphs: Mapping[int, dict[str, Tensor]]) -> list[Data]:
        """Check the published lattices, and give them their edges in both directions."""
        lattice = lattice_edges(self.size)
        converted = []
        for place, graph in graphs.items():
            tensors = expect(graph, place, x=1, y=1, edge_index=None)
            if not torch.equal(both_directions(tensors["edge_index"]), lattice):
                raise ValueError(f"Graph {place} of the published file is no periodic lattice of side {self.size}.")
            converted.append(Data(x=tensors["x"].float(), edge_index=lattice, y=tensors["y"].float()))
        return converted

    def rebuild(self) -> list[Data]:
        """Sample this split's graphs, each from its own random stream."""
        draw = partial(_sample, self.size, self.sigma, self.temperature, self.seed)
        places = [find_place(self.split, number) for number in self.numbers()]
        name = f"LRIM {self.size} {self.sigma:g} {self.split}"
        lattices = in_order(draw, places, workers=self.workers, description=name)
        edge_index = lattice_edges(self.size)
        coupling = couplings(self.size, self.sigma)
        return [
            Data(x=_column(spins), edge_index=edge_index, y=_column(local_energies(spins, coupling)))
            for spins in lattices
        ]


PLACES = {"train": range(8000), "val": range(8000, 9000), "test": range(9000, 10_000)}


def find_place(split: str, number: int) -> int:
    """Return the place of a split's graph among all graphs; beyond the published 10,000 the splits take turns.

    Example:
        >>> [find_place("val", number) for number in (0, 999, 1000, 1001)]
        [8000, 8999, 10001, 10004]
    """
    places = PLACES[split]
    if number < len(places):
        return places[number]
    return NUM_GRAPHS + len(PLACES) * (number - len(places)) + list(PLACES).index(split)


def _sample(size: int, sigma: float, temperature: float, seed: int, index: int) -> NDArray[np.int8]:
    stream = np.random.SeedSequence(seed, spawn_key=(size, round(1_000_000 * sigma), index))
    return sample_spins(size, sigma, temperature, updates=UPDATES, rng=np.random.default_rng(stream))


def _column(values: NDArray[Any]) -> Tensor:
    return torch.from_numpy(values.astype(np.float32).reshape(-1, 1))


def lrim_benchmark(size: int, level: str, published: Mapping[str, str] | None = None) -> Benchmark:
    """Return the benchmark of one size and decay.

    Args:
        size: Side of the lattice.
        level: ``"hard"`` or ``"easy"``.
        published: What is published about its targets.
    """
    return Benchmark(
        title=f"LRIM-{size}-{level}",
        summary=f"local energies of an Ising model with long-range couplings, {size} x {size} lattices",
        task=LRIM.task,
        dataset=partial(LRIM, size=size, sigma=SIGMAS[level]),
        sizes=SIZES,
        comparable=_comparable(size, level),
        options=("temperature",),
        # Stated by the published code, which takes 1,000 of the graphs; of epochs and jitter it says nothing here.
        training={
            "epochs": 500,
            "batch_size": 32 if size <= TRAINED else max(1, BATCH_NODES // size**2),
            "lr": 3e-4,
            "schedule": "plateau",
            "plateau_factor": 0.5,
            "plateau_patience": 20,
            "min_lr": 1e-6,
            "patience": 80,
            "gamma": 0.8,
            "jitter": False,
        },
        # Stated by the paper and its published code.
        suggested={
            "budget": 500_000,
            "hidden_channels": 256,
            "conv": "gated_gcn",
            "pool": "sum",
            "steps": 3,
            "t_high": 3,
            "t_low": 3,
            "time_informed": True,
            "readout": "node-mlp",
            "partition": "grid",
            "block": 2,
            "checkpoint": size > TRAINED,
        },
        published={
            "graphs": "8000 / 1000 / 1000 [S]",
            "nodes": f"{size * size} [S]",
            "edges": f"{4 * size * size}, half of them stored [S]",
            "degree": "4 [S]",
            "diameter": f"{size} [S]",
            **(published or {}),
        },
        report=_report,
    )


def _comparable(size: int, level: str) -> str:
    if (size, level) == (16, "hard"):
        return "yes: on all 10,000 graphs the published oracle errors are met"
    if size <= 32:
        return "perhaps: if the oracle errors above are near the published ones; few graphs scatter"
    if size <= 128:
        return "unchecked: the temperature is fitted or follows the trend of the sizes"
    return "no: the published sets do not follow the trend of the sizes"


def _report(dataset: LRIM) -> list[TextTable]:
    """Return the errors of the oracle and, for a rebuilt set, the autocorrelation times."""
    size, count = dataset.size, max(1, min(len(dataset), MOST_NODES // dataset.size**2))
    spins = np.stack([dataset.get(index)["x"].view(size, size).numpy() for index in range(count)])
    tables = [oracle_table(spins, dataset.sigma)]
    if dataset.source == "generate":
        tables.append(autocorrelation_table(size, dataset.sigma, dataset.temperature, before=UPDATES))
    return tables
