"""Other questions on the same random geometric graphs, and other coarse edges."""

from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, dijkstra, minimum_spanning_tree
from torch import Tensor
from torch_geometric.transforms import BaseTransform

from ghr import HierarchicalData


class Offsets(BaseTransform):
    """Replaces the length of an edge by the offset between its ends, from which it has to be learned."""

    def forward(self, data: Any) -> Any:
        """Return the graph with offsets as edge features."""
        source, target = data.edge_index
        data.edge_attr = (data.pos[target] - data.pos[source]).to(data.edge_attr.dtype)
        return data


class WidestPath(BaseTransform):
    """Asks for the longest edge on the way from the source, on that way on which it is shortest."""

    def forward(self, data: Any) -> Any:
        """Return the graph with this target."""
        # No path has a shorter longest edge than the one in the minimum spanning tree.
        tree = minimum_spanning_tree(_table(data.edge_index, data.edge_attr[:, 0], data.num_nodes))
        tree = tree + tree.T
        order, before = breadth_first_order(tree, int(data.x[:, 0].argmax()))
        longest = np.zeros(data.num_nodes)
        for node in order[1:]:
            longest[node] = max(longest[before[node]], tree[node, before[node]])
        data.y = torch.from_numpy(longest).to(data.y.dtype).unsqueeze(1)
        return data


class Budget(BaseTransform):
    """Asks whether the way from the source is at most as long as a budget, half of the longest way in the graph."""

    def forward(self, data: Any) -> Any:
        """Return the graph with this target, the ``budget`` and the ``scale`` of its edges, a row per node each."""
        distance, ones = data.y, torch.ones_like(data.y)
        data.budget = 0.5 * distance[data.mask].max() * ones
        data.scale = data.edge_attr.mean() * ones
        data.y = (distance <= data.budget).to(distance.dtype)
        return data


def keep_coarse_edges(data: HierarchicalData) -> HierarchicalData:
    """Return the graph as it is, with coarse edges as long as paths through the edges that join clusters."""
    return data


def shorten_coarse_edges(data: HierarchicalData) -> HierarchicalData:
    """Return a copy whose coarse edges are as long as the shortest paths between the centres that they join."""
    fine, coarse = data.levels
    at_centre = (coarse.centre_distance == 0).nonzero().squeeze(1)
    centres = np.zeros(coarse.num_nodes, np.int64)
    centres[coarse.assignment[at_centre].numpy()] = at_centre.numpy()
    graph = _table(fine.edge_index, fine.edge_attr[:, 0], fine.num_nodes)
    distance = torch.from_numpy(dijkstra(graph, indices=centres)[:, centres])
    source, target = coarse.edge_index
    return _replace_lengths(data, distance[source, target].unsqueeze(1))


def level_coarse_edges(data: HierarchicalData) -> HierarchicalData:
    """Return a copy whose coarse edges all have the same length, the mean of what they had."""
    lengths = data.level1_edge_attr
    return _replace_lengths(data, lengths.mean().expand_as(lengths) if lengths.numel() else lengths)


def _replace_lengths(data: HierarchicalData, lengths: Tensor) -> HierarchicalData:
    data = data.clone()
    data.level1_edge_attr = lengths.to(data.level1_edge_attr.dtype)
    return data


def _table(edge_index: Tensor, length: Tensor, num_nodes: int) -> Any:
    return csr_array((length.double().numpy(), tuple(edge_index.numpy())), shape=(num_nodes, num_nodes))
