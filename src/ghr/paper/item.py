"""A table or figure of the paper, made again from runs: what it needs, and what is written of it."""

import json
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from matplotlib.figure import Figure

from ghr.files import explained, replacing
from ghr.paper.row import Row
from ghr.paper.runs import list_runs
from ghr.train.provenance import machine, versions


@dataclass(frozen=True)
class Place:
    """Where runs and graphs are, and how many seeds count.

    Args:
        runs: The folder of all runs.
        data: The folder of the generated graphs.
        seeds: How many seeds of every row count; ``None`` for all.
    """

    runs: Path = Path("runs")
    data: Path = Path("data")
    seeds: int | None = None


@dataclass(frozen=True)
class Report:
    """What is to be written.

    Args:
        text: Markdown below the title.
        record: All numbers, in the types of JSON.
        figure: The picture, where there is one.
    """

    text: str
    record: dict[str, Any] = field(default_factory=dict)
    figure: Figure | None = None


class FewerRunsError(ValueError):
    """Raised where a report was made of more runs than there are."""


class Item(Protocol):
    """A table or figure of the paper."""

    @property
    def name(self) -> str:
        """What ``ghr reproduce`` calls it."""
        ...

    @property
    def title(self) -> str:
        """What it shows."""
        ...

    @property
    def rows(self) -> tuple[Row, ...]:
        """What must be trained for it; nothing, where it is measured or computed."""
        ...

    def report(self, place: Place) -> Report:
        """Make it from the runs that are finished."""
        ...


def report_files(item: Item, out: str | Path) -> dict[str, Path]:
    """Return the files of an item's report by their suffix; not every item has a picture."""
    return {suffix: Path(out) / f"{item.name}.{suffix}" for suffix in ("md", "json", "png")}


def write_report(item: Item, place: Place, out: str | Path) -> list[Path]:
    """Write Markdown, JSON and picture of an item, none in its place before all are written; return the files.

    A report that was made of more finished runs is not replaced: that is a FewerRunsError.
    """
    finished = sum(run.result() is not None for run in list_runs(item.rows, place.runs, seeds=place.seeds))
    check_progress(item, out, finished)
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explained("make the folder", out, error) from error
    report = item.report(place)
    files = report_files(item, out)
    if report.figure is None:
        del files["png"]
    text = [f"# {item.title}", f"`ghr reproduce {item.name}`"]
    if report.figure is not None:
        text.append(f"![{item.title}]({files['png'].name})")
    record = {
        "item": item.name,
        "finished_runs": finished,
        **report.record,
        "versions": versions(),
        "machine": machine(torch.device("cpu")),
    }
    with ExitStack() as stack:  # what is entered first is renamed last: the Markdown says that the report is there
        temporary = {suffix: stack.enter_context(replacing(file)) for suffix, file in files.items()}
        temporary["md"].write_text("\n\n".join([*text, report.text.strip()]) + "\n", encoding="utf-8")
        temporary["json"].write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        if report.figure is not None:
            report.figure.savefig(temporary["png"], dpi=130)
    return [*files.values()]


def check_progress(item: Item, out: str | Path, finished: int) -> None:
    """Raise a FewerRunsError if the report of an item was made of more finished runs than those given."""
    file = report_files(item, out)["json"]
    try:
        before = json.loads(file.read_text(encoding="utf-8"))["finished_runs"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    if isinstance(before, int) and before > finished:
        raise FewerRunsError(
            f"{file} was made of {before} finished runs, but here are {finished}; give another folder with --out, or "
            "delete that report."
        )
