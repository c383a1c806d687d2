"""Small graphs for tests and examples."""

import torch
from torch import Tensor
from torch_geometric.data import Data


def path_graph(num_nodes: int, *, edge_dim: int | None = None) -> Data:
    """Return an undirected path whose first node is marked in `x`."""
    here = torch.arange(num_nodes - 1)
    return _marked(num_nodes, torch.stack([here, here + 1]), edge_dim, torch.Generator().manual_seed(0))


def random_graph(
    num_nodes: int, num_edges: int, *, in_channels: int = 1, edge_dim: int | None = None, seed: int = 0
) -> Data:
    """Return an undirected graph with that many random edges; isolated nodes and several components occur.

    Args:
        num_nodes: Number of nodes.
        num_edges: Number of undirected edges to draw; self loops and repeats among them are dropped.
        in_channels: Width of the random node features.
        edge_dim: Width of the random edge features, the same in both directions; ``None`` for none.
        seed: Seed of everything that is random.
    """
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.randint(num_nodes, (2, num_edges), generator=generator)
    pairs = pairs[:, pairs[0] != pairs[1]]
    pairs = torch.unique(torch.stack([pairs.min(0).values, pairs.max(0).values]), dim=1)
    data = _marked(num_nodes, pairs, edge_dim, generator)
    data.x = torch.randn(num_nodes, in_channels, generator=generator)
    return data


def _marked(num_nodes: int, pairs: Tensor, edge_dim: int | None, generator: torch.Generator) -> Data:
    x = torch.zeros(num_nodes, 1)
    x[0] = 1
    data = Data(x=x, edge_index=torch.cat([pairs, pairs.flip(0)], dim=1))
    if edge_dim is not None:
        data.edge_attr = torch.randn(pairs.size(1), edge_dim, generator=generator).repeat(2, 1)
    return data
