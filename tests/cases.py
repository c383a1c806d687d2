"""Graphs and small helpers that the tests share."""

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

import reference
from ghr import MODELS, Coarsen, Graclus, HierarchicalData
from ghr.hierarchy.lattice import lattice_edges
from ghr.testing import random_graph

ANY_GRAPH = [name for name, entry in MODELS.items() if not entry.build.lattices_only]

# (number of nodes, edges): undirected, directed, isolated nodes, self loops, repeats, no edges, one node.
AWKWARD = {
    "triangle and tail": (4, [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2), (2, 3), (3, 2)]),
    "directed": (5, [(0, 1), (1, 2), (2, 0), (3, 2), (0, 4)]),
    "isolated": (5, [(0, 3), (3, 0)]),
    "self loops": (3, [(0, 0), (0, 1), (1, 1), (1, 2), (2, 1), (2, 2)]),
    "repeats": (3, [(0, 1), (0, 1), (1, 0), (2, 1), (2, 1), (2, 1)]),
    "only a self loop": (2, [(1, 1)]),
    "no edges": (3, []),
    "one node": (1, []),
}


def make_lattice(side: int, channels: int = 1, *, seed: int = 0, dtype: torch.dtype = torch.double) -> Data:
    """A periodic square lattice with random features, nodes row by row."""
    x = torch.randn(side * side, channels, generator=torch.Generator().manual_seed(seed), dtype=dtype)
    return Data(x=x, edge_index=lattice_edges(side))


def awkward(name: str, channels: int, edge_dim: int | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """Node features, edge index and edge features (above zero) of a graph in `AWKWARD`, in double precision."""
    num_nodes, edges = AWKWARD[name]
    generator = torch.Generator().manual_seed(len(name))
    x = torch.randn(num_nodes, channels, generator=generator, dtype=torch.double)
    edge_index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T.contiguous()
    if edge_dim is None:
        return x, edge_index, None
    return x, edge_index, 0.2 + torch.rand(len(edges), edge_dim, generator=generator, dtype=torch.double)


def naive_edges(edge_index: Tensor, edge_attr: Tensor | None) -> list[reference.Edge]:
    features = [None] * edge_index.size(1) if edge_attr is None else reference.read_rows(edge_attr)
    return [reference.Edge(*ends, feature) for ends, feature in zip(edge_index.T.tolist(), features, strict=True)]


def randomise(module: nn.Module, *, seed: int = 0, scale: float = 0.3) -> nn.Module:
    """Move all parameters off their start, so that none is a zero or a one that hides a mistake; double precision."""
    generator = torch.Generator().manual_seed(seed)
    module.double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += scale * torch.randn(parameter.shape, generator=generator, dtype=torch.double)
    return module


def relative_error(actual: Tensor, expected: Tensor | list) -> float:
    if not isinstance(expected, Tensor):
        expected = torch.from_numpy(np.array(expected)).reshape(actual.shape)
    assert actual.shape == expected.shape
    if expected.numel() == 0:
        return 0.0
    expected = expected.detach()
    return float((actual.detach().double() - expected).abs().max() / expected.abs().max().clamp(min=1e-12))


def hierarchy(
    num_nodes: int = 9,
    num_edges: int = 11,
    *,
    levels: int = 2,
    in_channels: int = 2,
    edge_dim: int | None = 3,
    edge_reduce: str | tuple[str, ...] | None = None,
    seed: int = 0,
) -> HierarchicalData:
    """A random graph in double precision, `levels` of them if more than one."""
    data = random_graph(num_nodes, num_edges, in_channels=in_channels, edge_dim=edge_dim, seed=seed)
    data.x = data.x.double()
    if edge_dim is not None:
        data.edge_attr = data.edge_attr.double()
    if levels == 1:
        return HierarchicalData.from_dict(data.to_dict())
    return Coarsen(Graclus(rounds=1), edge_reduce, levels=levels - 1)(data)
