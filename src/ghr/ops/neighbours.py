"""Edges and clusters sorted by node, built once per batch for the kernels."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ghr.ops.chunks import PART, chunk_count
from ghr.ops.kernels import segments
from ghr.ops.kernels.types import Array


class Neighbours(NamedTuple):
    """Edges sorted by the node they arrive at, and again by the node they leave.

    Attributes:
        start: Where the edges that arrive at each node start :math:`(N + 1)`.
        source: Node that each of them comes from :math:`(E)`.
        order: Column of ``edge_index`` that each of them was :math:`(E)`.
        out_start: Where the edges that leave each node start :math:`(N + 1)`.
        out_target: Node that each of those goes to :math:`(E)`.
        out_edge: Place of each of those among the arriving edges :math:`(E)`.
        parts: Where parts of the nodes start that kernels share out among threads, and the number of nodes.
        alone: Whether no edge leads from part to part, as between graphs of a batch; a single truth value.
    """

    start: Tensor
    source: Tensor
    order: Tensor
    out_start: Tensor
    out_target: Tensor
    out_edge: Tensor
    parts: Tensor
    alone: Tensor


class Members(NamedTuple):
    """Nodes sorted by cluster.

    Attributes:
        start: Where the members of each cluster start :math:`(C + 1)`.
        member: The nodes :math:`(N)`.
    """

    start: Tensor
    member: Tensor


def sort_edges(edge_index: Tensor, num_nodes: int, num_sources: int | None = None) -> Neighbours:
    """Sort edges by target and by source, in linear time.

    Args:
        edge_index: Edges :math:`(2, E)`.
        num_nodes: Number of nodes.
        num_sources: Number of nodes that edges leave, where these are others than those they arrive at.
    """
    source, target = edge_index.numpy()
    start, order = _sorted(target, num_nodes, "target")
    source, target = source[order], target[order]
    out_start, out_edge = _sorted(source, num_nodes if num_sources is None else num_sources, "source")
    out_target = target[out_edge]
    chunks = chunk_count(num_nodes)
    parts, alone = np.arange(chunks + 1) * num_nodes // chunks, False
    if num_sources is None:
        separate = segments.separate_parts(start, source, PART)
        alone = num_nodes < 2 * PART or int(np.diff(separate).max(initial=0)) <= num_nodes // 4
        parts = separate if alone else parts
    arrays = (start, source, order, out_start, out_target, out_edge, parts, np.array(alone))
    return Neighbours(*map(torch.from_numpy, arrays))


def sort_members(assignment: Tensor, num_clusters: int) -> Members:
    """Sort nodes by cluster, in linear time."""
    return Members(*map(torch.from_numpy, _sorted(assignment.numpy(), num_clusters, "cluster")))


def _sorted(key: Array, count: int, name: str) -> tuple[Array, Array]:
    """Sort by a key after seeing that it is in range: kernels look at what it points to without asking again."""
    if key.size and not 0 <= key.min() <= key.max() < count:
        raise ValueError(f"Every {name} must lie between 0 and {count - 1}; they run from {key.min()} to {key.max()}.")
    return segments.sort_by(key, count)


def as_array(tensor: Tensor) -> Array:
    """Return a tensor's memory as an array, for kernels to read or fill."""
    return tensor.detach().numpy()
