"""The graphs that the workloads run on, the same in every process."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.spatial import cKDTree
from torch_geometric.data import Batch, Data

from ghr.hierarchy import Coarsen, Graclus, GridBlocks


def geometric_graph(num_nodes: int, mean_degree: float = 6, seed: int = 0) -> Data:
    """Return a random geometric graph in the unit square with one marked node and constant edge features."""
    position = np.random.default_rng(seed).random((num_nodes, 2))
    radius = math.sqrt(mean_degree / (math.pi * num_nodes))
    pairs = torch.from_numpy(cKDTree(position).query_pairs(radius, output_type="ndarray").T.astype(np.int64))
    edges = torch.cat([pairs, pairs.flip(0)], dim=1)
    x = torch.zeros(num_nodes, 1)
    x[0] = 1
    return Data(x=x, edge_index=edges, edge_attr=torch.ones(edges.size(1), 1))


def hub_graph(num_nodes: int, edges_each: int = 2, seed: int = 0) -> Data:
    """Return a graph that grew by preferential attachment, so that few nodes have many neighbours; marked as above."""
    rng, ends = np.random.default_rng(seed), [0]
    pairs = set()
    for node in range(1, num_nodes):
        pairs |= {(ends[place], node) for place in rng.integers(len(ends), size=edges_each)}
        ends += [end for pair in pairs if pair[1] == node for end in pair]
    half = torch.tensor(sorted(pairs)).T
    edges = torch.cat([half, half.flip(0)], dim=1)
    x = torch.zeros(num_nodes, 1)
    x[-1] = 1
    return Data(x=x, edge_index=edges, edge_attr=torch.ones(edges.size(1), 1))


def periodic_lattice(side: int, seed: int = 0) -> Data:
    """Return a square lattice on a torus with a random spin on every node and no edge features."""
    node = torch.arange(side * side).view(side, side)
    shifted = [node.roll(shift, dims=axis) for axis in (0, 1) for shift in (1, -1)]
    edges = torch.stack([node.reshape(-1).repeat(4), torch.cat([each.reshape(-1) for each in shifted])])
    generator = torch.Generator().manual_seed(seed)
    return Data(x=2.0 * torch.randint(2, (side * side, 1), generator=generator) - 1, edge_index=edges)


@dataclass(frozen=True)
class GeometricGraphs:
    """Random geometric graphs of mean degree 6, three rounds of Graclus, coarse edges ``[min, mean]``.

    Args:
        count: Number of graphs in the batch.
        nodes: Nodes of each.
        weighted: Give the edges features that differ; otherwise all are one.
    """

    count: int
    nodes: int
    weighted: bool = False

    def load(self) -> Data:
        """Return them as one batch, with targets."""
        coarsen = Coarsen(Graclus(rounds=3), ("min", "mean"))
        graphs = []
        for seed in range(self.count):
            graph = geometric_graph(self.nodes, seed=seed)
            if self.weighted:
                graph.edge_attr = torch.rand(graph.num_edges, 1, generator=torch.Generator().manual_seed(seed))
            graphs.append(coarsen(graph))
        return _batch(graphs)

    def quick(self) -> "GeometricGraphs":
        """Return a few small ones of the kind."""
        return replace(self, count=min(self.count, 2), nodes=min(self.nodes, 60))


@dataclass(frozen=True)
class HubGraphs:
    """Graphs with hubs, as the synthetic ones of ECHO; levels as of :class:`GeometricGraphs`.

    Args:
        count: Number of graphs in the batch.
        nodes: Nodes of each.
    """

    count: int
    nodes: int

    def load(self) -> Data:
        """Return them as one batch, with targets."""
        coarsen = Coarsen(Graclus(rounds=3), ("min", "mean"))
        return _batch([coarsen(hub_graph(self.nodes, seed=seed)) for seed in range(self.count)])

    def quick(self) -> "HubGraphs":
        """Return a few small ones of the kind."""
        return replace(self, count=min(self.count, 2), nodes=min(self.nodes, 60))


@dataclass(frozen=True)
class Lattices:
    """Periodic square lattices in blocks of two by two.

    Args:
        count: Number of lattices in the batch.
        side: Nodes along a side.
    """

    count: int
    side: int

    def load(self) -> Data:
        """Return them as one batch, with targets."""
        coarsen = Coarsen(GridBlocks(2))
        return _batch([coarsen(periodic_lattice(self.side, seed)) for seed in range(self.count)])

    def quick(self) -> "Lattices":
        """Return a few small ones of the kind."""
        return replace(self, count=min(self.count, 2), side=min(self.side, 6))


def _batch(graphs: Sequence[Data]) -> Data:
    data = graphs[0] if len(graphs) == 1 else Batch.from_data_list([*graphs])
    assert isinstance(data, Data)
    assert data.x is not None
    data.y = torch.randn(data.x.size(0), 1, generator=torch.Generator().manual_seed(0))
    return data
