"""Graphs that have tensors in common, as lattices of one size have their edges: one tensor for all of them."""

import hashlib
import weakref
from collections.abc import Iterable
from copy import copy
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor
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


class _Kept(NamedTuple):
    """A piece, the tensor that it was made of, what was added, and how often all of these were changed until then."""

    of: "weakref.ref[Tensor]"
    added: list[int]
    versions: list[int]
    piece: Piece


class Pieces:
    """What a batch made of a tensor that all its graphs share, for the next batch like it.

    Nothing is remembered once the tensor is gone, or after it or what was made of it was changed in place.
    """

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}

    def find(self, shared: Tensor, added: list[int]) -> Piece | None:
        """Return what was made of a tensor with these shifts; ``None`` if that is nothing, or not the same any more."""
        kept = self._kept.get(id(shared))
        if kept is None or kept.of() is not shared or kept.added != added:
            return None
        return kept.piece if kept.versions == _versions(shared, kept.piece) else None

    def keep(self, shared: Tensor, added: list[int], piece: Piece) -> None:
        """Remember what was made of a tensor, the last only."""
        if any(tensor.is_inference() for tensor in (shared, *piece)):  # these do not know whether they were changed
            return
        place = id(shared)
        of = weakref.ref(shared, lambda gone: self._forget(place, gone))
        self._kept[place] = _Kept(of, added, _versions(shared, piece), piece)

    def _forget(self, place: int, gone: "weakref.ref[Tensor]") -> None:
        if (kept := self._kept.get(place)) is not None and kept.of is gone:
            del self._kept[place]


def _versions(shared: Tensor, piece: Piece) -> list[int]:
    return [tensor._version for tensor in (shared, *piece)]
