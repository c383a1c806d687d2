"""The best run of some rows as a pretrained model."""

from collections.abc import Sequence
from pathlib import Path

from ghr.paper.runs import RowRun


def export_best(runs: Sequence[RowRun], directory: str | Path) -> RowRun:
    """Write the finished run of lowest validation error as ``ghr.load`` reads it; return it.

    Args:
        runs: Candidates, trained on the same data; those that are not finished are passed over.
        directory: Folder for ``config.json`` and ``model.safetensors``. A folder inside ``ghr/pretrained`` makes a
            model that is loaded by the folder's name.

    Raises:
        ValueError: Where no run is finished, or the runs differ in their data.
    """
    finished = [(result["best_val"], run) for run in runs if (result := run.result()) is not None]
    if not finished:
        raise ValueError(f"There is nothing to export: none of {len(runs)} runs is finished.")
    if any(run.experiment.data != finished[0][1].experiment.data for _, run in finished):
        names = ", ".join(dict.fromkeys(run.row.name for _, run in finished))
        raise ValueError(f"Errors on different data do not compare: choose among {names} with --only.")
    best = min(finished, key=lambda pair: pair[0])[1]
    best.open().model.save_pretrained(directory)
    return best
