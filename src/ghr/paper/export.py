"""The best run of some rows as a pretrained model."""

import logging
from collections.abc import Sequence
from pathlib import Path

from ghr.paper.runs import RowRun

logger = logging.getLogger(__name__)


def export_best(runs: Sequence[RowRun], directory: str | Path) -> RowRun:
    """Write the finished run of lowest validation error as ``ghr.load`` reads it; return it.

    Trees, and runs of which only the small files were kept, have no weights. Where one of them is better than what is
    exported, a warning says so.

    Args:
        runs: Candidates, trained on the same data; those that are not finished are passed over.
        directory: Folder for ``config.json`` and ``model.safetensors``. A folder inside ``ghr/pretrained`` makes a
            model that is loaded by the folder's name.

    Raises:
        ValueError: Where no run is finished, none that is has weights, or the runs differ in their data.
    """
    finished = [(result["best_val"], run) for run in runs if (result := run.result()) is not None]
    if not finished:
        raise ValueError(f"There is nothing to export: none of {len(runs)} runs is finished.")
    names = ", ".join(dict.fromkeys(run.row.name for _, run in finished))
    if any(run.experiment.data != finished[0][1].experiment.data for _, run in finished):
        raise ValueError(f"Errors on different data do not compare: choose among {names} with --only.")
    loadable = [(error, run) for error, run in finished if run.open().has_weights]
    if not loadable:
        raise ValueError(
            f"There is nothing to export: none of {len(finished)} finished runs has weights: {names}. Trees keep none; "
            "a network whose small files alone were kept must be trained again, in another folder of --runs and with "
            "an empty one of --results."
        )
    least, best = min(loadable, key=lambda pair: pair[0])
    better = [_describe(run, error) for error, run in sorted(finished, key=lambda pair: pair[0]) if error < least]
    best.open().model.save_pretrained(directory)
    if better:
        logger.warning(
            "Without weights, and so passed over although better: %s. Exported is %s, seed %d (%.4g).",
            "; ".join(better),
            best.row.title,
            best.seed,
            least,
        )
    return best


def _describe(run: RowRun, error: float) -> str:
    return f"{run.row.title}, seed {run.seed} ({error:.4g} on the validation graphs)"
