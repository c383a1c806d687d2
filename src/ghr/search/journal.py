"""The trials of a search, in a file that many processes write at once and that survives their being killed.

A process holds the lock of a trial while it works on it. The system gives the lock back when the process ends, however
it ends; a trial that runs though nobody holds its lock was killed, and the next process that asks for one gets it.
"""

import json
import os
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState

from ghr.lock import hold, is_held
from ghr.search.importance import distribution_of, weigh_study
from ghr.search.space import Choice, Space, Trial

NAME = "ghr"
LOCK = "lock"  # of the folder of a search, held for moments


class Journal:
    """The trials of a search.

    Args:
        folder: Folder of the search, which must exist.
        space: What is chosen from.
        higher_is_better: Which scores are better.
        seed: Seed of what is chosen.
    """

    def __init__(self, folder: Path, space: Space, *, higher_is_better: bool, seed: int = 0) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.folder = folder
        self.space = space
        self.higher_is_better = higher_is_better
        self.seed = seed
        self._distributions = {name: distribution_of(values) for name, values in space.items()}
        file = folder / "journal.log"
        self._study = optuna.create_study(
            storage=JournalStorage(JournalFileBackend(str(file), lock_obj=cast(Any, _SystemLock(file)))),
            study_name=NAME,
            direction="maximize" if higher_is_better else "minimize",
            load_if_exists=True,
        )

    def claim(self, most: int, stack: ExitStack) -> Trial | None:
        """Return a trial to work on, one that was killed before any new one; ``None`` where there are enough.

        Args:
            most: How many trials there are to be, those that failed and those others work on included.
            stack: Gives the trial's lock back.
        """
        with wait_for(self.folder / LOCK):
            trials = self._study.get_trials(deepcopy=False)
            running = [trial for trial in trials if trial.state == TrialState.RUNNING]
            for trial in running:
                if not self._is_whole(trial):  # killed while it was chosen: never tried
                    self._study.tell(trial.number, state=TrialState.FAIL)
                elif not is_held(self._lock_of(trial.number)):
                    return self._take(trial, stack)
            if sum(self._is_whole(trial) for trial in trials) >= most:
                return None
            # A function of the trials before, so that a search that goes on does not repeat its first choices.
            self._study.sampler = _make_sampler(self.seed, len(trials))
            return self._take(self._study.ask(self._distributions), stack)

    def finish(self, trial: Trial, score: float) -> None:
        """Keep the score of a trial."""
        self._study.tell(trial.number, score)

    def fail(self, trial: Trial) -> None:
        """Keep that a trial failed."""
        self._study.tell(trial.number, state=TrialState.FAIL)

    def done(self) -> list[Trial]:
        """Return all trials that ended, the best first and those that failed last."""
        ended = [trial for trial in self._study.get_trials(deepcopy=False) if trial.state.is_finished()]
        trials = [
            Trial(trial.number, self._values(trial.params), trial.value, trial.state == TrialState.FAIL)
            for trial in ended
            if self._is_whole(trial)
        ]
        sign = -1 if self.higher_is_better else 1
        return sorted(trials, key=lambda trial: (trial.score is None, sign * (trial.score or 0.0), trial.number))

    def importances(self) -> dict[str, float]:
        """Return how much every setting matters for the score, in shares of one; empty where nobody can say yet."""
        return weigh_study(self._study)

    def run_directory(self, trial: Trial) -> Path:
        """Return where the run of a trial is."""
        return self.folder / "trials" / f"{trial.number:04d}"

    def _take(self, trial: Any, stack: ExitStack) -> Trial:
        lock = self._lock_of(trial.number)
        lock.parent.mkdir(parents=True, exist_ok=True)
        if not stack.enter_context(hold(lock)):
            raise RuntimeError(f"{lock} was taken by a process that did not ask for it.")
        return Trial(trial.number, self._values(trial.params))

    def _lock_of(self, number: int) -> Path:
        return self.folder / "trials" / f"{number:04d}" / "trial.lock"

    def _is_whole(self, trial: FrozenTrial) -> bool:
        return trial.params.keys() == self.space.keys()

    def _values(self, params: dict[str, Any]) -> dict[str, Any]:
        return {
            name: json.loads(params[name]) if isinstance(values, Choice) else params[name]
            for name, values in self.space.items()
        }


class _SystemLock:
    """The lock of the journal; unlike Optuna's own it never outlives a killed process, nor does half a line."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._held: AbstractContextManager[None] | None = None

    def acquire(self) -> bool:
        self._held = wait_for(self._file.with_suffix(".lock"))
        self._held.__enter__()
        self._drop_half_line()
        return True

    def release(self) -> None:
        if self._held is not None:
            self._held.__exit__(None, None, None)
            self._held = None

    def _drop_half_line(self) -> None:
        with open(self._file, "r+b") as file:
            file.seek(0, os.SEEK_END)
            size = file.tell()
            if size == 0:
                return
            file.seek(size - 1)
            if file.read(1) != b"\n":
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)


@contextmanager
def wait_for(lock: Path) -> Iterator[None]:
    """Hold a lock that others hold for moments only."""
    while True:
        with hold(lock) as mine:
            if mine:
                yield
                return


def _make_sampler(seed: int, count: int) -> optuna.samplers.BaseSampler:
    number = int(np.random.SeedSequence([seed, count]).generate_state(1)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return optuna.samplers.TPESampler(seed=number, constant_liar=True)
