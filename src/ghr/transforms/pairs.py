"""Pairs of all nodes of a graph, in one order that everything about pairs keeps."""

import torch
from torch import Tensor

from ghr.memory import check_memory

INDEX = "pair_index"


def all_pairs(num_nodes: int) -> Tensor:
    r"""Return all ordered pairs of nodes, source first: those with target 0, then those with target 1, and so on.

    Shapes:
        - **output:** :math:`(2, n^2)`
    """
    node = torch.arange(num_nodes)
    return torch.stack([node.repeat(num_nodes), node.repeat_interleave(num_nodes)])


def check_pairs(what: str, num_nodes: int, columns: int, width: int = 4) -> None:
    """Raise a ValueError if what is stored of all pairs of a graph needs more memory than there is.

    Args:
        what: What is stored, as the start of a sentence.
        num_nodes: Number of nodes.
        columns: Numbers for every pair.
        width: Bytes of such a number.
    """
    needed = num_nodes**2 * (columns * width + 16)
    check_memory(f"{what} of all pairs of {num_nodes:,} nodes", needed, "take smaller graphs")
