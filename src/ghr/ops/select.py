"""A choice among what arrives at every node."""

from torch import Tensor


def select(values: Tensor, logits: Tensor, target: Tensor, otherwise: Tensor) -> Tensor:
    r"""Return what every node chooses of what arrives, :math:`\sum_j \alpha_{ij} v_{ij}`, per channel.

    :math:`\alpha` is the softmax of the logits over everything that arrives at a node.

    Shapes:
        - **values, logits:** :math:`(E, m)`
        - **target:** :math:`(E)`, the node each arrives at
        - **otherwise, output:** :math:`(N, m)`; a node at which nothing arrives keeps `otherwise`
    """
    index = target.unsqueeze(1).expand_as(logits)
    largest = logits.new_full(otherwise.shape, -float("inf")).scatter_reduce(0, index, logits.detach(), "amax")
    weight = (logits - largest.index_select(0, target)).exp()
    total = otherwise.new_zeros(otherwise.shape).index_add(0, target, weight)
    chosen = otherwise.new_zeros(otherwise.shape).index_add(0, target, weight * values)
    arrived = total > 0
    return chosen.div(total.where(arrived, total.new_ones(()))).where(arrived, otherwise)
