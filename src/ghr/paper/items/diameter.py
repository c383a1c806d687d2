"""The diameter of graphs and of their pooled copies, by size."""

from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from torch import Tensor
from torch_geometric.data import Data

from ghr.datasets import RGGSSSP
from ghr.hierarchy import Coarsen, Graclus
from ghr.hierarchy.data import levels_of
from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table, number
from ghr.paper.row import Row
from ghr.plots.diameters import draw_diameters
from ghr.progress import track

_CLAIM = """\
The pooled copy is a quotient graph, so no distance in it exceeds the one in the graph; the paper shows how much shorter
its diameter is, binned by size. It prints no numbers, and shows ECHO (one round of Graclus) beside random geometric
graphs (three rounds); here are the latter, from the test sets of both regimes. Mean ± standard deviation over graphs;
the diameter is the largest finite distance:"""


@dataclass(frozen=True)
class Sample:
    """Graphs to look at.

    Args:
        regime: Of :class:`~ghr.datasets.RGGSSSP`.
        graphs: How many.
        width: Width of the bins of their sizes.
    """

    regime: str
    graphs: int
    width: int

    def load(self, place: Place) -> RGGSSSP:
        """Return the graphs with their pooled copies."""
        pooling = Coarsen(Graclus(rounds=3, seed=0), ("min", "mean"))
        return RGGSSSP(place.data, self.regime, "test", num_graphs=self.graphs, pre_transform=pooling)


@dataclass(frozen=True)
class Diameter:
    """Diameters of random geometric graphs and of their pooled copies.

    Args:
        sets: The test sets to look at; a graph of the last is drawn.
    """

    name: str = "figure-diameter"
    title: str = "Diameter of graphs and of their pooled copies"
    rows: tuple[Row, ...] = ()  # nothing is trained
    sets: tuple[Sample, ...] = (Sample("small", 300, 7), Sample("large", 300, 25))

    def report(self, place: Place) -> Report:
        """Measure every graph, and draw one of them with its pooled copy."""
        bins = [group for sample in self.sets for group in _fill_bins(sample, place)]
        lines = [
            [
                group["regime"],
                "-".join(map(str, group["nodes"])),
                str(group["graphs"]),
                *(f"{group[level]['mean']:.1f} ± {group[level]['std']:.1f}" for level in ("fine", "coarse")),
                number(group["fine"]["mean"] / group["coarse"]["mean"], 2),
            ]
            for group in bins
        ]
        table = markdown_table(["regime", "nodes", "graphs", "diameter", "pooled", "ratio"], lines)
        graph: Any = self.sets[-1].load(place)[0]
        return Report(f"{_CLAIM}\n\n{table}", {"bins": bins}, draw_diameters(bins, graph, _measure(graph)))


def diameter(edge_index: Tensor, num_nodes: int) -> int:
    """Return the largest finite distance between two nodes of a graph, in hops."""
    ones = np.ones(edge_index.size(1))
    graph = csr_array((ones, (edge_index[0].numpy(), edge_index[1].numpy())), shape=(num_nodes, num_nodes))
    distance = dijkstra(graph, unweighted=True)
    return int(distance[np.isfinite(distance)].max())


def _measure(graph: Data) -> tuple[int, int]:
    """Return the diameters of a graph and of its pooled copy."""
    fine, coarse = (diameter(level.edge_index, level.num_nodes) for level in levels_of(graph))
    return fine, coarse


def _fill_bins(sample: Sample, place: Place) -> list[dict[str, Any]]:
    """Return mean and deviation of the diameters, by size."""
    graphs, found = sample.load(place), dict[int, list[tuple[int, int]]]()
    least, width = graphs.nodes[0], sample.width
    for index in track(range(len(graphs)), "Diameters", unit="graph"):
        graph: Any = graphs[index]
        found.setdefault(least + (graph.num_nodes - least) // width * width, []).append(_measure(graph))
    return [
        {
            "regime": sample.regime,
            "nodes": [low, low + width - 1],
            "graphs": len(pairs),
            **{
                level: {"mean": fmean(values), "std": pstdev(values)}
                for level, values in zip(("fine", "coarse"), zip(*pairs, strict=True), strict=True)
            },
        }
        for low, pairs in sorted(found.items())
    ]
