"""One update of min-plus message passing, and lengths of edges learned from their features."""

import math
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class MinPlusCell(nn.Module):
    r"""Mixes the channels of what arrived at a node without changing its magnitude, and sets marked nodes back.

    .. math::
        u_i = \mathrm{ReLU}\big( a_i + W_2\, \mathrm{ReLU}( W_1 (a_i - \bar a_i) ) - S\, x_i \mathrm{softplus}(V) \big),
        \qquad h_i = \min(u_i, S),

    where :math:`\bar a_i` is the mean over the channels of :math:`a_i` and :math:`S` is the value of a node that
    nothing has reached. No norm, no constant, no damping: the mixing sees only differences between channels, so adding
    a constant to :math:`a` adds it to :math:`u`, and a distance keeps its size over any number of updates.

    What an edge of length :math:`e` adds to a message is :math:`w\, e`, :math:`w = \mathrm{softplus}(\omega)`, between
    0.5 and 1.5 at the start in every channel.

    Args:
        in_channels: Width of the marks :math:`x`.
        channels: Width :math:`d` of the states.
    """

    def __init__(self, in_channels: int, channels: int) -> None:
        super().__init__()
        self.channels = channels
        self.rate = nn.Parameter(torch.empty(channels))
        self.mark = nn.Parameter(torch.empty(in_channels, channels))
        self.mix_in = nn.Linear(channels, channels, bias=False)
        self.mix_out = nn.Linear(channels, channels, bias=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        nn.init.ones_(self.mark)  # softplus(1) > 1: a marked node starts at zero and stays there
        with torch.no_grad():
            for mix in (self.mix_in, self.mix_out):
                mix.reset_parameters()
                mix.weight.mul_(0.3)  # from full size, some runs end with mixing that fits in range and drifts beyond
            self.rate.uniform_(0.5, 1.5).expm1_().log_()  # the inverse of softplus

    def cost(self, length: Tensor) -> Tensor:
        r"""Return what edges of given lengths add to messages, :math:`w\, e`: :math:`(E) \to (E, d)`."""
        return length.unsqueeze(1) * F.softplus(self.rate)

    def injection(self, x: Tensor, cap: Tensor) -> Tensor:
        r"""Return what marks take off, :math:`S\, x\, \mathrm{softplus}(V)`: :math:`(N, D) \to (N, d)`."""
        return cap * (x @ F.softplus(self.mark))

    def forward(self, arrived: Tensor, cap: Tensor, injection: Tensor | None = None) -> Tensor:
        r"""Update all nodes.

        Args:
            arrived: :math:`a`.
            cap: :math:`S`, for every node that of its graph.
            injection: What :meth:`injection` returned; ``None`` where no node can be marked.

        Shapes:
            - **arrived, injection, output:** :math:`(N, d)`
            - **cap:** :math:`(N, 1)`
        """
        mixed = self.mix_out(self.mix_in(arrived - arrived.mean(1, keepdim=True)).relu())
        update = arrived + mixed if injection is None else arrived + mixed - injection
        return torch.minimum(update.relu(), cap)

    def l1_norm(self) -> Tensor:
        r"""Return :math:`\lVert W_1 \rVert_1 + \lVert W_2 \rVert_1`."""
        return self.mix_in.weight.abs().sum() + self.mix_out.weight.abs().sum()

    def __repr__(self) -> str:
        return f"MinPlusCell({self.channels}, in_channels={self.mark.size(0)})"


class EdgeLength(nn.Module):
    r"""Learns how long an edge is from its features, :math:`e = \mathrm{softplus}(v)^\top \mathrm{ReLU}(U f)`.

    A length is never negative, and there is no constant: twice the features are twice the length, so edges shorter or
    longer than those of training are no harder. With enough channels it comes close to any norm of the features.

    Args:
        in_channels: Width of the features :math:`f`.
        channels: Number of rows of :math:`U`.

    Shapes:
        - **input:** :math:`(E, \text{in\_channels})`
        - **output:** :math:`(E, 1)`
    """

    default_channels: ClassVar[int] = 16

    def __init__(self, in_channels: int, channels: int = default_channels) -> None:
        super().__init__()
        self.directions = nn.Parameter(torch.empty(channels, in_channels))
        self.weight = nn.Parameter(torch.empty(channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset all parameters; lengths start at about the magnitude of the features."""
        nn.init.normal_(self.directions)
        nn.init.constant_(self.weight, math.log(math.expm1(2.5 / self.weight.numel())))

    def forward(self, features: Tensor) -> Tensor:
        """Return one length per edge."""
        return (features @ self.directions.t()).relu() @ F.softplus(self.weight).unsqueeze(1)

    def __repr__(self) -> str:
        channels, in_channels = self.directions.shape
        return f"EdgeLength({in_channels}, channels={channels})"
