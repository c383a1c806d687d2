"""Past the paper: cells whose values keep their size, in and out of the range they were trained on."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from textwrap import fill
from typing import Any

from ghr.paper.cell_group import CellGroup, CellRow
from ghr.paper.cells import GROUPS
from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table, number
from ghr.paper.results import RowResults, gather
from ghr.paper.row import Row
from ghr.paper.runs import RowRun

_SETTING = """\
A cell is what one update of the recurrence does to the state of a node. The paper's cell reads all states normalised,
so that a size, such as a distance, has to be told by a direction; sizes that training has not seen have none. **The
rows named select and sum are not in the paper.** Their cells have a second kind of state, values, which are never
normalised, only moved. In *select* a node takes over the values of neighbours, a learned step larger. Whom it listens
to is learned, by a choice that starts soft and becomes sharp in the second half of training; nothing in it says
"minimum". In *sum* values are added up over all levels by linear maps, as in a fast multipole method. A control is the
paper's state beside the values, which then decides how they move; rows are flat and without control unless they say
otherwise. GHR of the paper and the deep stack are the paper's; min-plus is another extension, `table-beyond`.

Numbers are errors: the mean over the finished seeds, with the worst seed in brackets. Targets are those of the study
that proposed these cells; no seed shall exceed them. The processor time of training is a mean too; of
runs from before it was recorded it is the time on the clock, which grows with whatever else the machine does."""

_ENDING = ("epochs", "parameters", "CPU s", "seeds")


@dataclass(frozen=True)
class CellsTable:
    """Errors of cells with and without values, in and out of the trained range, seed by seed."""

    name: str = "table-cells"
    title: str = "Beyond the paper: cells with values that keep their size"
    groups: tuple[CellGroup, ...] = GROUPS

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of all groups; one that stands in several tables is trained once, and named as in the first."""
        rows: dict[str, Row] = {}
        for group in self.groups:
            for row in group.rows:
                rows.setdefault(row.name, row)
        return tuple(rows.values())

    def report(self, place: Place) -> Report:
        """Test every finished run, one table for each group."""
        text, record = [_SETTING], []
        for group in self.groups:
            found = [_test(row, group, place) for row in group.rows]
            lines = [_line(tested, group) for tested in found]
            header = ["cell", *(column.header for column in group.columns), *_ENDING]
            text += [f"## {group.title}", fill(group.text, 120), markdown_table(header, lines), _judge(group, found)]
            record += [tested.record(group) for tested in found]
        return Report("\n\n".join(part for part in text if part), {"rows": record})


@dataclass(frozen=True)
class _Tested:
    """A row with its numbers: for every finished seed, one for each column."""

    row: CellRow
    results: RowResults
    errors: dict[int, list[float | None]]

    def column(self, place: int) -> list[float]:
        """Return a number of all seeds that have it."""
        return [value for values in self.errors.values() if (value := values[place]) is not None]

    def record(self, group: CellGroup) -> dict[str, Any]:
        """Return everything as JSON holds it."""
        names = [column.title for column in group.columns]
        return {
            "group": group.title,
            **self.row.describe(),
            "far": self.row.far.label,
            "seeds": [
                {
                    "seed": seed,
                    "errors": dict(zip(names, self.errors[seed], strict=True)),
                    **{name: result[name] for name in ("epochs", "best_epoch", "parameters", "seconds")},
                    "cpu_seconds": result.get("cpu_seconds"),
                    "versions": result["versions"],
                    "machine": result["machine"],
                }
                for seed, result in self.results.results.items()
            ],
        }


def _test(row: CellRow, group: CellGroup, place: Place) -> _Tested:
    results = gather([row], place.runs, place.seeds)[0]
    errors = {
        seed: [column.read(RowRun(row, seed, place.runs), row.far, place.data) for column in group.columns]
        for seed in results.results
    }
    return _Tested(row, results, errors)


def _line(tested: _Tested, group: CellGroup) -> list[str]:
    results = [*tested.results.results.values()]
    cells = [_worst(tested.column(place), group.digits, len(results)) for place in range(len(group.columns))]
    if not results:
        return [tested.row.title, *cells, str(tested.row.experiment().train.epochs), "-", "-", "not run"]
    epochs = fmean(result["epochs"] for result in results)
    seconds = fmean(result.get("cpu_seconds", result["seconds"]) for result in results)
    return [
        tested.row.title,
        *cells,
        f"{epochs:.0f}",
        f"{tested.results.parameters:,}",
        f"{seconds:.0f}",
        tested.results.seeds,
    ]


def _worst(values: Sequence[float], digits: int, finished: int) -> str:
    """Return the mean and the worst of some values, and of how many seeds they are where others are finished too."""
    few = f", {len(values)} of {finished} tested" if 0 < len(values) < finished else ""
    if len(values) < 2:
        return number(values[0] if values else None, digits) + few
    return f"{fmean(values):.{digits}f} ({max(values):.{digits}f}){few}"


def _judge(group: CellGroup, found: Sequence[_Tested]) -> str:
    """Return which rows keep to the targets with every finished seed, in words; nothing before there is a run."""
    lines = []
    for place, column in enumerate(group.columns):
        worst = {
            tested.row.title: max(values)
            for tested in found
            if (values := tested.column(place)) and len(values) == len(tested.errors)
        }
        if column.target is None or not worst:
            continue
        met = [title for title, value in worst.items() if value <= column.target]
        missed = [title for title, value in worst.items() if value > column.target]
        parts = [f"within the target with every finished seed: {'; '.join(met) or 'no row'}."]
        parts += [f"Not: {'; '.join(missed)}."] if missed else []
        lines.append(f"- {column.title}, {' '.join(parts)}")
    return "\n".join(lines)
