"""How far the farthest of a node's surroundings is, on road networks of any size."""

import math

import numpy as np
import torch
from numba import prange
from numpy.typing import NDArray
from torch import Tensor

from ghr.jit import compiled, parallel_exact
from ghr.threads import check_threads, start_threads

BLOCKS = 64  # nodes are taken in this many blocks, each with its own working space


def hop_eccentricity(edge_index: Tensor, num_nodes: int, weight: Tensor | None = None, *, hops: int = 16) -> Tensor:
    r"""Return for every node the largest distance to a node that is at most ``hops`` edges away.

    .. math::
        \epsilon_k(v) = \max_{u \in B_k(v)} d_{B_k(v)}(v, u)

    where :math:`B_k(v)` are the nodes within :math:`k` edges of :math:`v` and :math:`d_B` is the length of the shortest
    path that stays inside :math:`B`. This is what City-Networks computes (with :math:`k = 16`): a way round through
    roads outside :math:`B_k(v)` does not count even if it is shorter.

    Args:
        edge_index: Edges :math:`(2, E)`, every one in both directions; of parallel edges the shortest counts.
        num_nodes: Number of nodes.
        weight: Length of every edge :math:`(E)`, not negative; by default 1.
        hops: Size of the surroundings, in edges.

    Shapes:
        - **output:** :math:`(N)` in 64 bits, 0 for a node without edges
    """
    if weight is None:
        weight = torch.ones(edge_index.size(1), dtype=torch.float64)
    if weight.shape != edge_index.shape[1:]:
        raise ValueError(f"One weight per edge is needed; got {tuple(weight.shape)} for {edge_index.size(1)} edges.")
    if weight.numel() and not bool(((weight >= 0) & (weight < math.inf)).all()):
        raise ValueError("Weights must be finite and not negative.")
    if hops < 0:
        raise ValueError(f"hops must be at least 0; got {hops}.")
    check_threads("hop_eccentricity")
    start_threads(kernels=True)
    source, target = edge_index.cpu().numpy()
    order = np.argsort(source, kind="stable")
    start = np.zeros(num_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(source, minlength=num_nodes), out=start[1:])
    length = weight.detach().cpu().double().numpy()[order]
    result = np.zeros(num_nodes)
    _eccentricities(start, target[order].astype(np.int64), length, hops, min(BLOCKS, max(1, num_nodes)), result)
    return torch.from_numpy(result)


def quantile_classes(values: Tensor, classes: int = 10) -> Tensor:
    """Return the class of every value when the sorted values are cut into equal runs, as City-Networks does.

    A run has ``len(values) // classes + 1`` values and the last one what is left. Among equal values the order in the
    input decides, which the published labels leave open.

    Args:
        values: Numbers :math:`(N)`.
        classes: Number of runs.
    """
    rank = torch.empty_like(values, dtype=torch.long)
    rank[torch.sort(values, stable=True).indices] = torch.arange(values.numel())
    return rank // (values.numel() // classes + 1)


def label_agreement(
    edge_index: Tensor, labels: Tensor, weight: Tensor | None = None, *, hops: int = 16, classes: int = 10
) -> dict[str, float]:
    """Compare published classes with classes computed here from the roads, on any road graph.

    Args:
        edge_index: Edges :math:`(2, E)` in both directions.
        labels: Published class of every node :math:`(N)`.
        weight: Length of every edge; by default 1.
        hops: Size of the surroundings, in edges.
        classes: Number of classes.

    Returns:
        Share of nodes with the same class (``"equal"``) and at most one class away (``"near"``).
    """
    found = quantile_classes(hop_eccentricity(edge_index, labels.numel(), weight, hops=hops), classes)
    off = (found - labels.reshape(-1).cpu().long()).abs()
    return {"equal": float((off == 0).double().mean()), "near": float((off <= 1).double().mean())}


@parallel_exact
def _eccentricities(
    start: NDArray[np.int64],
    target: NDArray[np.int64],
    length: NDArray[np.float64],
    hops: int,
    blocks: int,
    result: NDArray[np.float64],
) -> None:
    num_nodes = start.size - 1
    for block in prange(blocks):
        near = np.full(num_nodes, -1, dtype=np.int64)  # hops from the node at hand, -1 beyond its surroundings
        distance = np.full(num_nodes, np.inf)
        members = np.empty(num_nodes, dtype=np.int64)
        pushes = np.empty(16, dtype=np.int64)
        keys = np.empty(16, dtype=np.float64)
        for node in range(block * num_nodes // blocks, (block + 1) * num_nodes // blocks):
            count = _surroundings(start, target, hops, node, near, members)
            pushes, keys = _shortest(start, target, length, node, near, distance, pushes, keys)
            farthest = 0.0
            for i in range(count):
                farthest = max(farthest, distance[members[i]])
                distance[members[i]] = np.inf
                near[members[i]] = -1
            result[node] = farthest


@compiled
def _surroundings(
    start: NDArray[np.int64],
    target: NDArray[np.int64],
    hops: int,
    node: int,
    near: NDArray[np.int64],
    members: NDArray[np.int64],
) -> int:
    """Breadth first from a node to at most that many hops; returns how many nodes are there."""
    members[0], near[node], count, at = node, 0, 1, 0
    while at < count:
        here = members[at]
        at += 1
        if near[here] == hops:
            break
        for edge in range(start[here], start[here + 1]):
            other = target[edge]
            if near[other] < 0:
                near[other] = near[here] + 1
                members[count] = other
                count += 1
    return count


@compiled
def _shortest(
    start: NDArray[np.int64],
    target: NDArray[np.int64],
    length: NDArray[np.float64],
    node: int,
    near: NDArray[np.int64],
    distance: NDArray[np.float64],
    heap: NDArray[np.int64],
    keys: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Dijkstra inside the surroundings, with a binary heap in two arrays that grow as needed and are handed back."""
    distance[node], heap[0], keys[0], size = 0.0, node, 0.0, 1
    while size:
        here, key = heap[0], keys[0]
        size -= 1
        moved, value, hole = heap[size], keys[size], 0
        while True:  # the last entry sinks from the top
            child = 2 * hole + 1
            if child >= size:
                break
            if child + 1 < size and keys[child + 1] < keys[child]:
                child += 1
            if keys[child] >= value:
                break
            heap[hole], keys[hole] = heap[child], keys[child]
            hole = child
        heap[hole], keys[hole] = moved, value
        if key > distance[here]:
            continue
        for edge in range(start[here], start[here + 1]):
            other = target[edge]
            reached = key + length[edge]
            if near[other] >= 0 and reached < distance[other]:
                distance[other] = reached
                if size == heap.size:
                    heap, keys = np.concatenate((heap, heap)), np.concatenate((keys, keys))
                hole = size
                size += 1
                while hole > 0 and keys[(hole - 1) // 2] > reached:  # the new entry rises
                    heap[hole], keys[hole] = heap[(hole - 1) // 2], keys[(hole - 1) // 2]
                    hole = (hole - 1) // 2
                heap[hole], keys[hole] = other, reached
    return heap, keys
