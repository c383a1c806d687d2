"""Message passing of PyTorch Geometric in the places where GHR has layers of its own."""

import torch
from torch import Tensor, nn
from torch_geometric.nn import GATv2Conv, GCNConv


class PlainGCN(nn.Module):
    """PyG's ``GCNConv``, which normalises the weights of edges at every call, and a ReLU."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gcn = GCNConv(channels, channels)  # type: ignore[abstract]

    def forward(self, x: Tensor, edge_index: Tensor, weight: Tensor) -> Tensor:
        """Return new node features."""
        return self.gcn(x, edge_index, weight.squeeze(1)).relu()  # type: ignore[no-any-return]


class PlainGAT(nn.Module):
    """PyG's ``GATv2Conv``, which projects the edge features at every call, and a ReLU."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gat = GATv2Conv(channels, channels, edge_dim=channels, fill_value="mean")  # type: ignore[abstract]

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        """Return new node features."""
        return self.gat(x, edge_index, edge_attr).relu()  # type: ignore[no-any-return]


class PlainADGN(nn.Module):
    """The update of PyG's ``AntiSymmetricConv`` without its residual, around a ``GCNConv``."""

    def __init__(self, channels: int, epsilon: float = 0.1, gamma: float = 0.1) -> None:
        super().__init__()
        self.epsilon, self.gamma = epsilon, gamma
        self.weight = nn.Parameter(torch.empty(channels, channels))
        self.bias = nn.Parameter(torch.empty(channels))
        self.phi = GCNConv(channels, channels, bias=False)  # type: ignore[abstract]

    def forward(self, x: Tensor, edge_index: Tensor, weight: Tensor) -> Tensor:
        """Return the change of the node features."""
        eye = torch.eye(x.size(1), dtype=x.dtype, device=x.device)
        antisymmetric = self.weight - self.weight.t() - self.gamma * eye
        field = x @ antisymmetric.t() + self.phi(x, edge_index, weight.squeeze(1)) + self.bias
        return self.epsilon * torch.tanh(field)


LAYERS: dict[str, type[nn.Module]] = {"gcn": PlainGCN, "gat": PlainGAT, "adgn": PlainADGN}
# How they call what GHR's layers call otherwise.
NAMES: dict[str, dict[str, str]] = {
    "gcn": {"conv.linear.weight": "conv.gcn.lin.weight", "conv.linear.bias": "conv.gcn.bias"},
    "gat": {
        "conv.source.": "conv.gat.lin_l.",
        "conv.target.": "conv.gat.lin_r.",
        "conv.edge.": "conv.gat.lin_edge.",
        "conv.attention": "conv.gat.att",
        "conv.bias": "conv.gat.bias",
    },
    "adgn": {"conv.neighbour.weight": "conv.phi.lin.weight"},
}
