"""Which nodes are how many hops apart."""

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from ghr.checks import check_whole
from ghr.hierarchy.level import read_finest
from ghr.hierarchy.tensors import check_edges
from ghr.memory import check_memory

HOP_NAMES = ("hop_edge_index", "hop_distance", "hop_limit")
MOST_HOPS = 2**15 - 1
ENTRY = 24  # bytes of an entry of a sparse product, its sorted copy included
PAIR = 18  # bytes of a pair: two int64 and an int16


class HopEdges(BaseTransform):
    r"""Add all pairs of nodes whose shortest path has exactly :math:`k` edges, for :math:`k = 2, \dots, K`.

    A pair :math:`(j, i)` is there if the shortest path from :math:`j` to :math:`i`, along the direction of the edges,
    has :math:`k` of them. Pairs at distance 1 are the edges themselves. They are found hop by hop with sparse matrices,
    and refused where the memory would not hold them.

    Adds ``hop_edge_index``, the pairs, sorted by :math:`k`; ``hop_distance``, their :math:`k`; and ``hop_limit``,
    :math:`K`. PyG batches them as it does edges; a graph without such pairs has none.

    Args:
        max_hops: The largest distance :math:`K`, at least 1.

    Shapes:
        - **hop_edge_index:** :math:`(2, P)`, source first
        - **hop_distance:** :math:`(P)`
        - **hop_limit:** :math:`(1)`
    """

    def __init__(self, max_hops: int) -> None:
        self.max_hops = check_whole("max_hops", max_hops, most=MOST_HOPS)

    def forward(self, data: Data) -> Data:
        """Return the graph with its pairs."""
        level = read_finest(data)
        edge_index = check_edges(level.edge_index, level.num_nodes)
        hops = find_hops(edge_index.cpu().numpy(), level.num_nodes, self.max_hops)[1:]
        pairs = np.concatenate([np.zeros((2, 0), dtype=np.int64), *hops], axis=1)
        distance = np.repeat(np.arange(2, 2 + len(hops), dtype=np.int16), [found.shape[1] for found in hops])
        values = torch.from_numpy(pairs), torch.from_numpy(distance), torch.tensor([self.max_hops])
        for name, value in zip(HOP_NAMES, values, strict=True):
            data[name] = value.to(edge_index.device)
        return data

    def __repr__(self) -> str:
        return f"HopEdges({self.max_hops})"


def find_hops(edge_index: NDArray[np.int64], num_nodes: int, max_hops: int) -> list[NDArray[np.int64]]:
    r"""Return the pairs at distance 1, 2, ..., as far as there are any, up to `max_hops`.

    Shapes:
        - **edge_index:** :math:`(2, E)`
        - **output:** arrays :math:`(2, P_k)`
    """
    source, target = edge_index[:, edge_index[0] != edge_index[1]]
    adjacency = _matrix(source, target, num_nodes)
    degree = np.diff(adjacency.indptr)
    seen = _matrix(np.arange(num_nodes), np.arange(num_nodes), num_nodes) + adjacency
    front, found = adjacency, list[NDArray[np.int64]]()
    while front.nnz and len(found) < max_hops:
        row, column = front.nonzero()
        found.append(np.stack([row, column]).astype(np.int64))
        if len(found) == max_hops:
            break
        reached = min(int(degree[front.indices].sum()), num_nodes**2)  # at most
        check_memory(
            f"Finding the pairs at distance {len(found) + 1} among {num_nodes:,} nodes",
            ENTRY * reached + (PAIR + ENTRY) * seen.nnz,
            "take fewer hops, or smaller graphs",
        )
        product = front @ adjacency
        product.data[:] = 1
        known = product.multiply(seen)
        front = csr_array(product - known)
        front.eliminate_zeros()
        seen = seen + front
    return found


def _matrix(row: NDArray[np.int64], column: NDArray[np.int64], size: int) -> csr_array:
    """Return a sparse matrix of zeros and ones; an entry that is listed twice is one."""
    matrix = csr_array((np.ones(len(row), dtype=np.int32), (row, column)), shape=(size, size))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
