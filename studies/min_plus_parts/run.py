"""Train the min-plus extension with parts replaced and on other questions, and test it far out of range.

    python studies/min_plus_parts/run.py --out docs/reproduce

Started again, it goes on where it was; started several times at once, each run is trained by one process.
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from questions import (
    Budget,
    Offsets,
    WidestPath,
    keep_coarse_edges,
    level_coarse_edges,
    shorten_coarse_edges,
)
from torch_geometric.transforms import BaseTransform
from variants import TrialGHR, WithinBudget

from ghr import MODELS, Entry, HierarchicalData, Run, TrainConfig
from ghr.datasets import BENCHMARKS
from ghr.datasets.splits import Examples
from ghr.experiment import Experiment, OwnGraphs
from ghr.files import write_text
from ghr.paper.extension import FAR_TESTS, FarTest, evaluate_far
from ghr.paper.markdown import markdown_table, spread
from ghr.paper.results import Spread
from ghr.train import BusyError, NotFiniteError
from ghr.train.provenance import machine, versions

OWN_MODELS = {"min-plus-trial": Entry(TrialGHR), "min-plus-budget": Entry(WithinBudget)}
IN_RANGE = 5


@dataclass(frozen=True)
class Question:
    """What is asked of the graphs.

    Args:
        weighted: Lengths instead of hops.
        transform: What makes another question of it.
    """

    weighted: bool = True
    transform: BaseTransform | None = None


HOPS, LENGTHS = Question(weighted=False), Question()


@dataclass(frozen=True)
class Trial:
    """One model on one question.

    Args:
        title: Its name in the table.
        folder: Its folder among the runs.
        model: Its name in ``MODELS``.
        options: Of the model.
        question: What is asked.
        epochs: Passes over the training graphs.
    """

    title: str
    folder: str
    model: str = "min-plus-trial"
    options: dict[str, Any] = field(default_factory=dict)
    question: Question = HOPS
    epochs: int = 12


REPLACED = (
    Trial("min-plus, flat, hops, trained to 5", "hops-flat", "min-plus", {"levels": 1}),
    Trial("mean in place of the minimum", "mean", options={"aggregate": "mean"}),
    Trial("sum in place of the minimum", "sum", options={"aggregate": "sum"}),
    Trial("RMS norm before the minimum", "norm", options={"norm": True}),
    Trial("mixing weights start at full size", "full-mixing", options={"mixing": 1.0}),
    Trial("soft minimum", "soft-min", options={"aggregate": "soft min"}),
    Trial("soft minimum, 48 epochs", "soft-min-long", options={"aggregate": "soft min"}, epochs=48),
)
QUESTIONS = (
    Trial("min-plus, flat, lengths, trained to 5", "lengths-flat", "min-plus", {"levels": 1}, LENGTHS),
    Trial("lengths learned from offsets", "offsets", options={"edge_dim": 2}, question=Question(transform=Offsets())),
    Trial("widest path", "widest", question=Question(transform=WidestPath())),
    Trial("within a budget", "budget", "min-plus-budget", question=Question(transform=Budget())),
)
TWO_LEVELS = Trial("min-plus, two levels, hops, trained to 5", "hops-two-levels", "min-plus")
COARSE_EDGES: dict[str, Callable[[HierarchicalData], HierarchicalData]] = {
    "paths through the joining edge": keep_coarse_edges,
    "shortest paths between centres": shorten_coarse_edges,
    "all of the same length": level_coarse_edges,
}


@dataclass(frozen=True)
class Study:
    """Where the runs and graphs are, and how large everything is.

    Args:
        runs: Folder of the runs.
        data: Folder of the graphs.
        seeds: One run each.
        graphs: Graphs of every split.
        epochs: In place of those of the trials, where given.
        test: Graphs on which nothing was chosen.
    """

    runs: Path
    data: Path
    seeds: tuple[int, ...] = (42, 43, 44)
    graphs: tuple[int, int, int] = (1000, 100, 100)
    epochs: int | None = None
    test: FarTest = FAR_TESTS[0]

    def train(self, trial: Trial, seed: int) -> Run | None:
        """Train one run, or read it; ``None`` where another process works on it, or it diverged."""
        question, epochs = trial.question, self.epochs or trial.epochs
        graphs = dict(zip(("train", "val", "test"), self.graphs, strict=True))
        splits = BENCHMARKS["rgg-sssp-small"].splits(
            self.data, graphs=graphs, weighted=question.weighted, pre_transform=question.transform
        )
        config = TrainConfig(epochs=epochs, batch_size=32, lr=1e-2, schedule="cosine", seed=seed)
        experiment = Experiment(OwnGraphs(splits), trial.model, trial.options, config)
        try:
            return experiment.run(self.runs / trial.folder / f"seed-{seed}", quiet=True)
        except (BusyError, NotFiniteError) as error:
            print(error, file=sys.stderr)
            return None

    def evaluate(
        self,
        trial: Trial,
        updates: int,
        change: Callable[[HierarchicalData], HierarchicalData] = keep_coarse_edges,
    ) -> list[dict[str, Any]]:
        """Return the errors of all runs of a trial, trained where they are not yet.

        Args:
            trial: What is trained.
            updates: Low-level updates at the test.
            change: Applied to every test graph.
        """
        evaluated = []
        for seed in self.seeds:
            run = self.train(trial, seed)
            if run is None or run.result is None:
                continue
            transform = trial.question.transform or run.model.transform
            loaded = self.test.load(self.data, weighted=trial.question.weighted, transform=transform)
            graphs = [change(loaded[index]) for index in range(len(loaded))]
            errors = evaluate_far(run.model, graphs, loaded.task, IN_RANGE, updates)
            kept = {name: errors[name] for name in ("in_range", "out_of_range", "updates")}
            constant, seconds = measure_constant(graphs, IN_RANGE), run.result["seconds"]
            evaluated.append({"row": trial.folder, "seed": seed, **kept, "constant": constant, "seconds": seconds})
        return evaluated

    def report(self) -> tuple[str, list[dict[str, Any]]]:
        """Return the page in Markdown, and all numbers."""
        whole, half = self.test.updates(1), self.test.updates(2)
        parts = [
            (_REPLACED, whole, {trial.title: self.evaluate(trial, whole) for trial in REPLACED}),
            (_QUESTIONS, whole, {trial.title: self.evaluate(trial, whole) for trial in QUESTIONS}),
            (_COARSE, half, {name: self._evaluate_coarse(name, half) for name in COARSE_EDGES}),
        ]
        text = [_HEAD.format(distance=self.test.distance)]
        for heading, updates, evaluated in parts:
            lines = [_line(title, found) for title, found in evaluated.items()]
            text += [heading.format(updates=updates), markdown_table(_HEADER, lines)]
        return "\n\n".join(text) + "\n", [errors for *_, rows in parts for found in rows.values() for errors in found]

    def _evaluate_coarse(self, name: str, updates: int) -> list[dict[str, Any]]:
        found = self.evaluate(TWO_LEVELS, updates, COARSE_EDGES[name])
        return [{**errors, "coarse_edges": name} for errors in found]


def measure_constant(graphs: Examples, in_range: int) -> float:
    """Return the error out of range of the best constant prediction, the median of the targets there."""
    target = torch.cat([graphs[index].y[graphs[index].hops > in_range] for index in range(len(graphs))])
    return float((target - target.median()).abs().mean())


def _line(title: str, evaluated: list[dict[str, Any]]) -> list[str]:
    if not evaluated:
        return [title, *["-"] * len(_DIGITS), "not run"]
    cells = [spread(Spread.over([found[name] for found in evaluated]), count) for name, count in _DIGITS.items()]
    return [title, *cells, str(len(evaluated))]


_HEADER = ("row", "in range", "out of range", "constant", "training (s)", "seeds")
_DIGITS = {"in_range": 4, "out_of_range": 4, "constant": 4, "seconds": 0}
_HEAD = """\
# Beyond the paper: what min-plus message passing needs, and what it cannot do

