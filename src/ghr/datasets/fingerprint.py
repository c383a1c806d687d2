"""What tells one set of graphs from another."""

import hashlib
import re
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Dataset


def fingerprint(examples: Any) -> str:
    """Return a hash of all tensors of all graphs; the order of the graphs counts.

    Graphs of a dataset count as they are stored, and its transform by its repr: a transform that draws at random does
    not make other data of them. A dataset that knows the digest of its own file (``digest``) is not read again.

    Args:
        examples: A dataset of PyTorch Geometric or a sequence of graphs.
    """
    total = hashlib.sha256()
    if not isinstance(examples, Dataset):
        _add_graphs(total, (examples[index] for index in range(len(examples))))
        return total.hexdigest()[:32]
    places = [int(place) for place in examples.indices()]
    total.update(re.sub(r" at 0x[0-9a-fA-F]+", "", repr(examples.transform)).encode())
    digest = getattr(examples, "digest", None)
    if isinstance(digest, str):
        total.update(f"{digest} {places}".encode())
    else:
        _add_graphs(total, (examples.get(place) for place in places))
    return total.hexdigest()[:32]


def _add_graphs(total: Any, graphs: Iterable[Any]) -> None:
    for index, graph in enumerate(graphs):
        for name in sorted(graph.keys()):
            value = graph[name]
            total.update(f"{index} {name} ".encode())
            if isinstance(value, Tensor):
                plain = value.detach().cpu().contiguous()
                total.update(f"{plain.dtype} {tuple(plain.shape)} ".encode())
                total.update(plain.reshape(-1).view(torch.uint8).numpy().data if plain.numel() else b"")
            else:
                total.update(repr(value).encode())
