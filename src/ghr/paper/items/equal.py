"""The paper's tables on ECHO, LRIM and LRGB: every system on the same graphs, for about the same processor time."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from statistics import fmean
from typing import Any

from ghr.paper.equal import LONG_SEEDS, Column, System
from ghr.paper.item import Place, Report
from ghr.paper.lrgb import LRGB_COLUMNS, LRGB_SYSTEMS
from ghr.paper.markdown import any_size, markdown_table, number
from ghr.paper.ranges import RangeTest, read_range
from ghr.paper.results import RowResults, gather
from ghr.paper.row import Row
from ghr.paper.runs import RowRun
from ghr.paper.systems import ECHO_CHEM_COLUMNS, ECHO_COLUMNS, ECHO_SYSTEMS, LRIM_COLUMNS, LRIM_SYSTEMS

_SETTING = """\
Every row was trained on the same graphs, rebuilt ones, for about the same processor time on one thread; its number of
epochs is fixed, so that a run can be repeated bit by bit with the same code on a CPU of its kind
(`studies/equal_budget` measures it). Elsewhere sums may be rounded otherwise, and long trainings part: GHR-GatedGINE
on shortest paths ended at 0.44 hops on one kind of CPU and at 0.51 on another, with earlier kernels and the same
seed. **A difference between two rows of one seed is a hint, no more**, and no row is marked as best; rows have one
seed unless they say otherwise. Settings of rows from the literature were fixed beforehand, without any search; those
of rows with values come from the study of [cells](table-cells.md), on other seeds and mostly other graphs, and had
more attention: 44 trials of them are kept in `results/trials`, 16 on eccentricities, 4 on diameters, 15 on lattices
and 9 on random geometric graphs. Published numbers are means of the paper, which takes those of other systems from
the literature: trained on the published graphs, searched for, and for hours. They show what is possible, not what
these rows should have reached. The range says how far a trained model looks: the mean distance of the nodes that a
prediction depends on, weighed by how much it does ([range](../range.md)). It is measured by gradients, and sharp
choices have almost none: **of values that are chosen it says nothing**. Where it stands, the range by exchange does:
it gives a node the features of another and looks what changes. Only runs that are newer than it were asked, since it
needs their weights. Both ask what features do, and eccentricities and diameters do not depend on features: there they
tell where a model looks, not where it should. "†" stands behind runs of an older version."""


@dataclass(frozen=True)
class EqualTable:
    """Errors of all systems at equal cost, beside published ones.

    Args:
        name: What ``ghr reproduce`` calls it.
        title: What it shows.
        text: What is particular to it.
        systems: Its lines.
        columns: Its benchmarks.
    """

    name: str
    title: str
    text: str
    systems: tuple[System, ...]
    columns: tuple[Column, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows: the first column of all systems first, and those that are trained for longer last."""
        return tuple(sorted((row for column in self.columns for row in column.rows(self.systems)), key=_is_long))

    def report(self, place: Place) -> Report:
        """Make a table of all columns, and one with the cost of each."""
        found = {
            (column.key, system.key): [
                gather([row], place.runs, place.seeds)[0]
                for make in (column.row, column.long_row)
                if (row := make(system)) is not None
            ]
            for column in self.columns
            for system in self.systems
        }
        text = [_SETTING, self.text, "## All columns", self._overview(found)]
        for column in self.columns:
            cost = self._cost(column, found, place)
            rows = [results for system in self.systems for results in found[column.key, system.key]]
            text += [f"## {column.title}", _describe(column), cost, _tell_machines(rows), self._rank(column, found)]
        notes = [f"- {system.title}: {system.note}." for system in self.systems if system.note]
        text += ["## What differs", "\n".join(notes)]
        record = [
            {"column": column.key, **results.row.describe(), "seeds": _seeds(results, column)}
            for column in self.columns
            for system in self.systems
            for results in found[column.key, system.key]
        ]
        return Report("\n\n".join(part for part in text if part), {"rows": record})

    def _overview(self, found: "_Found") -> str:
        header = ["system", *(f"{column.title} / {_published_title(column)}" for column in self.columns)]
        lines = [
            [
                system.title,
                *(
                    f"{_error(found[column.key, system.key][:1], column)} / {column.published.get(system.key, '-')}"
                    for column in self.columns
                ),
            ]
            for system in self.systems
        ]
        return markdown_table(header, lines)

    def _cost(self, column: Column, found: "_Found", place: Place) -> str:
        header = [
            "system",
            "error",
            _published_title(column),
            "range in hops",
            "parameters",
            "epochs",
            "CPU min",
            "seeds",
        ]
        usual, _ = _find_cpus([results for system in self.systems for results in found[column.key, system.key]])
        exchange = any(isinstance(test, RangeTest) and test.exchange for test in column.tests)
        header[4:4] = ["by exchange"] * exchange
        lines = [
            [
                _title(system, results, column),
                _error([results], column),
                column.published.get(system.key, "-"),
                _range(results, place),
                *[_range(results, place, exchange=True)] * exchange,
                f"{results.parameters:,} {results.row.size_unit}".strip() if results.results else "-",
                str(results.row.experiment().train.epochs),
                _minutes(results, usual),
                results.seeds,
            ]
            for system in self.systems
            for results in found[column.key, system.key]
        ]
        return markdown_table(header, lines)

    def _rank(self, column: Column, found: "_Found") -> str:
        """Return which row came first, in words; nothing before two rows are finished."""
        errors = {
            system.title: errors[0]
            for system in self.systems
            for results in found[column.key, system.key][:1]
            if (errors := _errors(results, column))
        }
        if len(errors) < 2:
            return ""
        first, second, *_ = sorted(errors.items(), key=lambda pair: pair[1])
        told = f"Of {len(errors)} finished rows of {column.minutes} minutes the lowest error is that of {first[0]}"
        return f"{told} ({any_size(first[1], column.digits)}), then {second[0]} ({any_size(second[1], column.digits)})."


