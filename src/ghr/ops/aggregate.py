"""Sums over the incoming edges of every node, and their number."""

import torch
from torch import Tensor


def aggregate_sum(messages: Tensor, target: Tensor, num_nodes: int) -> Tensor:
    r"""Sum the messages that arrive at every node; nodes without any get zero.

    Shapes:
        - **messages:** :math:`(E, C)`
        - **target:** :math:`(E)`, the node each message arrives at
        - **output:** :math:`(N, C)`
    """
    index = target.view(-1, *[1] * (messages.dim() - 1)).expand_as(messages)
    return messages.new_zeros(num_nodes, *messages.shape[1:]).scatter_add(0, index, messages)


def count_items(target: Tensor, num_nodes: int) -> Tensor:
    """Count how often every node is a target, :math:`(N)`; ``torch.bincount`` would stall a GPU to find the largest."""
    return target.new_zeros(num_nodes).scatter_add(0, target, torch.ones_like(target))
