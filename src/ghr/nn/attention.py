"""Attention over all nodes of a graph."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ghr.hierarchy.data import at_hand
from ghr.memory import check_memory
from ghr.ops import attend, kernels_for

MOST_PAIRS = 2**30  # of nodes in one call: half a minute per layer on one core


class GraphAttention(nn.Module):
    r"""Multi-head attention in which every node reads all nodes of its own graph and none of another.

    .. math::
        [q\,\|\,k\,\|\,v] = W x + b, \qquad
        x_i' = W_o\, \Big\Vert_{h} \sum_{j} \operatorname*{softmax}_{j}\big( q_{ih}^\top k_{jh} / \sqrt{d_h} \big)\,
        v_{jh} + b_o

    The weights are those of ``torch.nn.MultiheadAttention``, by the same names. Graphs of unequal size are not padded.

    Args:
        channels: Width :math:`d`, a multiple of ``heads``.
        heads: Number of heads.

    Shapes:
        - **x, output:** :math:`(N, d)`, the nodes of a graph side by side
        - **start:** as of :func:`graph_starts`
    """

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        if channels % heads:
            raise ValueError(f"hidden_channels must be a multiple of heads={heads}; got {channels}.")
        self.channels, self.num_heads = channels, heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * channels, channels))
        self.in_proj_bias = nn.Parameter(torch.empty(3 * channels))
        self.out_proj = nn.Linear(channels, channels)
        self._reset_own()

    def reset_parameters(self) -> None:
        """Reset all parameters, as ``torch.nn.MultiheadAttention`` starts."""
        self.out_proj.reset_parameters()
        self._reset_own()

    def _reset_own(self) -> None:
        nn.init.xavier_uniform_(self.in_proj_weight)
        nn.init.zeros_(self.in_proj_bias)
        nn.init.zeros_(self.out_proj.bias)

    def forward(self, x: Tensor, start: Tensor) -> Tensor:
        """Attend."""
        qkv = F.linear(x, self.in_proj_weight, self.in_proj_bias)
        return self.out_proj(attend(qkv, start, self.num_heads))  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"GraphAttention({self.channels}, heads={self.num_heads})"


def graph_starts(batch: Tensor, num_graphs: int, who: str) -> Tensor:
    """Return where the nodes of every graph start, and the number of nodes, on the CPU :math:`(B + 1)`.

    Raises:
        ValueError: If the nodes of a graph are not side by side; `who` needs that.
    """
    if at_hand(batch) and bool((batch.diff() < 0).any()):
        raise ValueError(
            f"{who} needs the nodes of a graph side by side, but batch is not sorted; sort the nodes by it."
        )
    return F.pad(torch.bincount(batch, minlength=num_graphs).cumsum(0), (1, 0)).cpu()


def count_pairs(start: Tensor) -> int:
    """Return the number of pairs of nodes of the same graph."""
    return int(start.diff().square().sum())


def check_attention(start: Tensor, x: Tensor, heads: int, layers: int) -> None:
    """Raise a ValueError if attention over all pairs of nodes would run out of memory, or run for hours.

    Args:
        start: As of :func:`graph_starts`.
        x: Numbers of the type and at the place that is computed with.
        heads: Heads of a layer.
        layers: Layers that keep something for the gradient.
    """
    largest, pairs = int(start.diff().max()), count_pairs(start)
    what = f"Attention over all pairs of {largest:,} nodes in {start.numel() - 1} graphs"
    remedy = "take smaller batches or graphs, or a model without attention"
    if not kernels_for(x):  # weights and scores, kept for the gradient
        copies = 2 * layers if torch.is_grad_enabled() else 2
        check_memory(what, copies * heads * pairs * x.element_size(), remedy)
    if pairs > MOST_PAIRS:
        dense = pairs * heads * x.element_size() / 2**30
        raise ValueError(
            f"{what} weighs {pairs:,} pairs, {dense:,.0f} GiB of weights in every layer, more than the {MOST_PAIRS:,} "
            f"pairs that are worth waiting for; {remedy}."
        )
