"""What is kept of finished runs: small files without weights, from which every table can be made again."""

from collections.abc import Iterable
from pathlib import Path

from ghr.files import making_folder, write_bytes
from ghr.paper.runs import EVALUATIONS, TESTS, RowRun

SMALL = ("config.json", "metrics.jsonl", EVALUATIONS, TESTS, "result.json")  # the last says that a run is finished


def is_kept(run: RowRun, results: Path) -> bool:
    """Say whether a finished run is kept in a folder, which has a folder for every run as that of the runs has."""
    return (_place(run, results) / "result.json").is_file()


def bring(runs: Iterable[RowRun], results: Path) -> int:
    """Copy what is kept of runs that are not finished here; return how many.

    Args:
        runs: The runs.
        results: The folder of what is kept.
    """
    idle = [run for run in runs if run.stage in ("missing", "started") and is_kept(run, results)]
    return sum(_copy(_place(run, results), run.path) for run in idle)


def keep(runs: Iterable[RowRun], results: Path) -> int:
    """Copy the small files of finished runs that differ from what is kept; return how many runs differed.

    Args:
        runs: The runs.
        results: The folder of what is kept.
    """
    return sum(_copy(run.path, _place(run, results)) for run in runs if run.stage == "finished")


def _place(run: RowRun, results: Path) -> Path:
    return run.row.run_dir(results, run.seed)


def _copy(source: Path, target: Path) -> bool:
    """Copy the small files of a run, that of the result last; return whether any differed."""
    found = {name: (source / name).read_bytes() for name in SMALL if (source / name).is_file()}
    new = {name: content for name, content in found.items() if _read(target / name) != content}
    with making_folder(target):
        for name, content in new.items():
            write_bytes(target / name, content)
    return bool(new)


def _read(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None
