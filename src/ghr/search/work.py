"""Work on a search: one trial after the other, by as many processes as there are."""

import json
import logging
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ghr.files import explained, write_text
from ghr.progress import hide_bars, make_bar
from ghr.search.journal import LOCK, Journal, wait_for
from ghr.search.search import Search
from ghr.search.space import Trial
from ghr.train import BusyError
from ghr.train.directory import jsonable, read_json

logger = logging.getLogger("ghr.search")
CONFIG = "search.json"


def open_search(search: Search, folder: Path, *, higher_is_better: bool) -> Journal:
    """Make the folder of a search, or reopen it for the same search, and return its trials.

    Args:
        search: The search.
        folder: Its folder: ``search.json`` has what was asked for, ``journal.log`` the trials, ``trials`` their runs.
        higher_is_better: Which scores are better.

    Raises:
        ValueError: Where the folder belongs to another search.
        OSError: Where it cannot be made.
    """
    asked: Mapping[str, Any] = jsonable(search.describe())
    file = folder / CONFIG
    if (folder / "config.json").exists():
        raise ValueError(f"{folder} is the directory of a run; choose another folder for the search.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explained("make the folder of the search", folder, error) from error
    with wait_for(folder / LOCK):
        if file.exists():
            stored = read_json(file)
            for name in asked:
                if stored.get(name) != asked[name]:
                    raise ValueError(
                        f"{folder} belongs to another search: {name} is {stored.get(name)!r} there and {asked[name]!r} "
                        "now. Choose another folder, or ask for the same to go on."
                    )
        else:
            write_text(file, json.dumps(asked, indent=2) + "\n")
    return Journal(folder, search.space, higher_is_better=higher_is_better, seed=search.seed)


def work(
    search: Search, journal: Journal, root: Path, *, trials: int, until: float | None = None, quiet: bool = False
) -> None:
    """Run trials until there are enough of them; other processes may do the same at the same time.

    Args:
        search: The search.
        journal: Its trials.
        root: Folder of the benchmarks' graphs.
        trials: How many trials there are to be in all.
        until: No trial is begun after this time, in seconds as :func:`time.time` has them.
        quiet: Whether to hide the progress bars.
    """
    with hide_bars(quiet), make_bar("trials", trials, done=len(journal.done()), unit="trial") as bar:
        while until is None or time.time() < until:
            with ExitStack() as stack:
                trial = journal.claim(trials, stack)
                if trial is None:
                    return
                _run(search, journal, trial, root, quiet)
            bar.update(1)


def _run(search: Search, journal: Journal, trial: Trial, root: Path, quiet: bool) -> None:
    shown = ", ".join(f"{name}={value}" for name, value in trial.chosen.items())
    logger.info("Trial %d: %s", trial.number, shown)
    try:
        run = search.choose(trial.chosen).run(journal.run_directory(trial), root, quiet=quiet)
    except BusyError:
        raise
    # A choice that does not go together, or that cannot be trained, says something about itself alone.
    except ValueError as error:
        logger.warning("Trial %d failed: %s", trial.number, error)
        journal.fail(trial)
        return
    score = (run.result or {}).get("best_val")
    if score is None:
        logger.warning("Trial %d failed: its validation score is not finite.", trial.number)
        journal.fail(trial)
        return
    logger.info("Trial %d: %s %.4g", trial.number, run.task.score, score)
    journal.finish(trial, score)
