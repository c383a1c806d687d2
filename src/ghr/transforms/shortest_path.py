"""How far apart any two nodes are, in hops."""

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from ghr.checks import check_whole
from ghr.transforms.pairs import INDEX, all_pairs, check_pairs
from ghr.transforms.walk import read_graph

MOST_HOPS = 32_000  # what a stored number holds


class ShortestPathDistance(BaseTransform):
    r"""Add to every pair of nodes the number of edges on the shortest path from its source to its target.

    Pairs farther apart than the cap, or without a path, all get the cap plus one. Paths follow the direction of edges.
    Pairs are those of :class:`RelativeRandomWalk`, in the same order.

    Args:
        cap: Largest distance that is told apart.
        name: Attribute that receives the distances.

    Shapes:
        - **pair_index:** :math:`(2, n^2)`, source first, sorted by target
        - **output:** :math:`(n^2)` whole numbers in 0 .. cap + 1
    """

    def __init__(self, cap: int, *, name: str = "spd") -> None:
        self.cap = check_whole("cap", cap, most=MOST_HOPS)
        self.name = name

    def forward(self, data: Data) -> Data:
        """Return the graph with the distances of its pairs."""
        edge_index, num_nodes = read_graph(data)
        check_pairs("The shortest paths", num_nodes, 2, 8)  # scipy computes them as real numbers
        source, target = edge_index.cpu().numpy()
        adjacency = csr_array((np.ones(len(source)), (source, target)), shape=(num_nodes, num_nodes))
        hops = dijkstra(adjacency, unweighted=True, limit=self.cap)
        hops[~np.isfinite(hops)] = self.cap + 1
        data[INDEX] = all_pairs(num_nodes).to(edge_index.device)
        data[self.name] = torch.from_numpy(hops.T.astype(np.int16)).reshape(-1).to(edge_index.device)
        return data

    def __repr__(self) -> str:
        return f"ShortestPathDistance({self.cap}, name={self.name!r})"
