"""Clusters with a centre, and coarse edges that are as long as a path between two of them."""

import numpy as np
import torch
from torch import Tensor

from ghr.checks import check_whole
from ghr.hierarchy.kernels.types import Floats, Ints
from ghr.hierarchy.level import Level
from ghr.hierarchy.tensors import (
    MOST_NODES,
    check_edges,
    check_finite,
    check_numbers,
    check_range,
    check_rows,
    check_values,
    describe,
)
from ghr.jit import compiled


class CentrePaths:
    r"""Makes coarse edges as long as real paths, for :class:`~ghr.Coarsen` in place of ``edge_reduce``.

    The centre of a cluster is the member from which the others are least far, on paths inside the cluster. With
    :math:`r_i` the length of such a path from :math:`i` to its centre, an edge between two clusters has the length

    .. math::
        e_{cd} = \min_{i \in c,\; j \in d,\; (i, j) \in E} r_i + e_{ij} + r_j .

    So whatever a coarse level finds, from member to centre, from centre to centre and down again, is the length of a
    path that exists in the graph: a shortcut in steps, never in length. Coarser levels do the same on the one below.
    The distances :math:`r_i` go along as :attr:`~ghr.Level.centre_distance`.

    The graph must be undirected, that is list every edge in both directions with the same length, and clusters must be
    connected, as those of :class:`~ghr.Graclus` and :class:`~ghr.GridBlocks` are. Time grows with the cube of the
    clusters' sizes, and linearly with their number.

    Args:
        column: Which column of the edge features holds the length of an edge, as a number even if it is an integer;
            without edge features every edge is one long. An ``edge_weight`` is the last column.

    Example:
        >>> from ghr import Coarsen, Graclus
        >>> from torch_geometric.data import Data
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]), num_nodes=4)
        >>> pairs = Coarsen(Graclus(rounds=1), CentrePaths())(path).levels[1]
        >>> pairs.assignment, pairs.centre_distance, pairs.edge_attr
        (tensor([0, 0, 1, 1]), tensor([0., 1., 0., 1.]), tensor([[2.],
                [2.]]))
    """

    def __init__(self, column: int = 0) -> None:
        self.column = check_whole("column", column, 0)

    def __call__(
        self, level: Level, label: Tensor, num_clusters: int, coarse_edges: Tensor, became: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the lengths of the coarse edges :math:`(E', 1)` and how far every node is from its centre, in doubles.

        Args:
            level: The level to be coarsened.
            label: Cluster of every node, in 0..num_clusters-1.
            num_clusters: Number of clusters.
            coarse_edges: Edges between clusters :math:`(2, E')`.
            became: Coarse edge that every edge of the level went into; -1 inside a cluster.
        """
        num_clusters = _check_step(level, label, num_clusters, coarse_edges, became)
        edges, length = level.edge_index.cpu().numpy(), np.ones(level.edge_index.size(1))
        if level.edge_attr is not None:
            features = check_rows("edge_attr", level.edge_attr, length.size)
            length = self._read_lengths(features, finest=level.assignment is None)
        if level.assignment is None:  # coarser levels are undirected because this one is
            _check_undirected(edges, length, level.num_nodes)
        labels = label.cpu().numpy()
        distance = _measure_distances(edges[0], edges[1], length, labels, num_clusters)
        if not np.isfinite(distance).all():
            lost = int(np.flatnonzero(~np.isfinite(distance))[0])
            raise ValueError(
                f"CentrePaths needs connected clusters, but inside cluster {labels[lost]} no path joins node {lost} to "
                "the centre; use a partition whose clusters are connected, like Graclus."
            )
        between = became.cpu().numpy()
        crossing = np.flatnonzero(between >= 0)
        along = (distance[edges[0, crossing]] + distance[edges[1, crossing]]) + length[crossing]
        shortest = np.full(coarse_edges.size(1), np.inf)
        np.minimum.at(shortest, between[crossing], along)
        lengths, distances = (torch.from_numpy(value).to(level.edge_index.device) for value in (shortest, distance))
        return lengths.unsqueeze(1), distances

    def _read_lengths(self, edge_attr: Tensor, *, finest: bool) -> Floats:
        column = self.column if finest else 0
        if column >= edge_attr.size(1):
            raise ValueError(f"CentrePaths reads column {column} of edge_attr, which has {edge_attr.size(1)} columns.")
        check_values("edge_attr", edge_attr)
        values = edge_attr[:, column].detach().cpu().double()
        check_finite(f"column {column} of edge_attr", values)
        length = values.numpy()
        if length.size and length.min() < 0:
            raise ValueError(f"The length of an edge cannot be negative; the smallest is {length.min():g}.")
        return length

    def __repr__(self) -> str:
        return f"CentrePaths(column={self.column})"


def _check_step(level: Level, label: Tensor, num_clusters: int, coarse_edges: Tensor, became: Tensor) -> int:
    """Return the number of clusters, or raise a ValueError unless the arguments describe one step of coarsening."""
    if not isinstance(level, Level):
        raise ValueError(f"CentrePaths coarsens a Level; got {describe(level)}.")
    num_nodes = check_whole("num_nodes", level.num_nodes, 1, MOST_NODES)
    num_clusters = check_whole("num_clusters", num_clusters, 1, num_nodes, also=", as many as there are nodes")
    num_edges = check_edges(level.edge_index, num_nodes).size(1)
    check_range("label", check_numbers("label", label, num_nodes, "nodes"), num_clusters - 1)
    num_coarse = check_edges(coarse_edges, num_clusters, "coarse_edges").size(1)
    check_range("became", check_numbers("became", became, num_edges, "edges"), num_coarse - 1, least=-1)
    return num_clusters


def _check_undirected(edges: Ints, length: Floats, num_nodes: int) -> None:
    there, back = edges[0] * num_nodes + edges[1], edges[1] * num_nodes + edges[0]
    one, other = np.lexsort((length, there)), np.lexsort((length, back))
    wrong = np.flatnonzero((there[one] != back[other]) | (length[one] != length[other]))
    if wrong.size:
        u, v = divmod(int(min(there[one][wrong[0]], back[other][wrong[0]])), num_nodes)
        raise ValueError(
            "CentrePaths needs an undirected graph, every edge listed in both directions with the same length; the "
            f"edges from node {u} to node {v} are not those from {v} to {u}."
        )


@compiled
def _measure_distances(source: Ints, target: Ints, length: Floats, label: Ints, num_clusters: int) -> Floats:
    """Measure how far every node is from its cluster's centre, inside the cluster; infinite where no path is."""
    start = np.zeros(num_clusters + 1, np.int64)
    for node in range(label.size):
        start[label[node] + 1] += 1
    for cluster in range(num_clusters):
        start[cluster + 1] += start[cluster]
    place, member = np.empty(label.size, np.int64), np.empty(label.size, np.int64)
    cursor, table = start[:-1].copy(), np.zeros(num_clusters + 1, np.int64)
    for node in range(label.size):
        place[node] = cursor[label[node]] - start[label[node]]
        member[cursor[label[node]]] = node
        cursor[label[node]] += 1
    for cluster in range(num_clusters):
        table[cluster + 1] = table[cluster] + (start[cluster + 1] - start[cluster]) ** 2

    between = np.full(table[-1], np.inf)  # one square table of distances per cluster, all in a row
    for edge in range(source.size):
        cluster = label[source[edge]]
        if label[target[edge]] == cluster:
            size = start[cluster + 1] - start[cluster]
            entry = table[cluster] + place[source[edge]] * size + place[target[edge]]
            between[entry] = min(between[entry], length[edge])

    result = np.empty(label.size, np.float64)
    for cluster in range(num_clusters):
        size = start[cluster + 1] - start[cluster]
        distance = between[table[cluster] : table[cluster + 1]].reshape(size, size)
        for i in range(size):
            distance[i, i] = 0.0
        for via in range(size):  # Floyd and Warshall
            for i in range(size):
                for j in range(size):
                    distance[i, j] = min(distance[i, j], distance[i, via] + distance[via, j])
        centre, radius, total = 0, np.inf, np.inf
        for i in range(size):
            far, all_together = distance[i].max(), distance[i].sum()
            if far < radius or (far == radius and all_together < total):
                centre, radius, total = i, far, all_together
        for i in range(size):
            result[member[start[cluster] + i]] = distance[centre, i]
    return result
