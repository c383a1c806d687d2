"""Graphs that have tensors in common, as lattices of one size have their edges: one tensor for all of them."""

import hashlib
from collections.abc import Iterable
from copy import copy
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary
from torch_geometric.data import Data, InMemoryDataset

from ghr.datasets.splits import Examples

# Of an attribute: all graphs behind each other, where each begins in it, and what is added to each.
Piece: TypeAlias = tuple[Tensor, Tensor, Tensor]


def list_shared(graphs: Examples) -> Examples:
    """Return a list of the graphs in which equal tensors are one, unless graphs may differ from look to look.

    A dataset that transforms its graphs at every look, or reads them from a disk, stays as it is.
    """
    same = graphs.transform is None if isinstance(graphs, InMemoryDataset) else isinstance(graphs, list)
    given: Examples = graphs
    return share_equal(given[index] for index in range(len(given))) if same else graphs


def share_equal(graphs: Iterable[Data]) -> list[Data]:
    """Return graphs in which equal tensors of one name are one tensor; those that are given stay as they are.

    That saves memory, and lets :class:`Pieces` remember what a batch makes of them.
    """
    known: dict[Any, Tensor] = {}
    return [_share(graph, known) for graph in graphs]


def _share(graph: Data, known: dict[Any, Tensor]) -> Data:
    """Return a graph with tensors that are known already, and get to know its others."""
    shared = {}
    for name, value in graph._store._mapping.items():
        if type(value) is Tensor and value.is_cpu and value.layout is torch.strided and not value.requires_grad:
            first = known.setdefault((name, value.dtype, value.shape, _digest(value)), value)
            if first is not value:
                shared[name] = first
    if shared:
        graph = copy(graph)
        graph._store._mapping.update(shared)
    return graph


def _digest(value: Tensor) -> bytes:
    plain = value.contiguous().reshape(-1)
    return hashlib.blake2b(plain.view(torch.uint8).numpy().data if plain.numel() else b"", digest_size=16).digest()


class Pieces:
    """What a batch made of a tensor that all its graphs share, for the next batch like it.

    Nothing is remembered once the tensor is gone, or after it or what was made of it was changed in place.
    """

    def __init__(self) -> None:
        self._kept: Any = WeakTensorKeyDictionary()

    def find(self, shared: Tensor, added: list[int]) -> Piece | None:
        """Return what was made of a tensor with these shifts; ``None`` if that is nothing, or not the same any more."""
        kept = self._kept.get(shared)
        if kept is None or kept[0] != added or kept[1] != _versions(shared, kept[2]):
            return None
        return kept[2]  # type: ignore[no-any-return]

    def keep(self, shared: Tensor, added: list[int], piece: Piece) -> None:
        """Remember what was made of a tensor, the last only."""
        if not any(tensor.is_inference() for tensor in (shared, *piece)):  # these do not know whether they were changed
            self._kept[shared] = (added, _versions(shared, piece), piece)


def _versions(shared: Tensor, piece: Piece) -> list[int]:
    return [tensor._version for tensor in (shared, *piece)]
