"""Diameters of graphs and of their pooled copies, and one graph beside its copy."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from torch_geometric.data import Data

from ghr.hierarchy.data import levels_of
from ghr.plots.colours import COLOURS

_WORDS = {"fine": "graph", "coarse": "pooled copy"}


def draw_diameters(bins: Sequence[Mapping[str, Any]], graph: Data, diameters: tuple[int, int]) -> Figure:
    """Draw diameters by size as bars, and one graph with its pooled copy.

    Args:
        bins: Each with ``nodes``, the smallest and largest size, and for ``fine`` and ``coarse`` the ``mean`` and
            ``std`` of the diameters.
        graph: A graph with places ``pos`` and a coarse level.
        diameters: Of the graph and of its pooled copy.
    """
    figure = Figure(figsize=(12.5, 4.4), layout="constrained")
    left, fine, coarse = figure.subplots(1, 3, width_ratios=[1.4, 1, 1])
    _draw_bars(left, bins)
    level, pooled = levels_of(graph)
    pos, members = graph["pos"].numpy(), graph["level1_assignment"].numpy()
    centre = np.zeros((pooled.num_nodes, 2))
    np.add.at(centre, members, pos)
    centre /= np.bincount(members)[:, None]
    both = zip(
        (fine, coarse), (level, pooled), (pos, centre), (14, 34), COLOURS, _WORDS.values(), diameters, strict=False
    )
    for axes, shown, places, size, colour, word, diameter in both:
        lines = list(places[shown.edge_index.T.numpy()])
        axes.add_collection(LineCollection(lines, colors="0.7", linewidths=0.7, zorder=0))
        axes.scatter(*places.T, s=size, color=colour)
        axes.set(xticks=[], yticks=[], aspect="equal")
        axes.set_title(f"{word}: {len(places)} nodes, diameter {diameter}")
        axes.set_frame_on(False)
    return figure


def _draw_bars(axes: Any, bins: Sequence[Mapping[str, Any]]) -> None:
    at = np.arange(len(bins))
    for offset, colour, (which, word) in zip((-0.2, 0.2), COLOURS, _WORDS.items(), strict=False):
        mean, std = ([group[which][name] for group in bins] for name in ("mean", "std"))
        axes.bar(at + offset, mean, 0.4, yerr=std, capsize=2, color=colour, label=word)
    axes.set_xticks(at, ["-".join(map(str, group["nodes"])) for group in bins], rotation=45, ha="right")
    axes.set(xlabel="nodes", ylabel="diameter (hops)")
    axes.grid(alpha=0.3, axis="y")
    axes.legend(frameon=False)
