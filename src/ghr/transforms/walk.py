"""The matrix of a random walk along the edges of a graph."""

import numpy as np
from scipy.sparse import csr_array, diags_array
from torch import Tensor
from torch_geometric.data import Data


def read_graph(data: Data) -> tuple[Tensor, int]:
    """Return the edges and the number of nodes of a graph, or raise a ValueError if it does not have both."""
    if data.edge_index is None or data.num_nodes is None:
        raise ValueError("The graph has no edge_index; give an empty tensor of shape (2, 0) if it has no edges.")
    return data.edge_index, int(data.num_nodes)


def walk_matrix(edge_index: Tensor, num_nodes: int) -> csr_array:
    r"""Return :math:`M = D^{-1} A`: from a node, a step takes each of the edges that leave it with the same chance.

    An edge that is listed twice is taken twice as often, and a self loop is an edge. A node that no edge leaves has a
    row of zeros.
    """
    source, target = edge_index.cpu().numpy()
    shape = (num_nodes, num_nodes)
    adjacency = csr_array((np.ones(len(source)), (source, target)), shape=shape)
    degree = np.bincount(source, minlength=num_nodes)
    return csr_array(diags_array(1.0 / np.maximum(degree, 1)) @ adjacency)
