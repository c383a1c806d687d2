"""``ghr bench``: speed and memory, measured in one run."""

import json
import math
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from scipy.spatial import cKDTree
from torch_geometric.data import Data

from ghr.cli.table import table
from ghr.files import write_text
from ghr.hierarchy import Coarsen, Graclus
from ghr.train.provenance import machine, versions


@dataclass
class Bench:
    """Measure the cost of coarsening: 3 rounds of Graclus with coarse edges, on random geometric graphs of degree 6."""

    nodes: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    """Sizes of the graphs."""
    repeats: int = 5
    """Times each size is measured, in turn with the others; the median counts."""
    out: Path | None = None
    """JSON file for the figures and the machine."""
    quiet: bool = False
    """Say only the table."""

    def run(self) -> None:
        """Measure, print, and write."""
        if self.repeats < 1 or not self.nodes or min(self.nodes) < 1:
            raise ValueError(f"bench needs repeats and sizes above 0; got repeats={self.repeats}, nodes={self.nodes}.")
        transform = Coarsen(Graclus(rounds=3), ("min", "mean"))
        transform(geometric_graph(100))  # compiles the kernels, or loads them
        graphs = [geometric_graph(size) for size in self.nodes]
        seconds: list[list[float]] = [[] for _ in graphs]
        clusters = [0] * len(graphs)
        for _ in range(self.repeats):
            for position, graph in enumerate(graphs):
                start = time.perf_counter()
                clusters[position] = transform(graph).levels[1].num_nodes
                seconds[position].append(time.perf_counter() - start)
        rows: list[dict[str, Any]] = [
            {"nodes": graph.num_nodes, "edges": graph.num_edges, "clusters": count, "seconds": median(times)}
            for graph, count, times in zip(graphs, clusters, seconds, strict=True)
        ]
        header = ["nodes", "edges", "clusters", "seconds", "ns per edge"]
        print(
            table(
                header,
                [
                    [
                        f"{row['nodes']:,}",
                        f"{row['edges']:,}",
                        f"{row['clusters']:,}",
                        f"{row['seconds']:.4f}",
                        f"{1e9 * row['seconds'] / max(row['edges'], 1):.0f}",
                    ]
                    for row in rows
                ],
            )
        )
        if self.out is not None:
            record = {
                "coarsen": rows,
                "repeats": self.repeats,
                "versions": versions(),
                "machine": machine(torch.device("cpu")),
            }
            write_text(self.out, json.dumps(record, indent=2) + "\n")


def geometric_graph(num_nodes: int, mean_degree: float = 6, seed: int = 0) -> Data:
    """Return a random geometric graph in the unit square with constant edge features."""
    position = np.random.default_rng(seed).random((num_nodes, 2))
    radius = math.sqrt(mean_degree / (math.pi * num_nodes))
    pairs = torch.from_numpy(cKDTree(position).query_pairs(radius, output_type="ndarray").T.astype(np.int64))
    edges = torch.cat([pairs, pairs.flip(0)], dim=1)
    return Data(x=torch.ones(num_nodes, 1), edge_index=edges, edge_attr=torch.ones(edges.size(1), 1))
