"""Workloads that coarsen a graph, and coarsening as it is written without compiled code."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import remove_self_loops, to_undirected

from ghr.bench.graphs import geometric_graph
from ghr.bench.targets import NO_TARGETS, Targets
from ghr.hierarchy import Coarsen, Graclus, HierarchicalData
from ghr.hierarchy.data import levels_of


@dataclass(frozen=True)
class Coarsening:
    """Three rounds of Graclus with coarse edges ``[min, mean]`` on random geometric graphs of mean degree 6, in turn.

    Args:
        name: What selects it.
        title: What it is, for the table.
        nodes: Size of a graph.
        targets: What it shall reach.
        implementations: ``"ghr"``, and ``"plain"`` where that is worth its time.
        max_repeats: Most repetitions that are worth their time; ``None`` without limit.
        graphs: Number of graphs.
    """

    name: str
    title: str
    nodes: int
    targets: Targets = NO_TARGETS
    implementations: tuple[str, ...] = ("ghr", "plain")
    max_repeats: int | None = None
    graphs: int = 1

    def quick(self) -> "Coarsening":
        """Return the same on a tiny graph, where the targets mean nothing."""
        return replace(self, title=f"{self.title}, shrunk", nodes=min(self.nodes, 200), targets=NO_TARGETS)

    def load(self) -> list[Data]:
        """Return the graphs."""
        return [geometric_graph(self.nodes, seed=seed) for seed in range(self.graphs)]

    def facts(self, data: list[Data], result: list[HierarchicalData]) -> dict[str, int]:
        """Return the sizes that matter, of all graphs together."""
        clusters = sum(each.levels[1].num_nodes for each in result)
        return {"nodes": self.nodes * len(data), "edges": sum(each.num_edges for each in data), "clusters": clusters}

    def prepare(self, implementation: str, data: list[Data]) -> Callable[[], Any]:
        """Return the work of one implementation."""
        coarsen = Coarsen(Graclus(rounds=3), ("min", "mean")) if implementation == "ghr" else plain_coarsen
        return lambda: [coarsen(graph) for graph in data]

    def errors(self, works: dict[str, Callable[[], Any]], results: dict[str, Any]) -> dict[str, float]:
        """Return the share of cluster labels, coarse edges and their features that differ."""
        pairs = [
            (getattr(ours.levels[1], name), getattr(plain.levels[1], name))
            for ours, plain in zip(results["ghr"], results["plain"], strict=True)
            for name in ("assignment", "edge_index", "edge_attr")
        ]
        return {"output": max(_share_that_differs(*pair) for pair in pairs)}


def plain_coarsen(data: Data, rounds: int = 3, seed: int = 0) -> HierarchicalData:
    """Coarsen as :class:`~ghr.Graclus` and :class:`~ghr.Coarsen` do, with Python loops and PyTorch's own functions.

    Visits the nodes in the same order, so that the outcome is the same.
    """
    (fine,), attr = levels_of(data), data.edge_attr
    assert attr is not None
    edges, size = fine.edge_index, fine.num_nodes
    assignment = torch.arange(size)
    order = np.random.default_rng(seed).permutation(size).tolist()
    for _ in range(rounds):
        edges = to_undirected(remove_self_loops(edges)[0], num_nodes=size)
        label, size = _match(edges, size, order)
        assignment, edges = label[assignment], label[edges]
        order = list(dict.fromkeys(label[torch.tensor(order)].flip(0).tolist()))
    coarse, became = _quotient(assignment[fine.edge_index], size)
    crossing = became >= 0
    index = became[crossing].unsqueeze(1).expand(-1, attr.size(1))
    empty = attr.new_zeros(coarse.size(1), attr.size(1))
    columns = [empty.scatter_reduce(0, index, attr[crossing], how, include_self=False) for how in ("amin", "mean")]
    result = HierarchicalData.from_dict(data.to_dict())
    result.append_level(assignment, size, coarse, torch.cat(columns, dim=1))
    return result


def _match(edges: Tensor, size: int, order: list[int]) -> tuple[Tensor, int]:
    neighbours: list[list[int]] = [[] for _ in range(size)]
    for u, v in edges.T.tolist():
        neighbours[u].append(v)
    rank = {node: position for position, node in enumerate(order)}
    partner: dict[int, int] = {}
    for u in order:
        if u not in partner:
            free = [v for v in neighbours[u] if v not in partner]
            best = min(free, key=lambda v: (len(neighbours[v]), rank[v]), default=u)
            partner[u], partner[best] = best, u
    label: dict[int, int] = {}
    count = 0
    for u in range(size):
        if u not in label:
            label[u] = label[partner[u]] = count
            count += 1
    return torch.tensor([label[u] for u in range(size)], dtype=torch.long), count


def _quotient(edges: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Return the distinct edges, and for every edge which of them it is; -1 for a self loop."""
    crossing = edges[0] != edges[1]
    code, inverse = torch.unique(edges[0, crossing] * size + edges[1, crossing], return_inverse=True)
    became = torch.full((edges.size(1),), -1).masked_scatter(crossing, inverse)
    return torch.stack([code // size, code % size]), became


def _share_that_differs(ours: Tensor, plain: Tensor) -> float:
    if ours.shape != plain.shape:
        return 1.0
    return float((~torch.isclose(ours, plain)).double().mean()) if ours.numel() else 0.0
