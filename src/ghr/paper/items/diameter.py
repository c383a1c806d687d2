"""The diameter of graphs and of their pooled copies, by size."""

from dataclasses import dataclass, field
from statistics import fmean, pstdev
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from torch import Tensor
from torch_geometric.data import Data

from ghr.hierarchy.data import levels_of
from ghr.paper.data_specs import RGGSpec
from ghr.paper.figures import COLOURS
from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table, number
from ghr.paper.row import Row

_CLAIM = """\
The pooled copy is a quotient graph, so no distance in it exceeds the one in the graph; the paper shows how much shorter
its diameter is, binned by size. It prints no numbers, and shows ECHO (one round of Graclus) beside random geometric
graphs (three rounds); here are the latter, from the test sets of both regimes. Mean ± standard deviation over graphs;
the diameter is the largest finite distance:"""


@dataclass(frozen=True)
class Diameter:
    """Diameters of random geometric graphs and of their pooled copies.

    Args:
        sets: The test sets to look at, and the width of the bins of their sizes.
    """

    name: str = "figure-diameter"
    title: str = "Diameter of graphs and of their pooled copies"
    sets: tuple[tuple[RGGSpec, int], ...] = field(
        default=((RGGSpec("small", test_graphs=300), 7), (RGGSpec("large", test_graphs=300), 25))
    )

    @property
    def rows(self) -> tuple[Row, ...]:
        """Nothing is trained."""
        return ()

    def report(self, place: Place) -> Report:
        """Measure every graph, and draw one of them with its pooled copy."""
        lines: list[list[str]] = []
        bins: list[dict[str, Any]] = []
        for spec, width in self.sets:
            for low, pairs in _binned(spec, width, place):
                fine, coarse = zip(*pairs, strict=True)
                bins.append(
                    {
                        "regime": spec.regime,
                        "nodes": [low, low + width - 1],
                        "graphs": len(pairs),
                        "fine": {"mean": fmean(fine), "std": pstdev(fine)},
                        "coarse": {"mean": fmean(coarse), "std": pstdev(coarse)},
                    }
                )
        for each in bins:
            words = [f"{each[level]['mean']:.1f} ± {each[level]['std']:.1f}" for level in ("fine", "coarse")]
            ratio = number(each["fine"]["mean"] / each["coarse"]["mean"], 2)
            lines.append([each["regime"], "-".join(map(str, each["nodes"])), str(each["graphs"]), *words, ratio])
        table = markdown_table(["regime", "nodes", "graphs", "diameter", "pooled", "ratio"], lines)
        graph = self.sets[-1][0].load(place.data, "test")[0]
        assert isinstance(graph, Data)
        return Report(f"{_CLAIM}\n\n{table}", {"bins": bins}, _draw(bins, graph))


def diameter(edge_index: Tensor, num_nodes: int) -> int:
    """Return the largest finite distance between two nodes of a graph, in hops."""
    ones = np.ones(edge_index.size(1))
    graph = csr_array((ones, (edge_index[0].numpy(), edge_index[1].numpy())), shape=(num_nodes, num_nodes))
    distance = dijkstra(graph, unweighted=True)
    return int(distance[np.isfinite(distance)].max())


def _binned(spec: RGGSpec, width: int, place: Place) -> list[tuple[int, list[tuple[int, int]]]]:
    """Return the diameters of every graph and its pooled copy, by the smallest size of their bin."""
    found: dict[int, list[tuple[int, int]]] = {}
    test_set = spec.load(place.data, "test")
    least = test_set.nodes[0]
    for graph in test_set:
        assert isinstance(graph, Data)
        fine, coarse = (diameter(level.edge_index, level.num_nodes) for level in levels_of(graph))
        size = levels_of(graph)[0].num_nodes
        found.setdefault(least + (size - least) // width * width, []).append((fine, coarse))
    return sorted(found.items())


def _draw(bins: list[dict[str, Any]], graph: Data) -> Figure:
    figure = Figure(figsize=(12.5, 4.4), layout="constrained")
    left, fine, coarse = figure.subplots(1, 3, width_ratios=[1.4, 1, 1])
    words = {"fine": "graph", "coarse": "pooled copy"}
    place = np.arange(len(bins))
    for offset, colour, (which, word) in zip((-0.2, 0.2), COLOURS, words.items(), strict=False):
        mean, std = ([each[which][name] for each in bins] for name in ("mean", "std"))
        left.bar(place + offset, mean, 0.4, yerr=std, capsize=2, color=colour, label=word)
    left.set_xticks(place, ["-".join(map(str, each["nodes"])) for each in bins], rotation=45, ha="right")
    left.set(xlabel="nodes", ylabel="diameter (hops)")
    left.grid(alpha=0.3, axis="y")
    left.legend(frameon=False)
    assert graph.pos is not None
    level, pooled = levels_of(graph)
    assert pooled.assignment is not None
    centre = np.zeros((pooled.num_nodes, 2))
    np.add.at(centre, pooled.assignment.numpy(), graph.pos.numpy())
    centre /= np.bincount(pooled.assignment.numpy())[:, None]
    for axes, edges, pos, word in ((fine, level.edge_index, graph.pos.numpy(), "graph"),
                                   (coarse, pooled.edge_index, centre, "pooled copy")):  # fmt: skip
        axes.add_collection(LineCollection(list(pos[edges.T.numpy()]), colors="0.7", linewidths=0.7, zorder=0))
        axes.scatter(*pos.T, s=14 if word == "graph" else 34, color=COLOURS[0 if word == "graph" else 1])
        axes.set(xticks=[], yticks=[], aspect="equal")
        axes.set_title(f"{word}: {len(pos)} nodes, diameter {diameter(edges, len(pos))}")
        axes.set_frame_on(False)
    return figure
