"""``ghr search``: good settings of a model on a benchmark."""

import json
import logging
import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from ghr.checks import check_number, check_whole
from ghr.cli.check import check_experiment, check_folder
from ghr.cli.settings import KeyValue, format_settings, format_value, merge_settings, parse_settings
from ghr.cli.table import table
from ghr.cli.together import move_bar, run_together
from ghr.datasets import Metric
from ghr.files import replacing, write_text
from ghr.progress import make_bar
from ghr.threads import available_cores, use_threads

if TYPE_CHECKING:  # Optuna takes a second to import, which nobody else shall wait for
    import ghr.search
    from ghr.search import Journal, Trial

logger = logging.getLogger(__name__)
SHOWN = 10


@dataclass
class Search:
    """Search for good settings of a model on a benchmark, by the validation score, with Optuna.

    Every trial is a run of its own. The same command goes on with a search that was stopped or killed, until so many
    trials are done in all; it may be started several times at once.
    """

    benchmark: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="BENCHMARK")]
    """Name of the benchmark; `ghr list` shows all."""
    model: str = "ghr"
    """Name of the model; `ghr list` shows all."""
    trials: int = 20
    """Trials in all; one that cannot be trained counts."""
    set: KeyValue = ()
    """Settings that stay fixed, as for `ghr train`."""
    vary: KeyValue = ()
    """Settings to choose: --vary lr=1e-4:1e-2:log steps=2:6 pool=max,mean; by default those that matter most."""
    space: Path | None = None
    """JSON file with settings to choose: {"lr": "1e-4:1e-2:log", "pool": ["max", "mean"]}."""
    epochs: int | None = None
    """Passes over the training graphs, at most; short for --set epochs=..., by default the benchmark's."""
    graphs: int | None = None
    """Training graphs, at least 10, with validation and test in proportion; by default all."""
    seed: int = 0
    """Seed of every training and of what is chosen."""
    budget: float | None = None
    """Minutes after which no further trial is begun."""
    processes: int = 1
    """Processes that work at once, with the cores divided among them."""
    out: Path | None = None
    """Folder of the search; by default runs/search-BENCHMARK-MODEL-SEED."""
    data: Path = Path("data")
    """Folder of the benchmarks' graphs, made or downloaded where they are missing."""
    source: str | None = None
    """Where the graphs come from: hub or generate; by default what the benchmark prefers."""
    workers: int = 1
    """Processes that generate graphs."""
    quiet: bool = False
    """Say only the result."""

    def run(self) -> None:
        """Run the trials that are missing and print the best."""
        from ghr.search import open_search, with_default_space, work

        search, folder = self._plan(), self._folder()
        until = None if self.budget is None else time.time() + 60 * self.budget
        splits = search.choose({}).data.load(self.data, workers=self.workers)
        search = search if search.space else with_default_space(search, splits)
        search.check(splits)
        metric = splits.task.score
        journal = open_search(search, folder, higher_is_better=metric.higher_is_better)
        failed = 0
        if self.processes == 1:
            work(search, journal, self.data, trials=self.trials, until=until, quiet=self.quiet)
        else:
            failed = self._work_together(search, journal, metric, until)
        if failed:
            logger.error("%d of %d processes ended with an error or were killed.", failed, self.processes)
        self._report(search, journal, metric)
        if failed:
            raise ValueError("Not all trials could be run; the same command goes on.")

    def _plan(self) -> "ghr.search.Search":
        """Return what is asked for, checked as far as it can be without the graphs."""
        from ghr.cli.space import parse_space
        from ghr.search import Search

        check_whole("--trials", self.trials)
        check_whole("--processes", self.processes)
        check_whole("--workers", self.workers)
        if self.budget is not None:
            check_number("--budget", self.budget, above=0)
        check_folder("--out", self._folder())
        check_folder("--data", self.data)
        settings = merge_settings(parse_settings(self.set), epochs=self.epochs)
        fixed = Search(self.benchmark, self.model, {}, settings, self.graphs, self.source, self.seed)
        check_experiment(fixed.choose({}))
        space = parse_space(self.space, self.vary)
        search = Search(self.benchmark, self.model, space, settings, self.graphs, self.source, self.seed)
        for name, values in space.items():
            for value in values.ends:
                check_experiment(search.choose({name: value}))
        return search

    def _folder(self) -> Path:
        return self.out or Path("runs") / f"search-{self.benchmark}-{self.model}-{self.seed}"

    def _work_together(
        self, search: "ghr.search.Search", journal: "Journal", metric: Metric, until: float | None
    ) -> int:
        """Let several processes work; return how many of them ended with an error."""
        threads = max(1, available_cores() // self.processes)
        level = logging.getLogger("ghr").getEffectiveLevel()
        arguments = (search, self._folder(), metric.higher_is_better, self.data, self.trials, until, threads, level)
        with make_bar("trials", self.trials, done=len(journal.done()), unit="trial") as bar:
            return run_together(_worker, arguments, self.processes, lambda: move_bar(bar, len(journal.done())))

    def _report(self, search: "ghr.search.Search", journal: "Journal", metric: Metric) -> None:
        from ghr.plots.importances import draw_importances

        done = journal.done()
        best = next((trial for trial in done if trial.score is not None), None)
        if best is None:
            said = "No trial has finished yet; the same command goes on"
            if done:
                said = f"All {len(done)} trials failed, as said above; with more --trials the same command tries others"
            raise ValueError(f"{said}. The search is in {journal.folder}.")
        print(_show(done, [*search.space], metric))
        failed = sum(trial.failed for trial in done)
        print(f"\n{len(done)} trials done, {failed} of them failed. The best as a command:")
        command = self._command(search, best)
        print(f"\n{command}\n")
        described = {
            "trial": best.number,
            "metric": str(metric),
            "higher_is_better": metric.higher_is_better,
            "score": best.score,
            "settings": {**search.settings, **best.chosen},
            "command": command,
            "run": str(journal.run_directory(best)),
            "trials": len(done),
        }
        write_text(journal.folder / "best.json", json.dumps(described, indent=2) + "\n")
        importances = journal.importances()
        if importances:
            figure = draw_importances(importances, f"{self.model} on {self.benchmark}, {len(done)} trials")
            with replacing(journal.folder / "importances.png") as temporary:
                figure.savefig(temporary, dpi=150)
            print(f"Importances  {journal.folder / 'importances.png'}")
        print(f"Search       {journal.folder}")

    def _command(self, search: "ghr.search.Search", trial: "Trial") -> str:
        """Return what trains a model with the settings of a trial, in a run directory of its own."""
        words = ["ghr", "train", self.benchmark, "--model", self.model, "--seed", str(self.seed)]
        given = {"--graphs": self.graphs, "--source": self.source, "--data": self.data}
        for option, value in given.items():
            words += [] if value in (None, Path("data")) else [option, str(value)]
        words += ["--out", str(self._folder() / f"best-{trial.number:04d}")]
        return shlex.join([*words, "--set", *format_settings({**search.settings, **trial.chosen})])


def _show(done: "list[Trial]", names: list[str], metric: Metric) -> str:
    """Return a table of the best trials."""
    direction = "higher" if metric.higher_is_better else "lower"
    header = ["trial", f"validation {metric} ({direction} is better)", *names]
    rows = [
        [
            str(trial.number),
            "failed" if trial.score is None else f"{trial.score:.4g}",
            *(_shorten(trial.chosen[name]) for name in names),
        ]
        for trial in done[:SHOWN]
    ]
    return table(header, rows)


def _shorten(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else format_value(value)


def _worker(
    search: "ghr.search.Search",
    folder: Path,
    higher_is_better: bool,
    data: Path,
    trials: int,
    until: float | None,
    threads: int,
    level: int,
) -> None:
    from ghr.cli import say
    from ghr.search import open_search, work

    say(level)
    try:
        with use_threads(threads):
            journal = open_search(search, folder, higher_is_better=higher_is_better)
            work(search, journal, data, trials=trials, until=until, quiet=True)
    except (ValueError, OSError) as error:
        logger.error("%s", error)
        sys.exit(2)
