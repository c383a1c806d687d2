"""The runs of rows: what is finished, and finishing what is not, by any number of processes at once."""

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from torch import nn

from ghr.files import explained, write_text
from ghr.lock import held, is_held
from ghr.paper.row import AS_TRAINED, Counts, Row
from ghr.train import NotFiniteError, load_best
from ghr.train.run import RunDirectory, jsonable

logger = logging.getLogger(__name__)

State = Literal["finished", "running", "started", "missing"]
LOCK, EVALUATIONS = "lock", "evaluations.json"


@dataclass(frozen=True)
class Run:
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
    def state(self) -> State:
        """How far the run is; ``started`` where nobody works on it now."""
        if (self.path / "result.json").exists():
            return "finished"
        if is_held(self.path / LOCK):
            return "running"
        return "started" if (self.path / "config.json").exists() else "missing"

    @property
    def unfinished(self) -> bool:
        """Whether there is something left to train or to judge."""
        return self._unjudged() != []

    def result(self) -> dict[str, Any] | None:
        """Return what the finished run says of itself; ``None`` for a run that is not finished.

        Raises:
            ValueError: Where the directory belongs to a run with another config.
        """
        if not (self.path / "result.json").exists():
            return None
        return RunDirectory(self.path).open(jsonable(self.row.seeded(self.seed).config()))

    def metrics(self, counts: Counts) -> dict[str, Any] | None:
        """Return the errors with other numbers of steps; ``None`` where they have not been computed."""
        result = self.result()
        if result is None:
            return None
        if counts == AS_TRAINED:
            return dict(result["metrics"])
        found = self._evaluations().get(counts.label)
        return None if found is None else dict(found)

    def work(self, data: str | Path, *, quiet: bool = False) -> bool:
        """Train what is left, and judge with every number of steps; return whether this was done here or before.

        Returns ``False`` where another process works on the same run.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise explained("make the run directory", self.path, error) from error
        with held(self.path / LOCK) as mine:
            if not mine:
                return False
            if self._unjudged() is None:
                logger.info("Training %s with seed %d in %s.", self.row.title, self.seed, self.path)
                self.row.seeded(self.seed).run(self.path, data, quiet=quiet)
            self._judge(self._unjudged() or [], data)
            return True

    def model(self) -> nn.Module:
        """Return the model with the best weights of the run."""
        model = self.row.seeded(self.seed).build()
        load_best(model, self.path)
        return model.eval()

    def _unjudged(self) -> list[Counts] | None:
        if self.result() is None:
            return None
        known = self._evaluations()
        return [counts for counts in self.row.inference if counts.label not in known]

    def _judge(self, missing: list[Counts], data: str | Path) -> None:
        if not missing:
            return
        recipe, model = self.row.seeded(self.seed), self.model()
        for counts in missing:
            logger.info("Judging %s, seed %d, with %s.", self.row.title, self.seed, counts.label)
            errors = recipe.judge(model, data, **counts.given)
            write_text(self.path / EVALUATIONS, json.dumps(jsonable({**self._evaluations(), counts.label: errors})))

    def _evaluations(self) -> dict[str, Any]:
        path = self.path / EVALUATIONS
        if not path.exists():
            return {}
        try:
            return dict(json.loads(path.read_text()))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path} is damaged ({error}); delete it to have it computed again.") from error


def runs_of(rows: Iterable[Row], runs: str | Path, *, seeds: int | None = None) -> list[Run]:
    """Return the runs of rows, the first seed of all rows first; ``seeds`` is how many seeds of each count."""
    chosen = list(rows)
    most = max((len(row.seeds) for row in chosen), default=0)
    return [
        Run(row, row.seeds[place], Path(runs))
        for place in range(most if seeds is None else min(seeds, most))
        for row in chosen
        if place < len(row.seeds)
    ]


def work_on(runs: Sequence[Run], data: str | Path, *, quiet: bool = False) -> list[Run]:
    """Finish all runs that no other process works on; return those that are left to others or failed."""
    left = []
    for run in runs:
        try:
            if not run.work(data, quiet=quiet):
                logger.info("Another process works on %s.", run.path)
                left.append(run)
        except NotFiniteError as error:  # one diverging run shall not stop the others
            logger.warning("%s", error)
            left.append(run)
    return left
