"""A graph divided into groups of nodes that lie together and weigh about the same."""

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from torch import Tensor

from ghr.hierarchy.kernels.types import Ints


def divide_nodes(edge_index: Tensor, weight: Ints, count: int) -> Ints:
    """Return the group of every node: halves of halves, each half what lies nearest to one end of the graph.

    Groups are about equally heavy, have short borders on graphs that are like a surface, and are the same every time.
    Components of a graph that is not connected are put one behind the other.

    Args:
        edge_index: Edges :math:`(2, E)`; their direction does not matter.
        weight: How much every node weighs.
        count: Number of groups, at most as many as there are nodes.
    """
    source, target = edge_index.cpu().numpy()
    size = len(weight)
    graph = csr_array(coo_array((np.ones(source.size, np.int8), (source, target)), shape=(size, size)))
    group = np.empty(size, np.int64)
    waiting = [(np.arange(size), graph, 0, count)]
    while waiting:
        nodes, inside, first, groups = waiting.pop()
        if groups == 1:
            group[nodes] = first
            continue
        order, left = _order_from_end(inside), groups // 2
        before = np.cumsum(weight[nodes[order]])
        cut = int(np.searchsorted(before, before[-1] * left / groups)) + 1
        cut = min(max(cut, left), len(nodes) - (groups - left))  # every group gets a node
        for half, begin, wanted in ((order[:cut], first, left), (order[cut:], first + left, groups - left)):
            half = np.sort(half)
            waiting.append((nodes[half], inside[half][:, half], begin, wanted))
    return group


def _order_from_end(graph: csr_array) -> Ints:
    """Return the nodes by their distance from one that is far from others."""
    components, component = connected_components(graph, directed=False)
    if components > 1:
        first = np.unique(component, return_index=True)[1]
        shape = graph.shape
        chain = coo_array((np.ones(components - 1, np.int8), (first[:-1], first[1:])), shape=shape)
        graph = csr_array(graph + chain)
    end = breadth_first_order(graph, 0, directed=False, return_predecessors=False)[-1]
    order: Ints = breadth_first_order(graph, end, directed=False, return_predecessors=False)
    return order
