"""A user's own graphs: what was read, what is asked of them, and what they are called."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from torch_geometric.data import Data

from ghr.datasets.folders.content import Content, build_graphs, measure
from ghr.datasets.folders.numbering import Names
from ghr.datasets.folders.schema import Schema, count_codes
from ghr.datasets.splits import Examples, Splits, make_splits
from ghr.datasets.task import Task


class CodedGraphs(list[Data]):
    """Graphs that know how many codes their columns have: a word may be known that none of them has.

    Args:
        graphs: The graphs.
        schema: What their columns mean.

    Attributes:
        node_codes: Number of codes of every column of node features; ``None`` where they are real.
        edge_codes: The same of edge features.
    """

    def __init__(self, graphs: Examples, schema: Schema) -> None:
        super().__init__(graphs[number] for number in range(len(graphs)))
        self.node_codes = count_codes(schema.nodes)
        self.edge_codes = count_codes(schema.edges)


@dataclass(frozen=True)
class FolderData:
    """Graphs of a folder or a file, as :func:`~ghr.datasets.folders.read_folder` returns them.

    Args:
        graphs: The graphs. Their features are in the user's units, or standardised as the schema says that was given.
        task: What is asked of them; ``None`` where there is no target.
        schema: What the columns mean.
        names: What graphs, nodes and edges are called.
        summary: What was found out, in sentences for people.
        parts: For every graph ``train``, ``val`` or ``test``, or nothing, where a column says so.
        content: The columns as numbers.
        source: Where the graphs come from.
    """

    graphs: list[Data]
    task: Task | None
    schema: Schema
    names: list[Names]
    summary: list[str]
    parts: Sequence[str] | None
    content: Content = field(repr=False)
    source: str

    def splits(self, seed: int = 0) -> Splits:
        """Divide the graphs, and standardise the features by those of training.

        A column ``split`` is honoured; what it leaves open is drawn by the seed. Real features of nodes and edges lose
        their mean over the graphs of training and are divided by their deviation; codes, columns of zeros and ones and
        columns that are constant stay as they are, and so do targets.

        Args:
            seed: Of what is drawn.

        Returns:
            The splits. Their description holds the ``schema`` with these means and deviations: read the graphs to
            predict with it.
        """
        if self.task is None:
            raise ValueError(
                f"{self.source} was read without a target, so there is nothing to learn; name one (target, --target)."
            )
        drawn = self._divide(self.graphs, self.task, seed)
        schema = measure(self.content, self.schema, self._find_training(drawn))
        splits = self._divide(build_graphs(self.content, schema), self.task, seed)
        description = {
            **splits.description,
            "source": Path(self.source).resolve().name,
            "seed": seed,
            "schema": schema.describe(),
        }
        return replace(splits, train=CodedGraphs(splits.train, schema), description=description)

    def _divide(self, graphs: list[Data], task: Task, seed: int) -> Splits:
        parts = self.parts or ["train"] * len(graphs)
        # A graph of which nothing is known teaches nothing, and alone it could not choose a model.
        known = [bool(task.counted(graph, task.target(graph)).any()) for graph in graphs]
        given = {
            name: [graph for graph, part, has in zip(graphs, parts, known, strict=True) if has and part == name]
            for name in ("train", "val", "test")
        }
        if not given["train"]:
            raise ValueError(f"No graph of {self.source} that is for training has a target.")
        if not given["val"]:
            return make_splits(given["train"], task, test=given["test"] or None, seed=seed)
        description = {"graphs": len(graphs), "divided": "by the column split"}
        return Splits(task, given["train"], given["val"], given["test"] or None, description)

    def _find_training(self, drawn: Splits) -> list[int]:
        """Return the numbers of the graphs that training sees."""
        if "train_mask" in self.content.masks:  # a split is a view of every graph that has a row in it
            return [number for number, graph in enumerate(self.graphs) if bool(graph["train_mask"].any())]
        train = {id(drawn.train[number]) for number in range(len(drawn.train))}
        found = [number for number, graph in enumerate(self.graphs) if id(graph) in train]
        return found or list(range(len(self.graphs)))  # none where the rows of a single graph are divided
