"""Benchmarks with two sources behind one interface: the published files, or a local rebuild of them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from ghr.datasets.cached import CachedDataset
from ghr.datasets.hub import check_archive, download, hub_address, load_tensors
from ghr.datasets.options import one_of, whole


class SourcedDataset(CachedDataset):
    """A benchmark that is downloaded (``source="hub"``) or rebuilt on this machine (``source="generate"``).

    Published files are kept in ``root/hub``; a file put there by hand is used without a connection. A subclass
    provides :meth:`published_file`, :meth:`convert` and :meth:`rebuild` besides what every cached dataset does.

    Args:
        root: Folder of the cache.
        source: ``"hub"`` or ``"generate"``.
        workers: Processes that rebuild; the graphs do not depend on it.
        transform: Applied at every access.
        pre_transform: Applied once, before the graphs are stored.
        pre_filter: Keeps only the graphs for which it is true.
    """

    sources: ClassVar[tuple[str, ...]] = ("hub", "generate")
    offline: ClassVar[str] = "source='generate' rebuilds the benchmark on this machine"

    def __init__(
        self,
        root: str | Path,
        source: str,
        *,
        workers: int = 1,
        transform: Callable[[Any], Any] | None = None,
        pre_transform: Callable[[Any], Any] | None = None,
        pre_filter: Callable[[Any], bool] | None = None,
    ) -> None:
        one_of("source", source, self.sources)
        self.source = source
        self.workers = whole("workers", workers, 1)
        super().__init__(root, transform=transform, pre_transform=pre_transform, pre_filter=pre_filter)

    def published_file(self) -> tuple[str, str]:
        """Return the repository on the hub and the file in it."""
        raise NotImplementedError

    def convert(self, graphs: list[dict[str, Tensor]]) -> list[Data]:
        """Turn the content of the published file into the graphs of this dataset."""
        raise NotImplementedError

    def rebuild(self) -> list[Data]:
        """Make the graphs on this machine."""
        raise NotImplementedError

    def generate(self) -> list[Data]:
        """Make the graphs from the chosen source."""
        if self.source == "generate":
            return self.rebuild()
        repository, file = self.published_file()
        path = Path(self.root, "hub", repository, file)
        try:
            download(hub_address(repository, file), path, check=check_archive)
        except ConnectionError as error:
            raise ConnectionError(
                f"{error} Without a connection, {self.offline}; or put the file at {path} by hand."
            ) from error
        return self.convert(load_tensors(path))


def expect(graph: Mapping[str, Tensor], index: int, **columns: int | None) -> dict[str, Tensor]:
    """Return the named tensors of a published graph as matrices, or raise a ValueError that says what is amiss.

    Args:
        graph: A graph of :func:`~ghr.datasets.hub.load_tensors`.
        index: Its number, for the message.
        columns: Number of columns of every tensor that must be there; a single one may come as a vector.
    """
    found = {}
    for name, width in columns.items():
        value = graph.get(name)
        if value is None:
            raise ValueError(f"Graph {index} of the published file has no {name!r}, only {', '.join(sorted(graph))}.")
        if value.dim() == 1 and width == 1:
            value = value.unsqueeze(1)
        if value.dim() != 2 or width not in (None, value.size(1)):
            raise ValueError(
                f"{name!r} of graph {index} of the published file has the shape {tuple(value.shape)}; "
                f"a matrix with {'any number of' if width is None else width} columns was expected."
            )
        found[name] = value
    return found


def both_directions(edge_index: Tensor) -> Tensor:
    """Return every edge in both directions, once each, sorted."""
    edges = edge_index.long()
    both: Tensor = torch.unique(torch.cat([edges, edges.flip(0)], dim=1), dim=1)
    return both
