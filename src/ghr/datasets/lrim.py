"""LRIM: local energies of the long-range Ising model."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from ghr.datasets.ising import couplings, local_energies, sample_spins
from ghr.datasets.metrics import log10_mse
from ghr.datasets.options import one_of, positive, whole
from ghr.datasets.sourced import SourcedDataset, both_directions, expect
from ghr.datasets.workers import in_order

REPOSITORY = "jmathys/lrim_graph_benchmark"
NUM_GRAPHS = 10_000
UPDATES = 300  # clusters flipped per graph; the autocorrelation times are 4 to 21
SPLITS = ("train", "val", "test")

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

    The first 80 % of ``num_graphs`` are for training, the next 10 % for validation, the rest for the test. All edges
    are stored with every graph: 16,000 bytes per lattice of side 16, a megabyte per lattice of side 128; take fewer
    graphs of the large ones.

    Attributes of a graph: ``x`` :math:`(N, 1)` spin, ``edge_index`` :math:`(2, 4N)` both directions in sorted order,
    ``y`` :math:`(N, 1)` local energy; nodes row by row.

    Args:
        root: Folder of the cache.
        size: Side :math:`L`: 16, 32, 64, 128 or 256, or any from 3 with ``source="generate"`` and a ``temperature``.
        sigma: Decay: 0.6 or 1.5, or any as above.
        split: ``"train"``, ``"val"`` or ``"test"``.
        source: ``"hub"`` for the published files, ``"generate"`` to sample here.
        num_graphs: Graphs in all splits together; by default 10,000.
        temperature: Of a rebuilt set; by default that of the benchmark.
        seed: Of a rebuilt set.
        workers: Processes that rebuild; the graphs do not depend on it.
        transform: Applied at every access.
        pre_transform: Applied once, before the graphs are stored.
        pre_filter: Keeps only the graphs for which it is true.
    """

    task: Literal["node", "graph"] = "node"

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
        transform: Callable[[Any], Any] | None = None,
        pre_transform: Callable[[Any], Any] | None = None,
        pre_filter: Callable[[Any], bool] | None = None,
    ) -> None:
        one_of("split", split, SPLITS)
        self.size = whole("size", size, 3)
        self.sigma = positive("sigma", sigma)
        if temperature is None or source == "hub":
            one_of("(size, sigma)", (self.size, self.sigma), TEMPERATURES)
        if source == "hub" and (temperature is not None or seed != 0):
            raise ValueError("The published graphs have no choice of temperature and seed; leave both out.")
        self.temperature = positive(
            "temperature", TEMPERATURES[self.size, self.sigma] if temperature is None else temperature
        )
        self.split = split
        self.num_graphs = whole("num_graphs", NUM_GRAPHS if num_graphs is None else num_graphs, 10)
        if source == "hub" and self.num_graphs > NUM_GRAPHS:
            raise ValueError(f"Only {NUM_GRAPHS} graphs are published; got num_graphs={num_graphs}.")
        self.seed = whole("seed", seed, 0)
        super().__init__(
            root, source, workers=workers, transform=transform, pre_transform=pre_transform, pre_filter=pre_filter
        )

    def options(self) -> dict[str, Any]:
        """Return every option that changes the content."""
        names = ["size", "sigma", "split", "source", "num_graphs"]
        if self.source == "generate":
            names += ["temperature", "seed"]
        return {name: getattr(self, name) for name in names}

    def published_file(self) -> tuple[str, str]:
        """Return the repository on the hub and the file in it."""
        return REPOSITORY, f"lrim_{self.size}_{self.sigma:g}_10k.pt"

    def convert(self, graphs: list[dict[str, Tensor]]) -> list[Data]:
        """Take this split's graphs from the published ones, with their edges in both directions."""
        if len(graphs) < self.num_graphs:
            raise ValueError(f"The published file has {len(graphs)} graphs, but num_graphs is {self.num_graphs}.")
        lattice = lattice_edges(self.size)
        chosen = []
        for index in split_range(self.split, self.num_graphs):
            tensors = expect(graphs[index], index, x=1, y=1, edge_index=None)
            if not torch.equal(both_directions(tensors["edge_index"]), lattice):
                raise ValueError(f"Graph {index} of the published file is no periodic lattice of side {self.size}.")
            chosen.append(Data(x=tensors["x"].float(), edge_index=lattice, y=tensors["y"].float()))
        return chosen

    def rebuild(self) -> list[Data]:
        """Sample this split's graphs, each from its own random stream."""
        draw = partial(_sample, self.size, self.sigma, self.temperature, self.seed)
        indices = split_range(self.split, self.num_graphs)
        name = f"LRIM {self.size} {self.sigma:g} {self.split}"
        lattices = in_order(draw, indices, workers=self.workers, description=name)
        edge_index = lattice_edges(self.size)
        coupling = couplings(self.size, self.sigma)
        return [
            Data(x=_column(spins), edge_index=edge_index, y=_column(local_energies(spins, coupling)))
            for spins in lattices
        ]

    @staticmethod
    def metric(prediction: Tensor, target: Tensor) -> float:
        """Return the logarithm to base 10 of the mean squared error, pooled over all nodes."""
        return log10_mse(prediction, target)


def split_range(split: str, num_graphs: int) -> range:
    """Return the positions of a split: the first 80 %, the next 10 %, the rest.

    Example:
        >>> split_range("val", 1000)
        range(800, 900)
    """
    train, val = num_graphs * 8 // 10, num_graphs // 10
    return {
        "train": range(train),
        "val": range(train, train + val),
        "test": range(train + val, num_graphs),
    }[split]


def lattice_edges(size: int) -> Tensor:
    """Return the edges of a periodic square lattice in both directions, sorted, nodes row by row."""
    node = torch.arange(size * size).view(size, size)
    right, down = node.roll(-1, dims=1), node.roll(-1, dims=0)
    one_way = torch.stack([node.repeat(2, 1).view(-1), torch.cat([right, down]).view(-1)])
    return both_directions(one_way)


def _sample(size: int, sigma: float, temperature: float, seed: int, index: int) -> NDArray[np.int8]:
    stream = np.random.SeedSequence(seed, spawn_key=(size, round(1_000_000 * sigma), index))
    return sample_spins(size, sigma, temperature, updates=UPDATES, rng=np.random.default_rng(stream))


def _column(values: NDArray[Any]) -> Tensor:
    return torch.from_numpy(values.astype(np.float32).reshape(-1, 1))
