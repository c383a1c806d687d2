"""Edges and clusters sorted by node, built once per batch for the kernels."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ghr.ops.chunks import chunk_count, separate_size
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


def sort_edges(
    edge_index: Tensor, num_nodes: int, num_sources: int | None = None, *, leaving: bool = True
) -> Neighbours:
    """Sort edges by target and by source, in linear time.

    Args:
        edge_index: Edges :math:`(2, E)`.
        num_nodes: Number of nodes.
        num_sources: Number of nodes that edges leave, where these are others than those they arrive at.
        leaving: Whether to sort by source too; without, ``out_start``, ``out_target`` and ``out_edge`` are empty.
    """
    source, target = edge_index.numpy()
    start, order = _sorted(target, num_nodes, "target")
    senders = num_nodes if num_sources is None else num_sources
    _check_range(source, senders, "source")
    source, nothing = source[order], np.empty(0, np.int64)
    out_start, out_target, out_edge = sort_leaving(start, source, senders) if leaving else (nothing,) * 3
    chunks = chunk_count(num_nodes)
    parts, alone = np.arange(chunks + 1) * num_nodes // chunks, False
    if num_sources is None:
        separate = segments.separate_parts(start, source, separate_size(num_nodes))
        even = int(np.diff(separate).max(initial=0)) <= num_nodes // 4
        parts, alone = separate if even else parts, even or chunks == 1
    arrays = (start, source, order, out_start, out_target, out_edge, parts, np.array(alone))
    return Neighbours(*map(torch.from_numpy, arrays))


def list_edges(neighbours: Neighbours) -> Tensor:
    """Return the edges as they are sorted by target, :math:`(2, E)`."""
    return torch.stack([neighbours.source, torch.repeat_interleave(neighbours.start.diff())])


def sort_members(assignment: Tensor, num_clusters: int) -> Members:
    """Sort nodes by cluster, in linear time."""
    return Members(*map(torch.from_numpy, _sorted(assignment.numpy(), num_clusters, "cluster")))


def sort_leaving(start: Array, source: Array, num_sources: int) -> tuple[Array, Array, Array]:
    """Return ``out_start``, ``out_target`` and ``out_edge`` of edges that are sorted by target."""
    out_start, out_edge = segments.sort_by(source, num_sources)
    target = np.repeat(np.arange(start.size - 1), np.diff(start))
    return out_start, target[out_edge], out_edge


def _sorted(key: Array, count: int, name: str) -> tuple[Array, Array]:
    """Sort by a key after seeing that it is in range: kernels look at what it points to without asking again."""
    _check_range(key, count, name)
    return segments.sort_by(key, count)


def _check_range(key: Array, count: int, name: str) -> None:
    if key.size and not 0 <= key.min() <= key.max() < count:
        raise ValueError(f"Every {name} must lie between 0 and {count - 1}; they run from {key.min()} to {key.max()}.")


def as_array(tensor: Tensor) -> Array:
    """Return a tensor's memory as an array, for kernels to read or fill."""
    return (tensor.detach() if tensor.requires_grad else tensor).numpy()


def as_arrays(*tensors: Tensor) -> list[Array]:
    """Return arrays on the memory of tensors."""
    return [as_array(tensor) for tensor in tensors]
