"""What a node's surroundings look like, as the chances that a random walk comes back to it."""

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from ghr.checks import check_whole
from ghr.memory import check_memory
from ghr.transforms.walk import read_graph, walk_matrix

ROWS = 2048  # nodes whose walks are followed at a time
BYTES = 12  # of an entry of a sparse matrix: a number and its column


class RandomWalkEncoding(BaseTransform):
    r"""Add to every node the chances that a random walk which starts there is back after 1, 2, ... steps (RWSE).

    .. math::
        r_i = \big[ (M^1)_{ii}, \dots, (M^K)_{ii} \big], \qquad M = D^{-1} A

    Walks follow the direction of edges. A walk that returns goes half of its steps forward and, seen from its start,
    the other half backward: so powers are computed up to :math:`\lceil K / 2 \rceil`, and kept as sparse as they are.

    Args:
        steps: Number of steps :math:`K`, which is the number of columns.
        name: Attribute that receives the encoding.

    Shapes:
        - **output:** :math:`(N, K)`
    """

    def __init__(self, steps: int, *, name: str = "rwse") -> None:
        self.steps = check_whole("steps", steps)
        self.name = name

    def forward(self, data: Data) -> Data:
        """Return the graph with its encoding."""
        edge_index, num_nodes = read_graph(data)
        returns = _return_chances(walk_matrix(edge_index, num_nodes), self.steps)
        data[self.name] = torch.from_numpy(returns).float().to(edge_index.device)
        return data

    def __repr__(self) -> str:
        return f"RandomWalkEncoding({self.steps}, name={self.name!r})"


def _return_chances(walk: csr_array, steps: int) -> NDArray[np.float64]:
    result = np.zeros((walk.shape[0], steps))
    result[:, 0] = walk.diagonal()
    back = csr_array(walk.T)
    for first in range(0, walk.shape[0], ROWS):
        rows = slice(first, first + ROWS)
        gone, coming = walk[rows], back[rows]
        for step in range(2, steps + 1):
            if step > 2 and step % 2 == 1:
                gone = _multiply(gone, walk, steps)
            elif step > 2:
                coming = _multiply(coming, back, steps)
            result[rows, step - 1] = np.asarray(gone.multiply(coming).sum(axis=1)).reshape(-1)
    return result


def _multiply(power: csr_array, walk: csr_array, steps: int) -> csr_array:
    """Return rows of the next power, or raise a ValueError if they may not fit into memory."""
    leaving = np.diff(walk.indptr)
    entries = min(int(leaving[power.indices].sum()), power.shape[0] * power.shape[1])
    check_memory(
        f"The random walks of {steps} steps on {walk.shape[0]:,} nodes", 2 * BYTES * entries, "take fewer steps"
    )
    return csr_array(power @ walk)
