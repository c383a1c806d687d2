"""Single-source shortest paths on random geometric graphs, with a cap on the distances seen in training."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import cKDTree
from torch import Tensor
from torch_geometric.data import Data

from ghr.datasets.cached import CachedDataset, progress
from ghr.datasets.metrics import check_shapes, mean_absolute_error
from ghr.datasets.options import one_of, positive, whole

MAX_DRAWS = 20_000
CLOUDS_PER_SIZE = 5


@dataclass(frozen=True)
class Regime:
    """Defaults of one regime, for training and validation on one side and test on the other."""

    mean_degree: float
    nodes: tuple[int, int]
    test_nodes: tuple[int, int]
    max_distance: int
    test_max_distance: int


# The positions of the names enter the random streams: append, never reorder.
REGIMES = {
    "small": Regime(12.0, (40, 60), (40, 60), 5, 8),
    "large": Regime(6.0, (300, 350), (300, 500), 20, 40),
    "huge": Regime(6.0, (300, 350), (2000, 2000), 20, 90),
}
SPLITS = {"train": 6000, "val": 1000, "test": 1000}


class RGGSSSP(CachedDataset):
    r"""Distance of every node from a marked source on random geometric graphs; test distances exceed trained ones.

    A graph has :math:`N` points, uniform in the unit square without wrap-around, and an edge between any two that
    are at most :math:`r` apart, where :math:`r = u \sqrt{k / (\pi N)}`, :math:`u \sim U(0.9, 1.1)`, for a mean degree
    of about :math:`k` (less near the border). The source is uniform in the largest component. A draw is rejected if
    that component has less than :math:`0.8 N` nodes or if one of its nodes is more than ``max_distance`` hops away.

    ======  ===========  ==================  =====================  ===============
    regime  mean degree  nodes (train, val)  nodes (test)           max. distance
    ======  ===========  ==================  =====================  ===============
    small   12           40-60               40-60                  5, in test 8
    large   6            300-350             300-500                20, in test 40
    huge    6            300-350             2000                   20, in test 90
    ======  ===========  ==================  =====================  ===============

    The first two are the paper's; the third tests what was trained there at more than four times the distance.
    The mean degrees differ for a reason. The paper states 12 everywhere, but its published code takes the radius
    :math:`\sqrt{12 / (2 \pi N)}`, a degree of 6. In simulations at the sizes of the large regime, distances of 20 to
    40 hops practically never occur at degree 12 and do at degree 6, which also gives about the share of nodes beyond
    20 hops (a sixth) that the paper's ablation table implies. That the published numbers belong to degree 6 is inferred
    from this, not stated. For the small regime 12 is kept: at 6 a cap of 5 hops would accept only 4 % of the
    draws, at 12 it accepts 62 %.

    Each graph is drawn from its own random stream, so the first graphs of a longer set equal a shorter set. A
    weighted set has the same graphs as its unweighted twin.

    Attributes of a graph: ``x`` :math:`(N, 1)` source flag, ``edge_index`` both directions in sorted order,
    ``edge_attr`` :math:`(E, 1)` one or the length, ``y`` :math:`(N, 1)` distance (0 where masked), ``mask``
    :math:`(N)` true in the source's component, ``hops`` :math:`(N)` distance in hops (-1 where unreachable), ``pos``
    :math:`(N, 2)`.

    Args:
        root: Folder of the cache.
        regime: ``"small"``, ``"large"`` or ``"huge"``.
        split: ``"train"``, ``"val"`` or ``"test"``.
        max_distance: Largest distance in hops, also for weighted sets; by default as in the table.
        mean_degree: Expected degree :math:`k` away from the border; by default as in the table.
        weighted: Whether edges carry their Euclidean length and ``y`` the length of the shortest path.
        num_graphs: Number of graphs; by default 6000 for training and 1000 each for validation and test.
        seed: Seed of all random streams.
        transform: Applied at every access.
        pre_transform: Applied once, before the graphs are stored.
        pre_filter: Keeps only the graphs for which it is true.
    """

    task: Literal["node", "graph"] = "node"

    def __init__(
        self,
        root: str | Path,
        regime: str = "small",
        split: str = "train",
        max_distance: int | None = None,
        mean_degree: float | None = None,
        weighted: bool = False,
        num_graphs: int | None = None,
        seed: int = 0,
        *,
        transform: Callable[[Any], Any] | None = None,
        pre_transform: Callable[[Any], Any] | None = None,
        pre_filter: Callable[[Any], bool] | None = None,
    ) -> None:
        one_of("regime", regime, REGIMES)
        one_of("split", split, SPLITS)
        default, test = REGIMES[regime], split == "test"
        self.regime = regime
        self.split = split
        if max_distance is None:
            max_distance = default.test_max_distance if test else default.max_distance
        self.max_distance = whole("max_distance", max_distance, 1)
        self.mean_degree = positive("mean_degree", default.mean_degree if mean_degree is None else mean_degree)
        self.weighted = bool(weighted)
        self.num_graphs = whole("num_graphs", SPLITS[split] if num_graphs is None else num_graphs, 1)
        self.seed = whole("seed", seed, 0)
        self.nodes = default.test_nodes if test else default.nodes
        super().__init__(root, transform=transform, pre_transform=pre_transform, pre_filter=pre_filter)

    def options(self) -> dict[str, Any]:
        """Return every option that changes the content."""
        names = ("regime", "split", "max_distance", "mean_degree", "weighted", "num_graphs", "seed")
        return {name: getattr(self, name) for name in names}

    def generate(self) -> list[Data]:
        """Draw the graphs, each from its own random stream."""
        return [
            self._graph(index) for index in progress(range(self.num_graphs), f"RGG-SSSP {self.regime} {self.split}")
        ]

    def _graph(self, index: int) -> Data:
        stream = (list(REGIMES).index(self.regime), list(SPLITS).index(self.split), index)
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=stream))
        draw = _draw(rng, self.nodes, self.mean_degree, self.max_distance)
        edges, length = draw.graph.tocoo(), draw.graph.data
        distance = dijkstra(draw.graph, indices=draw.source) if self.weighted else draw.hops
        x = torch.zeros(len(draw.pos), 1)
        x[draw.source] = 1.0
        return Data(
            x=x,
            edge_index=torch.from_numpy(np.stack([edges.row, edges.col]).astype(np.int64)),
            edge_attr=torch.from_numpy(length if self.weighted else np.ones_like(length)).float().unsqueeze(1),
            y=torch.from_numpy(np.where(draw.mask, distance, 0.0)).float().unsqueeze(1),
            mask=torch.from_numpy(draw.mask),
            hops=torch.from_numpy(np.where(draw.mask, draw.hops, -1.0)).long(),
            pos=torch.from_numpy(draw.pos),
        )

    @staticmethod
    def metric(prediction: Tensor, target: Tensor) -> float:
        """Return the mean absolute error, in hops (in units of length for weighted sets), over the given rows."""
        return mean_absolute_error(prediction, target)


class GroupError(TypedDict):
    """Error over the nodes at one distance."""

    mae: float
    count: int


class DistanceErrors(TypedDict):
    """What :func:`mae_by_distance` returns; ``None`` stands where a group has no node."""

    mae: float | None
    in_range: float | None
    out_of_range: float | None
    largest_prediction: float | None
    by_distance: dict[str, GroupError]


def mae_by_distance(prediction: Tensor, target: Tensor, hops: Tensor, in_range: int) -> DistanceErrors:
    """Return the mean absolute error over all reached nodes, within and beyond a distance, and at every distance.

    Args:
        prediction: Predicted distances :math:`(N)` or :math:`(N, 1)`.
        target: True distances, of the same shape.
        hops: Distance of every node in hops :math:`(N)`; negative where the node is not reached and not counted.
        in_range: Largest distance in hops that counts as in range.
    """
    check_shapes(prediction, target)
    if hops.shape != prediction.shape[:1] or prediction.numel() != hops.numel():
        raise ValueError(
            f"One prediction per entry of hops is needed; got {tuple(prediction.shape)} for {tuple(hops.shape)}."
        )
    reached = (hops >= 0).cpu()
    distance = hops.detach().cpu()[reached]
    predicted = prediction.detach().cpu().double().reshape(-1)[reached]
    error = (predicted - target.detach().cpu().double().reshape(-1)[reached]).abs()

    def mean(rows: Tensor) -> float | None:
        return float(error[rows].mean()) if bool(rows.any()) else None

    total, count = torch.bincount(distance, weights=error), torch.bincount(distance)
    return {
        "mae": mean(distance >= 0),
        "in_range": mean(distance <= in_range),
        "out_of_range": mean(distance > in_range),
        "largest_prediction": float(predicted.max()) if predicted.numel() else None,
        "by_distance": {
            str(d): {"mae": float(total[d] / count[d]), "count": int(count[d])}
            for d in count.nonzero().flatten().tolist()
        },
    }


class _Draw(NamedTuple):
    pos: NDArray[np.float32]
    graph: csr_array  # both directions, sorted, with the lengths as values
    source: int
    mask: NDArray[np.bool_]  # the largest component
    hops: NDArray[np.float64]  # infinite where unreachable


def _draw(rng: np.random.Generator, nodes: tuple[int, int], mean_degree: float, max_distance: int) -> _Draw:
    """Draw until a graph is accepted: up to five point clouds for one size and radius, then another size and radius."""
    scattered = 0
    for draw in range(MAX_DRAWS):
        if draw % CLOUDS_PER_SIZE == 0:
            size = int(rng.integers(*nodes, endpoint=True))
            radius = rng.uniform(0.9, 1.1) * math.sqrt(mean_degree / (math.pi * size))
        pos = rng.random((size, 2), dtype=np.float32)
        graph = _connect(pos, radius)
        label = connected_components(graph, directed=False)[1]
        mask = label == np.bincount(label).argmax()
        members = np.flatnonzero(mask)
        if len(members) < 0.8 * size:
            scattered += 1
            continue
        source = int(members[rng.integers(len(members))])
        hops = dijkstra(graph, indices=source, unweighted=True)
        if hops[mask].max() <= max_distance:
            return _Draw(pos, graph, source, mask, hops)
    raise ValueError(
        f"No graph of {nodes[0]} to {nodes[1]} nodes was accepted in {MAX_DRAWS} draws with mean_degree={mean_degree} "
        f"and max_distance={max_distance}: in {scattered} the largest component was below 80 % of the nodes, in "
        f"{MAX_DRAWS - scattered} it reached further than max_distance. Raise mean_degree or max_distance."
    )


def _connect(pos: NDArray[np.float32], radius: float) -> csr_array:
    wide = pos.astype(np.float64)
    pairs = cKDTree(wide).query_pairs(radius, output_type="ndarray")
    length = np.linalg.norm(wide[pairs[:, 0]] - wide[pairs[:, 1]], axis=1)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    return csr_array((np.tile(length, 2), (both[:, 0], both[:, 1])), shape=(len(pos), len(pos)))
