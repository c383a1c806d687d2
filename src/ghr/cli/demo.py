"""``ghr demo``: the main claim, live, in minutes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch_geometric.data import Data

from ghr.checks import check_whole
from ghr.cli.errors import errors_table
from ghr.datasets import Splits
from ghr.experiment import Experiment, evaluate_split
from ghr.files import explained
from ghr.plots.distances import find_furthest
from ghr.plots.out_of_range import draw_out_of_range
from ghr.train import Run
from ghr.view import make_page

DEEP, GHR, EXTENSION = "deep GINE, 10 layers", "GHR", "GHR with values"
IN_RANGE = 5


@dataclass
class Demo:
    """Train a deep GINE, GHR and GHR with values on distances up to 5 hops, test all up to 8, draw the figure.

    Takes a few minutes on two cores, offline. A finished demo is shown again at once; a killed one goes on.
    """

    out: Path = Path("demo")
    """Folder for data, runs, the figure and the page."""
    graphs: int = 1000
    """Graphs to train on."""
    epochs: int = 24
    """Passes over them; GHR with values has a third more."""
    t_low: int = 3
    """Low-level updates of GHR when tested out of its range; it is trained with 2."""
    seed: int = 0
    """Seed of weights and batches."""
    quiet: bool = False
    """No progress bar."""

    def run(self) -> None:
        """Train all three, test them, print the table and write the figure and the page."""
        for name, value in {"--t-low": self.t_low, "--graphs": self.graphs, "--epochs": self.epochs}.items():
            check_whole(name, value)
        long = {"epochs": self.epochs, "batch_size": 16, "lr": 3e-3}
        deep, ghr = self._plan("deep-gine", long), self._plan("ghr", long)
        extension = self._plan("ghr-select", {"epochs": -(-4 * self.epochs // 3), "steps": 3, "t_low": 4})
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise explained("make the folder", self.out, error) from error

        print("Task: the distance of every node from a marked source, on random geometric graphs of 40-60 nodes.")
        print(f"Training sees distances up to {IN_RANGE} hops; the test goes to 8.\n")
        deep_run = self._train(f"{DEEP}, a baseline of the paper", "deep-gine", deep)
        ghr_run = self._train(f"{GHR}, the model of the paper", "ghr", ghr)
        extension_run = self._train(
            f"{EXTENSION}, not in the paper: they keep their size, and whom to take them from is learned",
            "ghr-select",
            extension,
        )
        splits = ghr.data.load(self.out / "data", ghr_run.model.transform)
        further = f"{GHR}, {self.t_low} low-level steps"
        errors = {
            further: evaluate_split(ghr_run.model, splits, "test", t_low=self.t_low),
            f"{GHR}, 2 as in training": _read_result(ghr_run)["metrics"],
            DEEP: _read_result(deep_run)["metrics"],
            EXTENSION: _read_result(extension_run)["metrics"],
        }
        print(errors_table(errors, IN_RANGE))

        graph = find_furthest(ghr.data.load(self.out / "data").named()["test"])
        predictions = {
            further: ghr_run.predict(graph, t_low=self.t_low)[0],
            EXTENSION: extension_run.predict(graph)[0],
        }
        figure = self.out / "out_of_range.png"
        draw_out_of_range(figure, errors, IN_RANGE, graph, predictions)
        print(f"\nFigure   {figure}")
        page = self.out / "recurrence.html"
        self._write_page(page, [ghr_run, deep_run], graph, splits)
        print(f"Page     {page} (open it in a browser: both models step by step, side by side)")
        runs = ", ".join(str(self.out / name) for name in ("deep-gine", "ghr", "ghr-select"))
        print(f"Runs     {runs} (config, metrics by epoch, weights, result)")
        print(f"Try next ghr eval {self.out / 'ghr'} --set t_low=4")
        print("         ghr list")

    def _plan(self, model: str, training: Mapping[str, Any]) -> Experiment:
        settings = {**training, "schedule": "cosine", "patience": None}
        graphs = {"train": self.graphs, "val": 200, "test": 500}
        return Experiment.on("rgg-sssp-small", model, settings, graphs=graphs, seed=self.seed)

    def _write_page(self, page: Path, runs: Sequence[Run], graph: Data, splits: Splits) -> None:
        hops = None if splits.distance is None else splits.distance(graph)
        subjects = [
            replace(runs[0].subject({"t_low": self.t_low}), name=f"{GHR}, {self.t_low} low-level steps"),
            replace(runs[1].subject(), name=DEEP),
        ]
        title = f"{GHR} and a {DEEP}, {int(graph['hops'].max())} hops from the source"
        make_page(subjects, graph, splits.task, title=title, hops=hops, in_range=IN_RANGE).save(page)

    def _train(self, title: str, name: str, experiment: Experiment) -> Run:
        count = experiment.build(experiment.data.load(self.out / "data")).num_parameters
        print(f"{title}\n  {count:,} parameters, {self.graphs} graphs, {experiment.train.epochs} epochs")
        run = experiment.run(self.out / name, self.out / "data", quiet=self.quiet)
        result = _read_result(run)
        print(f"  trained in {result['seconds']:.0f} s, validation error {result['best_val']:.3f} hops\n")
        return run


def _read_result(run: Run) -> dict[str, Any]:
    if run.result is None:
        raise ValueError(f"{run.path} lost its result.json while the demo was running; start the demo again.")
    return run.result
