"""``ghr reproduce``: tables and figures of the paper beside our numbers."""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import tyro

from ghr.checks import check_choice, check_whole, suggest
from ghr.cli.table import table
from ghr.cli.together import move_bar, run_together
from ghr.paper.export import export_best
from ghr.paper.item import FewerRunsError, Item, Place, check_progress, report_files, write_report
from ghr.paper.items import ITEMS
from ghr.paper.kept import bring, is_kept, keep
from ghr.paper.row import Row
from ghr.paper.runs import RowRun, Stage, list_runs, work_on
from ghr.progress import make_bar
from ghr.threads import available_cores, use_threads

STAGES = get_args(Stage)


@dataclass
class Reproduce:
    """Make a table or figure of the paper from finished runs, training what is missing, and set our numbers beside it.

    May be started several times at once, on the same item too: each run is trained by one process only. Killed runs
    go on where they were. "all" stands for every item; --list says which there are.
    """

    item: tyro.conf.Positional[str] = ""
    """Name of the item, or "all"; may be left out with --list."""
    runs: Path = Path("runs")
    """Folder of the runs."""
    results: Path = Path("results")
    """Folder of the small files of finished runs, which stand in for missing runs; those of new runs go there too."""
    data: Path = Path("data")
    """Folder of the generated graphs."""
    out: Path = Path("docs/reproduce")
    """Folder for the reports."""
    list: bool = False
    """Only say what is finished and what is missing."""
    seeds: int | None = None
    """Only the first so many seeds of every row."""
    only: tuple[str, ...] = ()
    """Train, list or export only these rows, by title or by folder such as rgg-large/ghr-gine."""
    train: bool = True
    """Train what is missing; --no-train reports what is finished."""
    processes: int = 1
    """Processes that train at once, with the cores divided among them."""
    export: Path | None = None
    """Folder for the best model among the rows (see --only), to be loaded with ghr.load."""
    quiet: bool = False
    """No progress bars."""

    def run(self) -> None:
        """List, or train and write the reports."""
        items = self._find_items()
        chosen = self._choose(items)
        check_whole("--processes", self.processes)
        if self.seeds is not None:
            check_whole("--seeds", self.seeds)
        if self.list:
            print(self._list(items, chosen))
            return
        if self.export is not None and self.export.exists() and not self.export.is_dir():
            raise ValueError(f"--export takes a folder, but {self.export} is a file.")
        for item in items:
            check_progress(item, self.out, len(list_runs(item.rows, self.runs, seeds=self.seeds)))
        asked = list_runs(chosen, self.runs, seeds=self.seeds)
        bring(list_runs([row for item in items for row in item.rows], self.runs, seeds=self.seeds), self.results)
        if self.train:
            self._work(asked)
        place = Place(self.runs, self.data, self.seeds)
        for item in items:
            self._report(item, place, alone=len(items) == 1)
        keep(asked, self.results)  # a report may have asked them more
        if self.export is not None:
            best = export_best(asked, self.export)
            print(f"{self.export}: {best.row.title}, seed {best.seed}")

    def _report(self, item: Item, place: Place, *, alone: bool) -> None:
        """Write a report; among several, one that was made of more runs stays, and it is said."""
        try:
            for file in write_report(item, place, self.out):
                print(file)
        except FewerRunsError as error:
            if alone:
                raise
            print(f"Left as it is: {error}")

    def _find_items(self) -> Sequence[Item]:
        if not self.item and not self.list:
            raise ValueError(f"Say which item to reproduce; known are {', '.join(ITEMS)}, and all.")
        if self.item in ("", "all"):
            return [*ITEMS.values()]
        return [ITEMS[check_choice("item", self.item, (*ITEMS, "all"))]]

    def _choose(self, items: Sequence[Item]) -> Sequence[Row]:
        rows = list({row.name: row for item in items for row in item.rows}.values())
        known = dict.fromkeys(name for row in rows for name in (row.title, row.name))
        for name in self.only:
            if name not in known:
                listed = "; ".join(known)  # titles have commas
                raise ValueError(f"There is no row {name!r} in {self.item}; known are {listed}.{suggest(name, known)}")
        return [row for row in rows if not self.only or row.title in self.only or row.name in self.only]

    def _work(self, runs: Sequence[RowRun]) -> None:
        left = [run for run in runs if run.unfinished]
        if not left:
            return
        if self.processes == 1:
            work_on(left, self.data, quiet=self.quiet, done=lambda run: keep([run], self.results))
            return
        share = max(1, available_cores() // self.processes)
        level = logging.getLogger("ghr").getEffectiveLevel()
        with make_bar("runs", len(left), unit="run") as bar:
            failed = run_together(
                _worker,
                (left, self.data, self.results, share, level),
                self.processes,
                lambda: move_bar(bar, sum(not run.unfinished for run in left)),
            )
        if failed:
            raise ValueError(f"{failed} of {self.processes} processes ended with an error, said above.")

    def _list(self, items: Sequence[Item], chosen: Sequence[Row]) -> str:
        if len(items) > 1:
            names = [row.name for row in chosen]
            counts = [self._count([row for row in item.rows if row.name in names]) for item in items]
            lines = [[item.name, *count, self._look_up(item)] for item, count in zip(items, counts, strict=True)]
            return table(["item", *STAGES, "report"], lines)
        lines = [[row.name, *self._count([row]), row.budget] for row in chosen]
        end = f"Report: {self._look_up(items[0])}"
        return f"{table(['runs', *STAGES, 'budget'], lines)}\n{end}" if lines else end

    def _count(self, rows: Sequence[Row]) -> Sequence[str]:
        runs = list_runs(rows, self.runs, seeds=self.seeds)
        stages = Counter("finished" if is_kept(run, self.results) else run.stage for run in runs)
        return [str(stages[stage]) for stage in STAGES]

    def _look_up(self, item: Item) -> str:
        return "written" if report_files(item, self.out)["md"].exists() else "not written"


def _worker(runs: Sequence[RowRun], data: Path, results: Path, count: int, level: int) -> None:
    from ghr.cli import say

    say(level)
    with use_threads(count):
        work_on(runs, data, quiet=True, done=lambda run: keep([run], results))
