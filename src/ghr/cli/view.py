"""``ghr view``: a page that steps through what a model does on a graph."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import tyro
from torch import Tensor
from torch_geometric.data import Data

from ghr.checks import check_choice, check_names, check_whole
from ghr.cli.check import check_folder
from ghr.cli.eval import SPLITS, find_experiment
from ghr.cli.settings import KeyValue, format_settings, parse_settings
from ghr.cli.train import find_in_range
from ghr.datasets import BENCHMARKS
from ghr.datasets.folders import Schema, read_folder
from ghr.datasets.splits import Examples
from ghr.datasets.task import Task
from ghr.models.load import load
from ghr.train import Run
from ghr.view import Subject, make_page
from ghr.view.collect import MOST_FRAMES


class Chosen(NamedTuple):
    """A graph with what is asked of it and known of it."""

    graph: Data
    task: Task
    title: str
    hops: Tensor | None = None
    in_range: int | None = None


@dataclass
class View:
    """Write a page that steps through what a trained model does on a graph; with two runs, side by side.

    The page is one file that needs no server and nothing from elsewhere: open it in a browser.
    """

    runs: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="RUN [RUN2]")]
    """One run directory, or two; with --benchmark also a model that comes with the package."""
    graph: int = 0
    """Number of the graph in its split, or in the folder, from 0."""
    split: str = "test"
    """Which graphs: train, val or test."""
    steps: int | None = None
    """Steps of the models that have them, or layers of those that repeat one, if not as in training."""
    set: KeyValue = ()
    """Numbers for all loops of the models, such as --set steps=8 t_low=4."""
    out: Path = Path("page.html")
    """The file to write."""
    frames: int = MOST_FRAMES
    """Most frames; with more updates they are evenly chosen."""
    nodes: tuple[int, ...] | None = None
    """On whose predictions the influence of all nodes is shown, at most 8; by default 8 far apart."""
    channels: tuple[str, ...] | None = None
    """Of the states, at most 8: channels by number from 0, principal components as pc1, pc2; by default pc1 to pc4."""
    output: int = 0
    """Which number of a prediction is shown, where it has several, from 0."""
    benchmark: str | None = None
    """The benchmark of the graph, if not that of the run."""
    folder: Path | None = None
    """Folder of graphs of your own, for a run of ghr fit."""
    data: Path | None = None
    """Folder of the benchmarks' graphs; by default the folder "data" beside the run, or here."""
    quiet: bool = False
    """Say only where the page is."""

    def run(self) -> None:
        """Load the models and the graph, and write the page."""
        self._check()
        asked = parse_settings(self.set)
        if self.steps is not None and "steps" in asked:
            raise ValueError("steps is given twice, by --steps and by --set; give it once.")
        subjects = self._subjects(asked)
        chosen = self._choose()
        page = make_page(
            subjects,
            chosen.graph,
            chosen.task,
            title=f"{' and '.join(subject.name for subject in subjects)} on {chosen.title}",
            hops=chosen.hops,
            in_range=chosen.in_range,
            frames=self.frames,
            nodes=self.nodes,
            channels=self.channels,
            output=self.output,
        )
        page.save(self.out)
        print(f"Page {self.out} ({len(page.text.encode()) / 1e6:.1f} MB)")

    def _check(self) -> None:
        if not 1 <= len(self.runs) <= 2:
            raise ValueError(f"ghr view takes one run, or two to be seen side by side; got {len(self.runs)}.")
        check_choice("split", self.split, SPLITS)
        check_whole("--graph", self.graph, 0)
        if self.steps is not None:
            check_whole("--steps", self.steps)
        if self.benchmark is not None:
            check_choice("benchmark", self.benchmark, BENCHMARKS)
        if self.benchmark is not None and self.folder is not None:
            raise ValueError("--benchmark and --folder both say where the graph is; give one of them.")
        if self.out.is_dir():
            raise IsADirectoryError(f"--out takes a file, but {self.out} is a folder.")
        if not self.out.absolute().parent.is_dir():
            raise FileNotFoundError(f"The folder {self.out.parent} for the file of --out does not exist.")

    def _subjects(self, asked: Mapping[str, Any]) -> list[Subject]:
        """Return the models with the loops that each of them takes; a loop that none takes is a mistake."""
        found = [_find(name, bundled=self.benchmark is not None) for name in self.runs]
        names = sorted({name for subject in found for name in subject.model.loops})
        check_names(" and ".join(type(subject.model).__name__ for subject in found), asked, names)
        if self.steps is not None and not names:
            raise ValueError(f"--steps={self.steps} is for models that repeat a step; these have a fixed depth.")
        subjects = []
        for subject in found:
            own = {name: value for name, value in asked.items() if name in subject.model.loops}
            if self.steps is not None and subject.model.loops:
                own[subject.model.loops[0]] = self.steps
            subject.model.check_loops(own)
            name = ", ".join([subject.name, *format_settings(own)])
            subjects.append(Subject(name, subject.model, own, subject.facts))
        return subjects

    def _choose(self) -> Chosen:
        if self.folder is not None:
            return self._from_folder(self.folder)
        root = self._data_folder()
        check_folder("--data", root)
        if self.benchmark is not None:
            benchmark = BENCHMARKS[self.benchmark]
            if benchmark.one_graph:
                splits = benchmark.splits(root)
                graph = self._pick(splits.named(), self.split)
                return Chosen(graph, splits.task, f"{self.benchmark}, {self.split}")
            size = benchmark.sizes[self.split]
            if self.graph >= size:
                raise ValueError(_beyond(self.graph, self.split, size))
            graphs = benchmark.load(root, self.split, num_graphs=self.graph + 1)
            graph = self._pick({self.split: graphs}, self.split)
            title = f"{self.benchmark}, {self.split} graph {self.graph}"
            hops = None if benchmark.distance is None else benchmark.distance(graph)
            return Chosen(graph, graphs.task, title, hops, _trained_range(self.runs[0]))
        experiment = find_experiment(Run(self.runs[0]))
        splits = experiment.data.load(root)
        graph = self._pick(splits.named(), self.split)
        name = experiment.describe()["data"]["benchmark"]
        hops = None if splits.distance is None else splits.distance(graph)
        return Chosen(graph, splits.task, f"{name}, {self.split} graph {self.graph}", hops, splits.in_range)

    def _from_folder(self, folder: Path) -> Chosen:
        run = Run(self.runs[0])
        try:
            schema = Schema.from_config(run.config)
        except ValueError as error:
            raise ValueError(f"{run.path} cannot read a folder. {error}") from error
        found = read_folder(folder, schema=schema).graphs
        return Chosen(self._pick({"": found}, ""), run.task, f"{folder}, graph {self.graph}")

    def _pick(self, splits: Mapping[str, Examples], split: str) -> Data:
        if split not in splits or not len(splits[split]):
            raise ValueError(f"The split {split} has no graphs; there are {', '.join(splits)}.")
        if self.graph >= len(splits[split]):
            raise ValueError(_beyond(self.graph, split, len(splits[split])))
        graph: Data = splits[split][self.graph]
        return graph

    def _data_folder(self) -> Path:
        beside = Path(self.runs[0]).absolute().parent / "data"
        return self.data or (beside if beside.is_dir() else Path("data"))


def _beyond(number: int, split: str, size: int) -> str:
    where = f"the split {split}" if split else "the folder"
    has = "one graph, number 0" if size == 1 else f"{size} graphs, numbers 0 to {size - 1}"
    return f"There is no graph {number}: {where} has {has}."


def _trained_range(name: str) -> int | None:
    """Return the largest distance in the training of a run; ``None`` for a model of which that is not known."""
    try:
        return find_in_range(find_experiment(Run(name)))
    except (FileNotFoundError, ValueError):
        return None


def _find(name: str, *, bundled: bool) -> Subject:
    """Return the model of a run or, where that is allowed, one that was saved or comes with the package."""
    try:
        run = Run(name)
    except (FileNotFoundError, ValueError):
        if not bundled:
            raise
        return Subject(Path(name).name, load(name))
    return run.subject()
