"""Small models and graphs for the tests of ranges."""

import torch
from torch_geometric.data import Data

from ghr import GHR, MODELS, Coarsen, DeepGNN, Graclus, GraphModel, Task
from ghr.testing import random_graph

NODE, GRAPH, EDGE = Task("node"), Task("graph"), Task("edge")
# Of every kind one: recurrences, values, minima, stacks, virtual nodes, dynamics, attention, patches, floors.
KINDS = ("ghr", "ghr-select", "ghr-sum", "min-plus", "deep-gr-gine", "gine", "gated-gcn", "gcn-vn", "drew", "swan",
         "cache-gnn", "gps-rwse", "grit", "graph-vit", "mlp", "constant")  # fmt: skip


def graph(num_nodes: int = 12, num_edges: int = 18, *, seed: int = 0) -> Data:
    """A random graph with marks between zero and one and with lengths."""
    data = random_graph(num_nodes, num_edges, edge_dim=1, seed=seed)
    data.x = torch.rand(num_nodes, 1, generator=torch.Generator().manual_seed(seed))
    data.edge_attr = data.edge_attr.abs() + 0.1
    return data


def small(name: str, task: Task = NODE, **options) -> GraphModel:
    """A small model by its name."""
    entry = MODELS[name]
    known = {"hidden_channels": 8, "layers": 3, "heads": 2, "steps": 2, "t_high": 2, "t_low": 3, **options}
    chosen = {key: value for key, value in known.items() if key in entry.build.option_names()}
    if entry.options.get("levels") == 1 or "t_high" not in entry.build.option_names():
        chosen.pop("t_high", None)
    if entry.build is DeepGNN and "steps" not in entry.options:
        chosen.pop("steps")
    torch.manual_seed(0)
    example = graph()
    example.y = torch.zeros({"node": 12, "graph": 1, "edge": example.num_edges}[task.level], task.out_channels)
    return entry.for_data([example], task, chosen).eval()


def three_levels(task: Task = NODE) -> GHR:
    """A model with a graph and two coarse copies of it."""
    torch.manual_seed(0)
    coarsen = Coarsen(Graclus(rounds=1), levels=2)
    options = {"levels": 3, "steps": 2, "t_high": 2, "t_low": 2, "readout": task.level, "coarsen": coarsen}
    return GHR(1, 8, task.out_channels, edge_dim=1, **options).eval()
