"""Benchmarks with splits, from the published files or from a rebuild on this machine, behind one interface."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data
from typing_extensions import Unpack

from ghr.checks import check_choice, check_whole
from ghr.datasets.storage.cached import CachedDataset, Preparation
from ghr.datasets.storage.hub import check_archive, download, hub_address, load_tensors


class SourcedDataset(CachedDataset):
    """One split of a benchmark, downloaded (``source="hub"``) or rebuilt on this machine (``source="generate"``).

    Published files are kept in ``root/hub``; a file put there by hand is used without a connection. A subclass
    provides :attr:`sizes`, :meth:`published_file`, :meth:`convert` and :meth:`rebuild` besides what every cached
    dataset does.

    Args:
        root: Folder of the cache.
        split: A name in :attr:`sizes`.
        source: ``"hub"`` or ``"generate"``.
        num_graphs: Graphs of this split; the first ones of the published file. By default all of the published file,
            or as many as :attr:`sizes` says.
        seed: Of a rebuilt set.
        workers: Processes that rebuild; the graphs do not depend on it.
        **preparation: ``transform``, ``pre_transform`` and ``pre_filter`` as in :class:`CachedDataset`.
    """

    sources: ClassVar[tuple[str, ...]] = ("hub", "generate")
    sizes: ClassVar[Mapping[str, int]]
    offline: ClassVar[str] = "source='generate' rebuilds the benchmark on this machine"

    def __init__(
        self,
        root: str | Path,
        split: str,
        source: str,
        *,
        num_graphs: int | None = None,
        seed: int = 0,
        workers: int = 1,
        **preparation: Unpack[Preparation],
    ) -> None:
        self.split = check_choice("split", split, self.sizes)
        self.source = check_choice("source", source, self.sources)
        self.seed = check_whole("seed", seed, 0)
        refuse_choices(source, seed=self.seed or None)
        self.num_graphs = self.default_size() if num_graphs is None else check_whole("num_graphs", num_graphs)
        self.workers = check_whole("workers", workers)
        super().__init__(root, **preparation)

    def default_size(self) -> int | None:
        """Return how many graphs there are by default; ``None`` for as many as are found."""
        return self.sizes[self.split] if self.source == "generate" else None

    def options(self) -> dict[str, Any]:
        """Return every option that changes the content."""
        names = ("split", "source", "num_graphs") + (("seed",) if self.source == "generate" else ())
        return {name: getattr(self, name) for name in names}

    def published_file(self) -> tuple[str, str]:
        """Return the repository on the hub and the file in it."""
        raise NotImplementedError

    def convert(self, graphs: Mapping[int, dict[str, Tensor]]) -> list[Data]:
        """Turn graphs of the published file, by their place in it, into the graphs of this dataset."""
        raise NotImplementedError

    def rebuild(self) -> list[Data]:
        """Make the graphs on this machine."""
        raise NotImplementedError

    def generate(self) -> list[Data]:
        """Make the graphs from the chosen source."""
        return self.rebuild() if self.source == "generate" else self.read_published()

    def read_published(self) -> list[Data]:
        """Download the published file, unless it is there, and read the graphs of this split."""
        repository, file = self.published_file()
        path = Path(self.root, "hub", repository, file)
        try:
            download(hub_address(repository, file), path, check=check_archive)
        except ConnectionError as error:
            raise ConnectionError(
                f"{error} Without a connection, {self.offline}; or put the file at {path} by hand."
            ) from error
        graphs = load_tensors(path)
        return self.convert({place: graphs[place] for place in self.choose(len(graphs))})

    def choose(self, published: int) -> range:
        """Return the places of this dataset's graphs among the published ones: the first, as many as asked for."""
        return self.take(range(published))

    def take(self, places: range) -> range:
        """Return as many of the places as graphs were asked for.

        Raises:
            ValueError: Where there are not so many.
        """
        if self.num_graphs is not None and self.num_graphs > len(places):
            raise ValueError(
                f"num_graphs is {self.num_graphs}, but the split {self.split!r} has {len(places)} published graphs."
            )
        return places[: self.num_graphs]

    def numbers(self) -> range:
        """Return the numbers of the graphs to rebuild, from 0."""
        return range(self.sizes[self.split] if self.num_graphs is None else self.num_graphs)


def refuse_choices(source: str, **given: Any) -> None:
    """Raise a ValueError if anything that a rebuilt set has a choice of, ``None`` otherwise, was given for the hub."""
    chosen = [name for name, value in given.items() if value is not None]
    if source == "hub" and chosen:
        names = " and ".join(chosen)
        raise ValueError(f"source='hub' gives the published graphs, which have no choice of {names}; leave it out.")


def expect(graph: Mapping[str, Tensor], index: int, **columns: int | None) -> dict[str, Tensor]:
    """Return the named tensors of a published graph as matrices, or raise a ValueError that says what is amiss.

    Args:
        graph: A graph of :func:`~ghr.datasets.storage.hub.load_tensors`.
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
