"""What a dataset looks like in numbers."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ghr.datasets.cached import CachedDataset, progress
from ghr.datasets.distances import eccentricities

LARGEST_SEARCHED = 20_000  # nodes; the diameter takes a search from every one of them


class Spread(NamedTuple):
    """Mean and extremes over graphs."""

    mean: float
    least: float
    most: float


@dataclass(frozen=True)
class Statistics:
    """Numbers that describe a dataset; targets have the unit of its metric.

    Attributes:
        graphs: Number of graphs.
        nodes: Nodes of a graph.
        edges: Edges of a graph, both directions counted.
        degree: Edges per node, over all graphs.
        diameter: Largest distance in a graph, within its components; ``None`` where graphs are too large to search.
        searched: Number of graphs that the diameter was computed for.
        target_mean: Mean of all targets.
        target_std: Their standard deviation.
        constant_mae: Mean absolute error of the best constant, the median of each column.
        constant_metric: The dataset's metric for the better of two constants, mean and median.
    """

    graphs: int
    nodes: Spread
    edges: Spread
    degree: float
    diameter: Spread | None
    searched: int
    target_mean: float
    target_std: float
    constant_mae: float
    constant_metric: float


def describe(dataset: CachedDataset, *, most_searched: int = 500) -> Statistics:
    """Count and average over the graphs of a dataset, before its transform.

    Args:
        dataset: The dataset; where it has a ``mask``, only the targets of masked nodes are looked at.
        most_searched: Diameters are computed for at most as many graphs, spread over the dataset.
    """
    graphs = [_plain(dataset, index) for index in range(len(dataset))]
    nodes = np.array([graph.num_nodes for graph in graphs])
    edges = np.array([graph.num_edges for graph in graphs])
    searched = np.linspace(0, len(graphs) - 1, min(most_searched, len(graphs))).astype(int)
    diameter = None
    if nodes[searched].max() <= LARGEST_SEARCHED:
        diameter = _spread(_diameters([graphs[index] for index in searched]))
    target = torch.cat([_target(graph) for graph in graphs])
    middle, mean = target.median(dim=0, keepdim=True).values, target.mean(dim=0, keepdim=True)
    scaled = dataset.target_scale * target.double()
    return Statistics(
        graphs=len(graphs),
        nodes=_spread(nodes),
        edges=_spread(edges),
        degree=float(edges.sum() / nodes.sum()),
        diameter=diameter,
        searched=len(searched) if diameter else 0,
        target_mean=float(scaled.mean()),
        target_std=float(scaled.std(correction=0)),
        constant_mae=float(dataset.target_scale * (target.double() - middle.double()).abs().mean()),
        constant_metric=min(dataset.metric(guess.expand_as(target), target) for guess in (middle, mean)),
    )


def _plain(dataset: CachedDataset, index: int) -> Data:
    graph = dataset.get(dataset.indices()[index])
    assert isinstance(graph, Data)
    return graph


def _target(graph: Data) -> Tensor:
    y = graph["y"]
    assert isinstance(y, Tensor)
    return y[graph["mask"]] if "mask" in graph else y


def _diameters(graphs: list[Data]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    result = np.empty(len(graphs), np.int64)
    for index, graph in enumerate(progress(graphs, "Diameters")):
        assert graph.edge_index is not None
        before = graphs[index - 1]
        if index and before.num_nodes == graph.num_nodes and torch.equal(before.edge_index, graph.edge_index):  # type: ignore[arg-type]
            result[index] = result[index - 1]  # as for lattices, all of which are one graph
        else:
            result[index] = eccentricities(graph.edge_index.numpy(), int(graph.num_nodes or 0)).max()
    return result


def _spread(values: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Spread:
    return Spread(float(values.mean()), float(values.min()), float(values.max()))