_Found = dict[tuple[str, str], list[RowResults]]


def _errors(results: RowResults, column: Column) -> list[float]:
    return [float(result["metrics"][column.number]) for result in results.results.values()]


def _error(found: Sequence[RowResults], column: Column) -> str:
    errors = [error for results in found for error in _errors(results, column)]
    mark = "†" if any(_is_old(result) for results in found for result in results.results.values()) else ""
    if len(errors) < 2:
        return any_size(errors[0] if errors else None, column.digits) + mark
    return f"{any_size(fmean(errors), column.digits)} (worst {any_size(max(errors), column.digits)}){mark}"


def _is_old(result: dict[str, Any]) -> bool:
    return bool(result["versions"].get("ghr") != version("ghr"))


def _minutes(results: RowResults, usual: str) -> str:
    """Return the processor time, marked where it is not of the usual machine."""
    times = [result.get("cpu_seconds", result["seconds"]) for result in results.results.values()]
    mark = "‡" if any(cpu != usual for cpu in _list_cpus(results)) else ""
    return f"{fmean(times) / 60:.1f}{mark}" if times else "-"


def _list_cpus(results: RowResults) -> list[str]:
    return [result["machine"]["cpu"] for result in results.results.values()]


def _find_cpus(rows: Sequence[RowResults]) -> tuple[str, list[str]]:
    """Return what most runs were trained on, and what others were."""
    found = [cpu for cpu, _ in Counter(cpu for results in rows for cpu in _list_cpus(results)).most_common()]
    return (found[0], found[1:]) if found else ("", [])


def _tell_machines(rows: Sequence[RowResults]) -> str:
    """Say what "‡" stands for; nothing where all runs were trained on machines of one kind."""
    usual, others = _find_cpus(rows)
    told = f'Processor time is that of {usual}; "‡" stands behind that of {" or ".join(others)}, of the same epochs.'
    return told if others else ""


