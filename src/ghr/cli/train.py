"""``ghr train``: any model on any benchmark."""

from collections.abc import Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from ghr.checks import check_choice, check_whole
from ghr.cli.check import check_experiment, check_folder
from ghr.cli.errors import errors_table
from ghr.cli.settings import KeyValue, merge_settings, parse_settings
from ghr.experiment import BenchmarkGraphs, Experiment
from ghr.threads import available_cores, use_threads
from ghr.train import Run
from ghr.train.log import TensorBoardLog

LOGS = {"tensorboard": TensorBoardLog}


@dataclass
class Train:
    """Train any model on any benchmark by its recipe; started again, a killed run goes on where it was."""

    benchmark: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="BENCHMARK")]
    """Name of the benchmark; `ghr list` shows all."""
    model: str = "ghr"
    """Name of the model; `ghr list` shows all."""
    set: KeyValue = ()
    """Options of model, training and data, such as --set steps=6 lr=1e-3 pool=max; an unknown name shows all."""
    epochs: int | None = None
    """Passes over the training graphs, at most; short for --set epochs=..., by default the benchmark's."""
    graphs: int | None = None
    """Training graphs, at least 10, with validation and test in proportion; by default all."""
    seed: int = 0
    """Seed of weights and batches."""
    out: Path | None = None
    """Run directory; by default runs/BENCHMARK-MODEL-SEED."""
    data: Path = Path("data")
    """Folder of the benchmarks' graphs, made or downloaded where they are missing."""
    source: str | None = None
    """Where graphs come from: hub (the published files, by a connection) or generate; by default the benchmark's."""
    workers: int = 1
    """Processes that generate graphs; the graphs do not depend on it."""
    threads: int | None = None
    """Threads of the training; by default all cores."""
    log: str | None = None
    """tensorboard: also write the curves for TensorBoard, into the run directory."""
    quiet: bool = False
    """No progress bar."""

    def run(self) -> None:
        """Train and print the scores."""
        experiment = self.experiment()
        out = self.out or Path("runs") / f"{self.benchmark}-{self.model}-{self.seed}"
        check_folder("--out", out)
        check_folder("--data", self.data)
        check_whole("--workers", self.workers)
        if self.threads is not None:
            check_whole("--threads", self.threads, most=available_cores())
        with ExitStack() as stack:
            callback = None
            if self.log is not None:
                callback = stack.enter_context(LOGS[check_choice("log", self.log, LOGS)](out / self.log))
            stack.enter_context(nullcontext() if self.threads is None else use_threads(self.threads))
            run = experiment.run(out, self.data, quiet=self.quiet, callback=callback, workers=self.workers)
        print(describe_run(run, experiment))

    def experiment(self) -> Experiment:
        """Return what is asked for, checked as far as it can be without the graphs."""
        settings = merge_settings(parse_settings(self.set), epochs=self.epochs)
        experiment = Experiment.on(
            self.benchmark, self.model, settings, graphs=self.graphs, source=self.source, seed=self.seed
        )
        check_experiment(experiment)
        return experiment


def describe_run(run: Run, experiment: Experiment) -> str:
    """Return what a finished run has to say: its scores, its errors by distance, and where it is."""
    result: dict[str, Any] = run.result or {}
    scores = result["metrics"]
    lines = [describe_score(run, "validation", result["best_val"], f", after epoch {result['best_epoch']}")]
    lines += [describe_score(run, "test", next(iter(scores.values())))] if scores else []  # the task's metric is first
    if "by_distance" in scores:
        lines += ["", errors_table({run.path.name: scores}, find_in_range(experiment)), ""]
    return "\n".join([*lines, describe_effort(result), f"Run  {run.path}"])


def describe_effort(result: Mapping[str, Any]) -> str:
    """Return the size of a model and how long it was trained, in one line."""
    epochs = f"{result['epochs']} epoch{'' if result['epochs'] == 1 else 's'}"
    return f"{result['parameters']:,} parameters, {epochs} in {result['seconds']:.0f} s"


def describe_score(run: Run, split: str, score: float | None, more: str = "") -> str:
    """Return a score with its metric, its unit and its direction, in one line."""
    metric = run.task.score
    shown = "not finite" if score is None else f"{score:.4g}{' ' * bool(metric.unit)}{metric.unit}"
    return f"{metric.name} on {split}: {shown}{more} ({'higher' if metric.higher_is_better else 'lower'} is better)"


def find_in_range(experiment: Experiment) -> int | None:
    """Return the largest distance in training, where it is capped."""
    data = experiment.data
    if not isinstance(data, BenchmarkGraphs) or data.benchmark.in_range is None:
        return None
    return data.benchmark.in_range(data.options)
