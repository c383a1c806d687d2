"""A large graph in parts, each with the nodes around it and with the whole of the coarse levels."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ghr.checks import check_whole
from ghr.hierarchy.data import HierarchicalData, check_graph
from ghr.hierarchy.divide import divide_nodes
from ghr.hierarchy.kernels.lists import group
from ghr.hierarchy.kernels.types import Ints
from ghr.hierarchy.tensors import MOST_NODES


class Part(NamedTuple):
    """Some nodes of a graph, those around them, and the coarse levels.

    Attributes:
        data: The nodes with the edges between them, and the coarse levels of the whole graph.
        nodes: Which nodes of the graph these are :math:`(n)`, first those that belong to the part, then the halo.
        num_own: How many belong to the part.
        own: Which nodes of level 1 stand for nodes of the part :math:`(N_1)`.
        inside: Which nodes of level 1 have all their members here :math:`(N_1)`; of the halo some, of the part all.
    """

    data: HierarchicalData
    nodes: Tensor
    num_own: int
    own: Tensor
    inside: Tensor


class Parts:
    """Divides a graph with coarse levels into parts that lie together, each with a halo.

    A part is a union of clusters of level 1, so every node and every cluster belongs to exactly one. The halo are the
    nodes from which a message reaches the part within so many hops.

    Args:
        data: The graph, made by :class:`~ghr.Coarsen`; one, not a batch of several.
        count: Number of parts.
        halo: Hops around a part.

    Example:
        >>> from ghr import Coarsen, Graclus
        >>> from ghr.testing import path_graph
        >>> parts = Parts(Coarsen(Graclus(rounds=1))(path_graph(12)), 3, halo=1)
        >>> [(part.num_own, len(part.nodes)) for part in parts]
        [(4, 5), (4, 6), (4, 5)]
    """

    def __init__(self, data: Data, count: int, *, halo: int = 4) -> None:
        if not isinstance(data, HierarchicalData) or data.num_levels < 2:
            raise ValueError("Parts are made of a graph with coarse levels; apply Coarsen(...) to it first.")
        self.data: HierarchicalData = data.cpu()
        finest, coarse = check_graph(self.data)[:2]
        if "batch" in data and int(finest.batch.max()) > 0:
            raise ValueError("Parts are made of one graph, but this is a batch of several; give one of them.")
        self.count = check_whole("parts", count)
        self.halo = check_whole("halo", halo, 0, MOST_NODES)
        if self.count > coarse.num_nodes:
            raise ValueError(f"parts={count} are more than the {coarse.num_nodes} clusters of level 1; ask for fewer.")
        self.cluster = coarse.clusters.numpy()
        self.size = np.bincount(self.cluster, minlength=coarse.num_nodes)
        self.group = divide_nodes(coarse.edge_index, self.size, self.count)
        self._source = finest.edge_index[0].numpy()
        self._edge, self._start = group(finest.edge_index[1].contiguous().numpy(), finest.num_nodes)
        self._member, self._first = group(self.group[self.cluster], self.count)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Part:
        """Return a part with its halo and the whole coarse levels."""
        if not 0 <= index < self.count:
            raise IndexError(f"There are {self.count} parts, from 0; got {index}.")
        nodes, num_own, data = self._cut(index, self.halo)
        self._add_coarse(data, torch.from_numpy(self.cluster[nodes]))
        here = np.bincount(self.cluster[nodes], minlength=self.size.size)
        own, inside = torch.from_numpy(self.group == index), torch.from_numpy(here == self.size)
        return Part(data, torch.from_numpy(nodes), num_own, own, inside)

    def own_nodes(self, index: int) -> Tensor:
        """Return the nodes that belong to a part."""
        return torch.from_numpy(self._member[self._first[index] : self._first[index + 1]])

    def cut_coarse(self) -> HierarchicalData:
        """Return the whole coarse levels above a single node, for what concerns them alone."""
        store = self.data._store
        data = HierarchicalData(edge_index=torch.empty(2, 0, dtype=torch.long))
        for name, rows in (("x", 1), ("level1_centre_distance", 1), ("edge_attr", 0), ("edge_weight", 0)):
            if store.get(name) is not None:
                data[name] = store[name][:rows]
        data.num_nodes = 1
        self._add_coarse(data, torch.zeros(1, dtype=torch.long))
        return data

    def cut_finest(self, index: int, halo: int) -> tuple[HierarchicalData, Tensor, int, Tensor]:
        """Return a part without the edges of coarse levels, which are costly to prepare where they are not updated.

        Args:
            index: Number of the part.
            halo: Hops around it.

        Returns:
            Its data, whose level 1 has the clusters of its nodes only; its nodes, own ones first; how many are its own;
            and which clusters of the whole level 1 these are.
        """
        nodes, num_own, data = self._cut(index, halo)
        touched, local = np.unique(self.cluster[nodes], return_inverse=True)
        below, assignment = len(touched), torch.from_numpy(local)
        for k in range(1, self.data.num_levels):
            data[f"level{k}_edge_index"] = torch.empty(2, 0, dtype=torch.long)
            edge_attr = self.data._store.get(f"level{k}_edge_attr")
            if edge_attr is not None:
                data[f"level{k}_edge_attr"] = edge_attr[:0]
            data[f"level{k}_assignment"], data[f"level{k}_batch"] = assignment, torch.zeros(below, dtype=torch.long)
            assignment, below = torch.zeros(below, dtype=torch.long), 1
        return data, torch.from_numpy(nodes), num_own, torch.from_numpy(touched)

    def _add_coarse(self, data: HierarchicalData, assignment: Tensor) -> None:
        """Put the coarse levels above some nodes."""
        store, own = self.data._store, ("assignment", "centre_distance")
        for k in range(1, self.data.num_levels):
            for name in ("edge_index", "edge_attr", "batch", *(own if k > 1 else ())):
                if f"level{k}_{name}" in store:
                    data[f"level{k}_{name}"] = store[f"level{k}_{name}"]
        data["level1_assignment"] = assignment

    def _cut(self, index: int, halo: int) -> tuple[Ints, int, HierarchicalData]:
        """Return the nodes of a part and around it, own ones first, and the graph that they are."""
        own = self._member[self._first[index] : self._first[index + 1]]
        seen = np.zeros(self.cluster.size, bool)
        seen[own], around, border = True, [], own
        for _ in range(halo):
            source = self._source[self._arriving(border)]
            border = np.unique(source[~seen[source]])
            if not border.size:
                break
            seen[border] = True
            around.append(border)
        nodes = np.concatenate([own, *([np.sort(np.concatenate(around))] if around else [])])
        edges = self._arriving(nodes)
        edges = np.sort(edges[seen[self._source[edges]]])
        place = np.empty(seen.size, np.int64)
        place[nodes] = np.arange(nodes.size)
        chosen, columns = torch.from_numpy(nodes), torch.from_numpy(edges)
        store = self.data._store
        data = HierarchicalData(edge_index=torch.from_numpy(place)[store["edge_index"][:, columns]])
        for names, rows in ((("x", "level1_centre_distance"), chosen), (("edge_attr", "edge_weight"), columns)):
            for name in names:
                if store.get(name) is not None:
                    data[name] = store[name][rows]
        data.num_nodes = nodes.size
        return nodes, len(own), data

    def _arriving(self, nodes: Ints) -> Ints:
        """Return the edges that arrive at nodes."""
        start, count = self._start[nodes], self._start[nodes + 1] - self._start[nodes]
        shift = start - (np.cumsum(count) - count)
        edges: Ints = self._edge[np.repeat(shift, count) + np.arange(count.sum())]
        return edges

    def __repr__(self) -> str:
        return f"Parts({len(self.cluster)} nodes, {self.count}, halo={self.halo})"
