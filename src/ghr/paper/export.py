"""The best run of a row as a pretrained model."""

from collections.abc import Sequence
from pathlib import Path

from ghr.models.recurrence import Recurrence
from ghr.paper.runs import Run


def export_best(runs: Sequence[Run], directory: str | Path) -> Run:
    """Write the finished run of lowest validation error as ``from_pretrained`` of its class reads it; return it.

    Args:
        runs: Candidates, trained on the same data; those that are not finished are passed over.
        directory: Folder for ``config.json`` and ``model.safetensors``. A folder inside ``ghr/pretrained`` makes a
            model that is loaded by the folder's name.

    Raises:
        ValueError: Where no run is finished, the runs differ in their data, or the best is not recurrent.
    """
    finished = [(result["best_val"], run) for run in runs if (result := run.result()) is not None]
    if not finished:
        raise ValueError(f"There is nothing to export: none of {len(runs)} runs is finished.")
    if len({run.row.recipe.data for _, run in finished}) > 1:
        names = ", ".join(dict.fromkeys(f"{run.row.group}/{run.row.name}" for _, run in finished))
        raise ValueError(f"Errors on different data do not compare: choose among {names} with --only.")
    best = min(finished, key=lambda each: each[0])[1]
    model = best.model()
    if not isinstance(model, Recurrence):
        raise ValueError(f"{best.path} holds a {type(model).__name__}, but only a GHR or MinPlusGHR can be exported.")
    model.save_pretrained(directory)
    return best
