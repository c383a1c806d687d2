"""A run in its directory: what was asked, what came out, and the model to go on with."""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from ghr.datasets.splits import Examples, view_split
from ghr.datasets.task import Task
from ghr.models.base import GraphModel
from ghr.models.load import load
from ghr.progress import track
from ghr.train.directory import RunDirectory, check_format, read_json
from ghr.train.evaluate import evaluate, predict
from ghr.view import Page, Subject, make_page

TEST_SCORES = ("in_range", "out_of_range")  # what a page says beside the validation


class Run:
    """What a training left, or is still working on.

    Args:
        path: The run directory.
        task: The task, where its loss or metric is one of your own, which a file cannot hold.
        model: A model like the one that was trained, where it is of a class or has parts of your own, which a file
            cannot hold either; it gets the best weights.

    Example:
        >>> Run("runs/nothing")
        Traceback (most recent call last):
        FileNotFoundError: runs/nothing is not a run directory: it has no config.json.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, task: Task | None = None, model: GraphModel | None = None
    ) -> None:
        self.path = Path(path)
        file = self.path / "config.json"
        if not file.is_file():
            raise FileNotFoundError(f"{self.path} is not a run directory: it has no config.json.")
        self.config = read_json(file)
        check_format(self.config, self.path)
        self._task = task
        self._model = model

    @property
    def result(self) -> dict[str, Any] | None:
        """The content of ``result.json``; ``None`` while the run is not finished."""
        file = self.path / "result.json"
        return read_json(file) if file.exists() else None

    @property
    def task(self) -> Task:
        """What was asked of the data."""
        return Task.from_description(self.config["task"]) if self._task is None else self._task

    @property
    def has_weights(self) -> bool:
        """Whether there are weights; a run that was kept for its numbers has none."""
        return RunDirectory(self.path).best.exists()

    @cached_property
    def model(self) -> GraphModel:
        """The model with the best weights so far, in evaluation mode."""
        directory = RunDirectory(self.path)
        best = directory.read_best()  # says it where there are none yet
        if self._model is None:
            return load(self.path)
        directory.load_best(self._model, best)
        return self._model.eval()

    def evaluate(
        self, graphs: Data | Examples, *, batch_size: int = 64, parts: int | None = None, **loops: Any
    ) -> float:
        """Return the score on graphs with targets, by the metric of the task.

        Args:
            graphs: A graph, or many. Of a graph with a ``test_mask`` only the test rows count.
            batch_size: Graphs predicted at once.
            parts: Predict nodes in so many parts of every graph, which takes less memory; by default in as many as in
                training.
            **loops: Numbers for the loops of the model, such as ``steps=8``.
        """
        test = [view_split(graph, self.task, "test") for graph in _listed(graphs)]
        return evaluate(
            self.model, self._prepare(test), self.task, batch_size=batch_size, parts=self._parts(parts), **loops
        )

    def predict(
        self, graphs: Data | Examples, *, batch_size: int = 64, parts: int | None = None, **loops: Any
    ) -> list[Tensor]:
        """Return one prediction per graph; the graphs need no targets.

        A prediction has a row for each node or edge of the graph, or one for the graph; for classes, their scores.
        Arguments as in :meth:`evaluate`.
        """
        prepared = self._prepare(_listed(graphs))
        return predict(self.model, prepared, self.task, batch_size=batch_size, parts=self._parts(parts), **loops)

    def view(
        self,
        graph: Data,
        *,
        beside: "Run | None" = None,
        title: str = "",
        hops: Tensor | None = None,
        in_range: int | None = None,
        nodes: Sequence[int] | None = None,
        channels: Sequence[int | str] | None = None,
        output: int = 0,
        **loops: Any,
    ) -> Page:
        """Return a page that steps through what the model does on a graph; a notebook shows it, ``save`` writes it.

        Args:
            graph: One graph; without targets no errors are shown.
            beside: Another run, to be seen side by side on the same graph.
            title: Of the page; by default the names of the runs.
            hops: How far every node is, negative where it does not count, for the error by distance.
            in_range: The largest distance in training, where there is a cap.
            nodes: On whose predictions the influence of all nodes is shown; by default on eight far apart.
            channels: What is shown of the states, at most eight: channels by number, and principal components as
                ``"pc1"``, ``"pc2"``; by default the first four components.
            output: Which number of a prediction is shown, where it has several.
            **loops: Numbers for the loops of the model, such as ``steps=8``; another run takes those that it has.
        """
        self.model.check_loops(loops)
        subjects = [self.subject(loops)]
        if beside is not None:
            subjects.append(beside.subject({name: loops[name] for name in beside.model.loops if name in loops}))
        return make_page(
            subjects,
            graph,
            self.task,
            title=title,
            hops=hops,
            in_range=in_range,
            nodes=nodes,
            channels=channels,
            output=output,
        )

    def subject(self, loops: Mapping[str, Any] | None = None) -> Subject:
        """Return the model with its name and its scores, as a page shows them.

        Args:
            loops: Numbers for its loops.
        """
        facts, result, unit = {}, self.result, self.task.score.unit
        if result is None:
            facts["training"] = "not finished"
        else:
            facts["training"] = f"{result['epochs']} epochs, {result['seconds']:.0f} s"
            scores = {f"validation {self.task.score.name}": result["best_val"]}
            scores |= {f"test, {name.replace('_', ' ')}": result["metrics"].get(name) for name in TEST_SCORES}
            facts |= {label: f"{score:.4g} {unit}" for label, score in scores.items() if score is not None}
        return Subject(self.path.absolute().name, self.model, loops or {}, facts)

    def _parts(self, given: int | None) -> int:
        return int(self.config["train"].get("parts", 1)) if given is None else given

    def _prepare(self, graphs: list[Data]) -> list[Data]:
        return [self.model.prepare(graph) for graph in track(graphs, "prepare", unit="graph")]

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r}, {'finished' if self.result else 'not finished'})"


def _listed(graphs: Data | Examples) -> list[Data]:
    return [graphs] if isinstance(graphs, Data) else [graphs[index] for index in range(len(graphs))]
