"""Files of PyTorch Geometric: graphs as ``torch.save`` writes them, read as plain tensors."""

from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ghr.datasets.folders.numbering import Names, Numbering, name_rows, order_rows
from ghr.datasets.storage.hub import load_tensors

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


class TensorFile:
    """The graphs of a file as plain tensors, with edges that are checked.

    Args:
        path: File with a ``Data`` or a list of them.

    Raises:
        OSError: Where the file cannot be read.
        ValueError: Where it holds something else than graphs of plain tensors.
    """

    def __init__(self, path: Path) -> None:
        self.file = path.name
        self.graphs = load_tensors(path)
        if not self.graphs:
            raise ValueError(f"{self.file} holds no graphs.")
        nodes = [self._count_nodes(number, graph) for number, graph in enumerate(self.graphs)]
        edges = [graph["edge_index"].size(1) for graph in self.graphs]
        self.counts = {"node": nodes, "edge": edges, "graph": [1] * len(nodes)}

    def number(self, undirected: bool) -> tuple[Numbering, list[Names]]:
        """Return the order of nodes and edges, and their names, which are their numbers."""
        nodes, edges = self.counts["node"], self.counts["edge"]
        names = [str(number) for number in range(len(nodes))]
        node_graph, edge_graph = (np.repeat(np.arange(len(names)), counts) for counts in (nodes, edges))
        ends = torch.cat([graph["edge_index"] for graph in self.graphs], dim=1).numpy().astype(np.int64)
        shifted = ends + np.array([0, *accumulate(nodes)])[edge_graph]
        numbering = order_rows(names, node_graph, edge_graph, shifted[0], shifted[1], undirected)
        node_names = [str(node) for count in nodes for node in range(count)]
        return numbering, name_rows(numbering, node_names, *(list(map(str, end.tolist())) for end in ends))

    def join(self, name: str, level: str) -> Tensor | None:
        """Return a tensor with the rows of all graphs, :math:`(N, C)`; ``None`` where no graph has it.

        Args:
            name: Name of the tensor.
            level: ``"node"``, ``"edge"`` or ``"graph"``: what it must have one row for each of.

        Raises:
            ValueError: Where graphs differ in it, or it has other rows.
        """
        if not any(name in graph for graph in self.graphs):
            return None
        parts = []
        for number, (graph, count) in enumerate(zip(self.graphs, self.counts[level], strict=True)):
            if name not in graph:
                raise ValueError(f"{self.file}, graph {number} has no {name}, but others have one.")
            value = as_matrix(graph[name])
            if value is None or value.size(0) != count:
                raise ValueError(
                    f"{self.file}, graph {number}: {name} must have one row for each of {count} {level}s; got the "
                    f"shape {tuple(graph[name].shape)}."
                )
            parts.append(value)
        kinds = sorted({f"{part.size(1)} of {part.dtype}" for part in parts})
        if len(kinds) > 1 or parts[0].is_complex():
            raise ValueError(
                f"{self.file}: all graphs need the same number and kind of columns in {name}; got {', '.join(kinds)}."
            )
        return torch.cat(parts)

    def list_names(self) -> list[str]:
        """Return the names of all tensors that a graph has."""
        return sorted({name for graph in self.graphs for name in graph})

    def _count_nodes(self, number: int, graph: Mapping[str, Tensor]) -> int:
        """Check the edges of a graph and return the number of its nodes."""
        edges = graph.get("edge_index")
        if edges is None or edges.dim() != 2 or edges.size(0) != 2 or edges.dtype not in INTEGERS:
            got = "none" if edges is None else f"{edges.dtype} of shape {tuple(edges.shape)}"
            raise ValueError(f"{self.file}, graph {number}: edge_index must be integers of shape (2, E); got {got}.")
        first, last = (int(edges.min()), int(edges.max())) if edges.numel() else (0, -1)
        nodes = last + 1
        if "x" in graph and graph["x"].dim():
            nodes = graph["x"].size(0)
        elif graph.get("num_nodes", edges[0]).numel() == 1:
            nodes = int(graph["num_nodes"]) if "num_nodes" in graph else nodes
        if first < 0 or last >= nodes:
            wrong = first if first < 0 else last
            raise ValueError(f"{self.file}, graph {number}: edge_index names the node {wrong}, but there are {nodes}.")
        return nodes


def as_matrix(value: Tensor) -> Tensor | None:
    """Return a tensor with rows and columns, or ``None`` where it has more dimensions; a number is one row."""
    if value.dim() > 2:
        return None
    return value.reshape(-1, 1) if value.dim() < 2 else value
