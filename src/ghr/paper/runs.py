"""The runs of rows: what is finished, and finishing what is not, by any number of processes at once."""

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ghr.experiment import Experiment, evaluate_split
from ghr.files import write_text
from ghr.lock import hold, is_held
from ghr.paper.row import AS_TRAINED, Loops, Row, Test
from ghr.progress import hide_bars, track
from ghr.train import BusyError, NotFiniteError, Run
from ghr.train.directory import LOCK, jsonable

logger = logging.getLogger(__name__)

Stage = Literal["finished", "running", "started", "missing"]
EVALUATIONS = "evaluations.json"
TESTS = "tests.json"  # like the errors, so that a table can be made again without the weights


@dataclass(frozen=True)
class RowRun:
    """One seed of a row in its directory.

    Args:
        row: What is trained.
        seed: Its seed.
        runs: The folder of all runs.
    """

    row: Row
    seed: int
    runs: Path

    @property
    def path(self) -> Path:
        """The run directory."""
        return self.row.run_dir(self.runs, self.seed)

    @property
    def experiment(self) -> Experiment:
        """What it trains."""
        return self.row.experiment(self.seed)

    @property
    def stage(self) -> Stage:
        """How far the run is; ``started`` where nobody works on it now."""
        if (self.path / "result.json").exists():
            return "finished"
        if is_held(self.path / LOCK):
            return "running"
        return "started" if (self.path / "config.json").exists() else "missing"

    @property
    def unfinished(self) -> bool:
        """Whether there is something left to train or to evaluate."""
        return self.result() is None or (self._has_weights and bool(self._find_missing() or self._find_unasked()))

    def open(self) -> Run:
        """Return the run as it is on disk.

        Raises:
            FileNotFoundError: Where there is none.
            ValueError: Where the directory belongs to another run, or to one of another version.
        """
        run, experiment = Run(self.path), self.experiment
        stored = {**run.config.get("experiment", {}), **run.config["train"]}
        if "start" in experiment.options and isinstance(stored.get("options"), dict):
            stored["options"] = experiment.entry.build.complete_config(stored["options"])
        asked = jsonable({**experiment.describe(), **experiment.train.describe()})
        for name, value in asked.items():
            if stored.get(name) != value:
                raise ValueError(
                    f"{self.path} belongs to another run: {name} is {stored.get(name)!r} there and {value!r} for "
                    f"{self.row.title}. Give another folder of runs, or delete that run."
                )
        return run

    def result(self) -> dict[str, Any] | None:
        """Return what the finished run says of itself; ``None`` for a run that is not finished."""
        return self.open().result if (self.path / "result.json").exists() else None

    def metrics(self, loops: Loops) -> dict[str, Any] | None:
        """Return the errors with some loops; ``None`` where they have not been computed."""
        result = self.result()
        if result is None:
            return None
        found = result["metrics"] if loops == AS_TRAINED else self._read(EVALUATIONS).get(loops.label)
        return None if found is None else dict(found)

    def ask(self, test: Test, loops: Loops, data: str | Path) -> dict[str, Any] | None:
        """Return what a test found; computed where it is not known yet, ``None`` where that needs lost weights.

        Args:
            test: What is asked.
            loops: Loops of the model.
            data: Folder of the generated graphs.
        """
        known, key = self._read(TESTS), _key(test, loops)
        if key not in known:
            if not self._has_weights:
                return None
            known[key] = jsonable(test.evaluate(self.open().model, Path(data), loops.given))
            write_text(self.path / TESTS, json.dumps(known))
        return dict(known[key])

    def work(self, data: str | Path, *, quiet: bool = False) -> None:
        """Train what is left, evaluate with all loops, and ask what else the row asks.

        Args:
            data: Folder of the benchmarks' graphs.
            quiet: Whether to hide the progress bars.

        Raises:
            BusyError: Where another process works on the same run.
        """
        if self.stage == "running":  # asked before the graphs are loaded, and once more by the training itself
            raise self._say_busy()
        if self.result() is None:
            logger.info("Training %s with seed %d in %s.", self.row.title, self.seed, self.path)
            self.experiment.run(self.path, data, quiet=quiet)
        if self.unfinished:
            with hold(self.path / LOCK) as mine:
                if not mine:
                    raise self._say_busy()
                with hide_bars(quiet):
                    self._evaluate(data)
                    for test in self._find_unasked():
                        logger.info("Asking %s, seed %d: %s.", self.row.title, self.seed, test.name)
                        self.ask(test, AS_TRAINED, data)

    @property
    def _has_weights(self) -> bool:
        return Run(self.path).has_weights

    def _say_busy(self) -> BusyError:
        return BusyError(f"Another process works in {self.path}; it is left to that one.")

    def _find_missing(self) -> list[Loops]:
        known = self._read(EVALUATIONS)
        return [loops for loops in self.row.inference.loops if loops.label not in known]

    def _find_unasked(self) -> list[Test]:
        known = self._read(TESTS)
        return [test for test in self.row.tests if _key(test, AS_TRAINED) not in known]

    def _evaluate(self, data: str | Path) -> None:
        run = self.open()
        splits = self.experiment.data.load(data, run.model.transform)
        for loops in self._find_missing():
            logger.info("Evaluating %s, seed %d, with %s.", self.row.title, self.seed, loops.label)
            errors = evaluate_split(run.model, splits, "test", **loops.given)
            known = {**self._read(EVALUATIONS), loops.label: errors}
            write_text(self.path / EVALUATIONS, json.dumps(jsonable(known)))

    def _read(self, name: str) -> dict[str, Any]:
        path = self.path / name
        if not path.exists():
            return {}
        try:
            return dict(json.loads(path.read_text()))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path} is damaged ({error}); delete it to have it computed again.") from error


def _key(test: Test, loops: Loops) -> str:
    return f"{test.name}; {loops.label}"


def list_runs(rows: Iterable[Row], runs: str | Path, *, seeds: int | None = None) -> list[RowRun]:
    """Return the runs of rows, the first seed of all rows first; ``seeds`` is how many seeds of each count."""
    chosen = list(rows)
    most = max((len(row.setup.seeds) for row in chosen), default=0)
    return [
        RowRun(row, row.setup.seeds[number], Path(runs))
        for number in range(most if seeds is None else min(seeds, most))
        for row in chosen
        if number < len(row.setup.seeds)
    ]


def work_on(
    runs: Sequence[RowRun], data: str | Path, *, quiet: bool = False, done: Callable[[RowRun], object] | None = None
) -> list[RowRun]:
    """Finish all runs that no other process works on; return those that are left to others or failed.

    Args:
        runs: The runs.
        data: Folder of the benchmarks' graphs.
        quiet: Whether to hide the progress bars.
        done: Called with every run that was finished.
    """
    left = []
    for run in track(runs, "runs", unit="run"):
        try:
            run.work(data, quiet=quiet)
            if done is not None:
                done(run)
        except BusyError as error:
            logger.info("%s", error)
            left.append(run)
        except NotFiniteError as error:  # one diverging run shall not stop the others
            logger.warning("%s", error)
            left.append(run)
    return left
