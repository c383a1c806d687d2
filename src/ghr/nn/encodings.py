"""From what a transform says about the place of a node to channels of its state."""

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from ghr.checks import check_choice, check_whole
from ghr.nn.mlp import MLP
from ghr.nn.reset import reset_children
from ghr.transforms import LaplacianEncoding, RandomWalkEncoding

VECTORS, VALUES = "lap_vectors", "lap_values"


class NodeEncoding(nn.Module):
    """A part of the state of every node that tells where it stands in its graph.

    Attributes:
        out_channels: Width of that part.
    """

    out_channels: int

    @property
    def transform(self) -> BaseTransform:
        """What prepares a graph for it."""
        raise NotImplementedError

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)

    def forward(self, data: Data, batch: Tensor) -> Tensor:
        """Return a row per node; `batch` has the graph of every node."""
        raise NotImplementedError


class WalkEncoder(NodeEncoding):
    r"""Reads the chances that random walks return, :math:`p_i = W\, \mathrm{BatchNorm}(r_i) + b` (RWSE).

    Args:
        out_channels: Width of :math:`p`.
        steps: Number of steps of the walks.
    """

    def __init__(self, out_channels: int, steps: int = 16) -> None:
        super().__init__()
        self.out_channels, self.steps = check_whole("out_channels", out_channels), check_whole("steps", steps)
        self.norm = nn.BatchNorm1d(steps)
        self.linear = nn.Linear(steps, out_channels)

    @property
    def transform(self) -> BaseTransform:
        """What computes the chances."""
        return RandomWalkEncoding(self.steps)

    def forward(self, data: Data, batch: Tensor) -> Tensor:
        """Encode all nodes."""
        rows = read_rows(data, "rwse", (batch.numel(), self.steps))
        return self.linear(self.norm(rows.to(self.linear.weight.dtype)))  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"WalkEncoder({self.out_channels}, steps={self.steps})"


class LaplacianEncoder(NodeEncoding):
    r"""Reads eigenvectors :math:`v_m` of the Laplacian with their eigenvalues :math:`\lambda_m`, as a set (LapPE).

    .. math::
        p_i = \sum_{m} \phi\big( [v_{im}, \lambda_m] \big), \qquad
        \phi = \mathrm{ReLU} \circ \mathrm{Linear} \circ \mathrm{ReLU} \circ \mathrm{Linear}

    over the eigenvectors that the graph has. Their signs are arbitrary: in training every graph gets random ones.

    Args:
        out_channels: Width of :math:`p`.
        count: Number of eigenvectors, the first one of them.
    """

    def __init__(self, out_channels: int, count: int = 10) -> None:
        super().__init__()
        self.out_channels, self.count = check_whole("out_channels", out_channels), check_whole("count", count)
        self.phi = MLP(2, 2 * out_channels, out_channels)

    @property
    def transform(self) -> BaseTransform:
        """What computes eigenvectors and eigenvalues."""
        return LaplacianEncoding(self.count, name=VECTORS, normalised=False, trivial=True, values=VALUES)

    def forward(self, data: Data, batch: Tensor) -> Tensor:
        """Encode all nodes."""
        dtype = next(self.phi.parameters()).dtype
        vectors = read_rows(data, VECTORS, (batch.numel(), self.count)).to(dtype)
        values = read_rows(data, VALUES, (None, self.count)).to(dtype)
        if self.training:
            vectors = vectors * (2 * torch.randint(2, values.shape, device=values.device) - 1)[batch]
        known = ~values.isnan()
        pairs = torch.stack([vectors, values.nan_to_num()[batch]], dim=2)
        return (self.phi(pairs).relu() * known[batch].unsqueeze(2)).sum(dim=1)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"LaplacianEncoder({self.out_channels}, count={self.count})"


ENCODINGS: dict[str, type[NodeEncoding]] = {"rwse": WalkEncoder, "laplacian": LaplacianEncoder}


def make_encoding(encoding: str | None, channels: int) -> NodeEncoding | None:
    """Return an encoding by its name, with a quarter of the channels of a state; ``None`` for none."""
    if encoding is None:
        return None
    if channels < 2:
        raise ValueError(f"A state with an encoding beside it needs hidden_channels of at least 2; got {channels}.")
    return ENCODINGS[check_choice("encoding", encoding, ENCODINGS)](max(1, channels // 4))


def read_rows(data: Data, name: str, shape: tuple[int | None, int]) -> Tensor:
    """Return what a transform has added to a graph, or raise a ValueError; ``None`` leaves the number of rows open."""
    value = data.get(name, None)
    if not isinstance(value, Tensor):
        raise ValueError(f"The graph has no {name}; prepare it: model.prepare(graph) adds what the model needs.")
    rows, columns = shape
    if value.dim() != 2 or value.size(1) != columns or rows not in (None, value.size(0)):
        wanted = f"({'B' if rows is None else rows}, {columns})"
        raise ValueError(f"The model reads {name} of shape {wanted}; got {tuple(value.shape)}: prepare the graph anew.")
    return value
