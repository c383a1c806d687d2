"""How many hops nodes are from some of them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from torch import Tensor


def count_hops(edge_index: Tensor, num_nodes: int, nodes: Sequence[int]) -> NDArray[np.int64]:
    """Return how many hops every node is from each of some nodes, along edges in either direction.

    Args:
        edge_index: Edges :math:`(2, E)`.
        num_nodes: Number of nodes :math:`N`.
        nodes: The nodes to count from, :math:`V` of them.

    Returns:
        Whole numbers :math:`(V, N)`, -1 where there is no path.

    Example:
        >>> import torch
        >>> count_hops(torch.tensor([[0, 1], [1, 2]]), 4, [2]).tolist()
        [[2, 1, 0, -1]]
    """
    source, target = edge_index.cpu().numpy()
    adjacency = csr_array((np.ones(len(source)), (source, target)), shape=(num_nodes, num_nodes))
    hops = dijkstra(adjacency, directed=False, indices=list(nodes), unweighted=True)
    hops[~np.isfinite(hops)] = -1
    counted: NDArray[np.int64] = hops.astype(np.int64)
    return counted
