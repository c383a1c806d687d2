"""Where two nodes stand to each other, as the chances that a random walk leads from one to the other."""

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from ghr.checks import check_whole
from ghr.transforms.pairs import INDEX, all_pairs, check_pairs
from ghr.transforms.walk import read_graph, walk_matrix


class RelativeRandomWalk(BaseTransform):
    r"""Add to every pair of nodes the chances that a walk leads from one to the other in 0, 1, ... steps (RRWP).

    .. math::
        P_{ij} = \big[ I_{ij}, M_{ij}, \dots, (M^{K-1})_{ij} \big], \qquad M = D^{-1} A

    The pair with target :math:`i` and source :math:`j` has the row :math:`P_{ij}`. Pairs are in ``pair_index``, which
    PyG's ``Batch`` shifts by the number of nodes as it does ``edge_index``. All pairs are stored: memory and the size
    of a cache grow with the square of a graph.

    Args:
        steps: Number of powers :math:`K`, which is the number of columns.
        name: Attribute that receives the rows.

    Shapes:
        - **pair_index:** :math:`(2, n^2)`, source first, sorted by target
        - **output:** :math:`(n^2, K)`
    """

    def __init__(self, steps: int, *, name: str = "rrwp") -> None:
        self.steps = check_whole("steps", steps)
        self.name = name

    def forward(self, data: Data) -> Data:
        """Return the graph with its pairs."""
        edge_index, num_nodes = read_graph(data)
        powers = walk_powers(edge_index, num_nodes, self.steps)
        data[INDEX] = all_pairs(num_nodes).to(edge_index.device)
        data[self.name] = powers.flatten(0, 1).to(edge_index.device)
        return data

    def __repr__(self) -> str:
        return f"RelativeRandomWalk({self.steps}, name={self.name!r})"


def walk_powers(edge_index: Tensor, num_nodes: int, steps: int, dtype: torch.dtype = torch.float32) -> Tensor:
    r"""Return the powers :math:`I, M, \dots, M^{K-1}` side by side, on the CPU.

    Shapes:
        - **output:** :math:`(n, n, K)`
    """
    check_pairs(f"The random walks of {steps} steps", num_nodes, 2 * steps)  # as they are computed, and as a tensor
    walk = walk_matrix(edge_index, num_nodes)
    powers = torch.empty(num_nodes, num_nodes, steps, dtype=dtype)
    power = np.eye(num_nodes)
    for step in range(steps):
        powers[:, :, step] = torch.from_numpy(power)
        power = walk @ power
    return powers
