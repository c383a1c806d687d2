"""Small graphs and models for the tests of pages."""

import torch
from torch_geometric.data import Data

from ghr import GHR, MODELS, Coarsen, DeepGNN, Graclus, Task
from ghr.testing import random_graph

NODE, GRAPH = Task("node"), Task("graph")


def graph(num_nodes: int = 24, num_edges: int = 40, *, task: Task = NODE, seed: int = 0) -> Data:
    """A random graph with marks as features, lengths on its edges, and targets."""
    data = random_graph(num_nodes, num_edges, edge_dim=1, seed=seed)
    data.x = torch.zeros(num_nodes, 1)
    data.x[0] = 1
    data.edge_attr = data.edge_attr.abs() + 0.1
    generator = torch.Generator().manual_seed(seed)
    rows = {"node": num_nodes, "graph": 1, "edge": data.num_edges}[task.level]
    shape = (rows,) if task.has_classes else (rows, task.out_channels)
    if task.has_classes:
        data.y = torch.randint(task.out_channels, shape, generator=generator)
    else:
        data.y = torch.rand(shape, generator=generator)
    return data


def small(name: str, task: Task = NODE):
    """A small model by its name."""
    entry = MODELS[name]
    known = {"hidden_channels": 8, "layers": 3, "heads": 2, "steps": 2, "t_high": 2, "t_low": 3}
    options = {key: value for key, value in known.items() if key in entry.build.option_names()}
    if entry.options.get("levels") == 1 or "t_high" not in entry.build.option_names():
        options.pop("t_high", None)
    if entry.build is DeepGNN and "steps" not in entry.options:
        options.pop("steps")
    torch.manual_seed(0)
    return entry.for_data([graph(task=task)], task, options).eval()


def three_levels(task: Task = NODE) -> GHR:
    """A model with a graph and two coarse copies of it."""
    torch.manual_seed(0)
    coarsen = Coarsen(Graclus(rounds=1), levels=2)
    options = {"levels": 3, "steps": 2, "t_high": 2, "t_low": 2, "readout": task.level, "coarsen": coarsen}
    return GHR(1, 8, task.out_channels, edge_dim=1, **options).eval()