`python studies/min_plus_parts/run.py`

**Nothing here is in the paper.** The rows are variants of `MinPlusGHR`, each trained on distances up to 5 hops (1,000
graphs of 40-60 nodes) and tested on fresh graphs to {distance} hops (300-500 nodes). Errors are mean absolute errors
over the nodes in and out of 5 hops, mean ± standard deviation over seeds; "constant" is the error out of range of
the best constant prediction, the median of the targets there."""
_REPLACED = """\
## What the parts are for

Distances in hops; one part replaced at a time, {updates} updates, trained for 12 epochs where nothing else is said. The
soft minimum is a weighted mean of all neighbours whose sharpness is learned. It starts at one: a neighbour that is one
hop nearer counts e times as much. So this cell does not start as the algorithm of Bellman and Ford."""
_QUESTIONS = """\
## Other questions

On graphs with lengths, {updates} updates. "Offsets": edges carry the difference of their ends' positions, and the
length has to be learned. "Widest path": the longest edge on the way on which it is shortest. "Budget": whether a node
is within half of the longest distance in its graph, 0 or 1; the model is told the budget."""
_COARSE = """\
## Coarse edges

Distances in hops, {updates} updates, half of what the distance needs: the weights of the model with two levels, on
coarse edges as long as paths through the edge that joins two clusters (what `CentrePaths` computes), as the shortest
paths between the centres, and all of the same length."""


def main() -> None:
    """Read the options, train what is missing, print the page and write it."""
    parser = argparse.ArgumentParser(description="What the parts of the min-plus extension are for.")
    parser.add_argument("--runs", type=Path, default=Path("runs/min_plus_parts"), help="folder of the runs")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the generated graphs")
    parser.add_argument("--out", type=Path, help="folder for table-trials.md and table-trials.json")
    parser.add_argument("--quick", action="store_true", help="tiny: whether it runs, not what comes out")
    given = parser.parse_args()
    MODELS.update(OWN_MODELS)
    study = Study(given.runs, given.data)
    if given.quick:
        study = replace(study, seeds=(42,), graphs=(8, 2, 2), epochs=1, test=FarTest("small", 8, 10))
    text, record = study.report()
    print(text)
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
        made = {"evaluated": record, "versions": versions(), "machine": machine(torch.device("cpu"))}
        write_text(given.out / "table-trials.json", json.dumps(made, indent=1) + "\n")
        write_text(given.out / "table-trials.md", text)


if __name__ == "__main__":
    main()
