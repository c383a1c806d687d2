"""A benchmark: where its graphs come from, what is published about it, and how a model is trained on it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor
from torch_geometric.data import Data

from ghr.checks import check_choice, check_names, check_whole
from ghr.datasets.splits import Splits, make_splits
from ghr.datasets.storage.cached import CachedDataset
from ghr.datasets.task import Task

LEAST_GRAPHS = 10  # of the training split, so that the others have one each


class TextTable(NamedTuple):
    """Rows of text under a header."""

    header: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Benchmark:
    """One benchmark: how to have it, how to train on it, and what it should look like.

    Marks say how sure a published value is: [S] stated by the benchmark's own publication or code, [V] verified by
    simulation, [I] inferred, [2] from a secondary summary only, [?] unknown.

    Args:
        title: Its name for people.
        summary: What is predicted, in one line.
        task: What is asked of its graphs by default; options of the data may change the unit.
        dataset: ``(root, *, split, source, num_graphs, workers, pre_transform, **options) -> dataset``.
        sizes: Graphs in every split by default.
        comparable: Whether numbers on the rebuilt set can stand beside published ones.
        sources: Where its graphs can come from, the preferred one first; with ``"generate"`` it is ready offline.
        options: Names of further options of the data.
        files: For some options of the data, which files of the user the graphs come from: their places in the data
            folder and the SHA-256 of each.
        training: How it is trained on, as fields of :class:`~ghr.train.TrainConfig`.
        suggested: Options for models that take them.
        published: For rows of the table of statistics, the published value with its mark.
        report: More tables about the training split.
        distance: For a graph, how far every row is in hops (-1 where it does not count).
        in_range: Largest distance in training with some options of the data, where it is capped.
        one_graph: Whether there is one graph, whose masks are the splits.
    """

    title: str
    summary: str
    task: Task
    dataset: Callable[..., CachedDataset]
    sizes: Mapping[str, int]
    comparable: str
    sources: tuple[str, ...] = ("generate", "hub")
    options: tuple[str, ...] = ()
    files: Callable[[Mapping[str, Any]], Mapping[str, str]] | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    suggested: Mapping[str, Any] = field(default_factory=dict)
    published: Mapping[str, str] = field(default_factory=dict)
    report: Callable[[Any], list[TextTable]] | None = None
    distance: Callable[[Data], Tensor] | None = None
    in_range: Callable[[Mapping[str, Any]], int] | None = None
    one_graph: bool = False

    def load(
        self,
        root: str | Path,
        split: str,
        *,
        num_graphs: int | None = None,
        source: str | None = None,
        workers: int = 1,
        pre_transform: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> CachedDataset:
        """Return one split; of a benchmark of one graph the whole of it.

        Args:
            root: Folder of the cache.
            split: A name in :attr:`sizes`.
            num_graphs: Graphs of this split, if not all.
            source: One of :attr:`sources`; by default the first.
            workers: Processes that generate; the graphs do not depend on it.
            pre_transform: Applied once, before the graphs are stored.
            **options: Those in :attr:`options`.
        """
        check_choice("split", split, self.sizes)
        check_names(self.title, options, self.options)
        source = self.sources[0] if source is None else source
        if source not in self.sources:
            raise ValueError(f"{self.title} has no source {source!r}; it has {', '.join(self.sources)}.")
        if self.one_graph and num_graphs is not None:
            raise ValueError(f"{self.title} is a single graph; its number cannot be chosen, leave it out.")
        return self.dataset(
            root,
            split=split,
            source=source,
            num_graphs=num_graphs,
            workers=workers,
            pre_transform=pre_transform,
            **options,
        )

    def splits(
        self,
        root: str | Path,
        *,
        graphs: int | Mapping[str, int] | None = None,
        source: str | None = None,
        workers: int = 1,
        pre_transform: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> Splits:
        """Return all splits.

        Args:
            root: Folder of the cache.
            graphs: Training graphs, at least 10, with validation and test in proportion; or a number for every split;
                or ``None`` for all.
            source: One of :attr:`sources`; by default the first.
            workers: Processes that generate; the graphs do not depend on it.
            pre_transform: Applied once, before the graphs are stored.
            **options: Those in :attr:`options`.
        """
        counts = self.share_out(graphs)
        chosen: dict[str, Any] = {"source": source, "workers": workers, "pre_transform": pre_transform, **options}
        description = {
            "title": self.title,
            "source": source or self.sources[0],
            "graphs": counts,
            "options": {name: str(value) if isinstance(value, Path) else value for name, value in options.items()},
        }
        if self.one_graph:
            dataset = self.load(root, "train", **chosen)
            divided = make_splits(dataset, dataset.task)
            return Splits(divided.task, divided.train, divided.val, divided.test, description)
        parts = {split: self.load(root, split, num_graphs=counts.get(split), **chosen) for split in self.sizes}
        return Splits(
            parts["train"].task,
            parts["train"],
            parts["val"],
            parts["test"],
            description,
            self.distance,
            None if self.in_range is None else self.in_range(options),
        )

    def share_out(self, graphs: int | Mapping[str, int] | None) -> dict[str, int]:
        """Return the number of graphs of every split that has not all of them; see :meth:`splits`."""
        if graphs is None:
            return {}
        if self.one_graph:
            raise ValueError(f"{self.title} is a single graph; the number of graphs cannot be chosen, leave it out.")
        if isinstance(graphs, Mapping):
            check_names(self.title, graphs, self.sizes)
            return {split: check_whole(f"The number of {split} graphs", count) for split, count in graphs.items()}
        train = check_whole("graphs, the number of training graphs,", graphs, LEAST_GRAPHS)
        return {split: max(1, round(train * size / self.sizes["train"])) for split, size in self.sizes.items()}