def _range(results: RowResults, place: Place, *, exchange: bool = False) -> str:
    """Return how far the models look, the mean over seeds; a dash where nobody has asked."""
    asked = any(isinstance(test, RangeTest) and test.exchange == exchange for test in results.row.tests)
    runs = [RowRun(results.row, seed, place.runs) for seed in results.results if asked]
    found = [read_range(run, place.data, exchange=exchange) for run in runs]
    known = [value for value in found if value is not None]
    return number(fmean(known) if known else None, 1)


def _title(system: System, results: RowResults, column: Column) -> str:
    return f"{system.title}, about {column.long_minutes} min" if _is_long(results.row) else system.title


def _is_long(row: Row) -> bool:
    return row.setup.seeds == LONG_SEEDS


def _describe(column: Column) -> str:
    graphs = " / ".join(f"{count:,}" for count in column.graphs.values())
    text = (
        f"`{column.benchmark}`, {graphs} graphs for training, validation and test; about {column.minutes} minutes of "
        "processor time."
    )
    if column.elsewhere:
        text += f" Published beside the paper, without a row here: {column.elsewhere}."
    return f"{text}\n\n**{column.caution}**" if column.caution else text


def _published_title(column: Column) -> str:
    return "published (not comparable)" if column.caution else "published"


def _seeds(results: RowResults, column: Column) -> list[dict[str, Any]]:
    return [
        {
            "seed": seed,
            "error": result["metrics"][column.number],
            **{name: result[name] for name in ("epochs", "best_epoch", "parameters", "seconds")},
            "cpu_seconds": result.get("cpu_seconds"),
            "versions": result["versions"],
            "machine": result["machine"],
        }
        for seed, result in results.results.items()
    ]


ECHO = EqualTable(
    "table-echo",
    "ECHO: every system at equal cost",
    "Graphs of six families, 17 to 40 hops wide. Rows from the literature have 20 layers (GPS 4, DRew 5) and "
    "about 15,000 parameters, batches of 32, Adam with a learning rate of 0.001 that falls to zero. The last two "
    "columns are molecules, as wide, with other labels than the published ones; there all rows of GHR have the paper's "
    "loops: 4 global steps, one update of the coarse level in each and three of the graph after it.",
    ECHO_SYSTEMS,
    (*ECHO_COLUMNS, *ECHO_CHEM_COLUMNS),
)
LRIM = EqualTable(
    "table-lrim",
    "LRIM: every system at equal cost",
    "Local energies on Ising lattices, the logarithm to base 10 of the mean squared error. The paper's GHR has 256 "
    "channels; a step of it takes too long for this budget, so it has 64 here, and other systems about as many "
    "parameters. `sum` knows places and directions on the lattice, which no system of the literature does; the row "
    "without them shows what they are worth. Two floors know the lattice too, so that nobody takes for a gain of the "
    "hierarchy what the lattice alone gives: a convolutional U-Net, and one linear kernel, which has the form of the "
    "energies and is exact on the side it is trained on.",
    LRIM_SYSTEMS,
    LRIM_COLUMNS,
)
LRGB = EqualTable(
    "table-lrgb",
    "LRGB: every system at equal cost",
    "Eleven numbers about the shape of a peptide, the mean absolute error over all of them. The peptides are those of "
    "the published benchmark, which you need to have: [benchmarks](../datasets.md) says where their two files belong. "
    "All rows have about 20,000 parameters, as the paper's GHR has; the other published ones have 500,000. Batches of "
    "32, AdamW with a learning rate of 0.001 that falls to zero, 5 layers (GPS and Graph ViT 4, Cache-GNN 10). **The "
    "last row is the floor that a graph network has to beat**: it only counts fragments of a molecule.",
    LRGB_SYSTEMS,
    LRGB_COLUMNS,
)
