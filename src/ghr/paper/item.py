"""A table or figure of the paper, made again from runs: what it needs, and what is written of it."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from matplotlib.figure import Figure

from ghr.files import explained, replacing, write_text
from ghr.paper.row import Row
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
    """Write Markdown, JSON and picture of an item; return the files."""
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explained("make the folder", out, error) from error
    report, files = item.report(place), report_files(item, out)
    written = []
    text = [f"# {item.title}", f"`ghr reproduce {item.name}`"]
    if report.figure is not None:
        with replacing(files["png"]) as temporary:
            report.figure.savefig(temporary, dpi=130)
        written.append(files["png"])
        text.append(f"![{item.title}]({files['png'].name})")
    record = {
        "item": item.name,
        **report.record,
        "versions": versions(),
        "machine": machine(torch.device("cpu")),
    }
    write_text(files["json"], json.dumps(record, indent=1) + "\n")
    write_text(files["md"], "\n\n".join([*text, report.text.strip()]) + "\n")  # last: it says that the report is there
    return [files["md"], files["json"], *written]
