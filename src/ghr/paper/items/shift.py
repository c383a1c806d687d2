"""Left open by the paper: what trained models make of other features, other edges and other graphs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import fill

from ghr.paper.changes import Drop, Noise, Shift
from ghr.paper.equal import Column, System
from ghr.paper.item import Place, Report
from ghr.paper.markdown import any_size, markdown_table
from ghr.paper.results import gather
from ghr.paper.row import AS_TRAINED, Row, Test
from ghr.paper.runs import RowRun
from ghr.paper.shift_tests import SCORE, Changed, OtherGraphs, OtherTemperature
from ghr.paper.strange import relabel_paths
from ghr.paper.systems import ECHO_COLUMNS, ECHO_SYSTEMS, LRIM_COLUMNS, LRIM_SYSTEMS

_SETTING = """\
The paper names robustness to other data as a question that it leaves open. These are runs of
[`table-echo`](table-echo.md) and [`table-lrim`](table-lrim.md), trained as they are there, every system at equal cost
and with one seed; nothing was trained or chosen for this table. They are tested unchanged on graphs that differ in one
way from those of the benchmark. The first column is the same graphs as they are. A dash stands where a run is not
finished or was not asked, or where a model does not take such graphs at all; what it says then stands below."""


@dataclass(frozen=True)
class ShiftGroup:
    """Systems of one benchmark, and the graphs they are tested on.

    Args:
        column: The benchmark, with how they are trained.
        systems: The systems.
        text: How the graphs differ.
        tests: For every title, the graphs; those as they are come first.
    """

    column: Column
    systems: tuple[System, ...]
    text: str
    tests: dict[str, Test]

    def row(self, system: System) -> Row | None:
        """Return the row of a system, which asks all tests; ``None`` where the column does not have it."""
        row = self.column.row(system)
        return None if row is None else replace(row, tests=(*row.tests, *self.tests.values()))


def choose(systems: Sequence[System], *keys: str) -> tuple[System, ...]:
    """Return some systems by their keys."""
    known = {system.key: system for system in systems}
    return tuple(known[key] for key in keys)


ECHO_SHIFTS = ShiftGroup(
    ECHO_COLUMNS[0],
    choose(ECHO_SYSTEMS, "ghr-gated-gine", "ghr-select", "gin", "swan", "gps"),
    "Shortest paths on 240 test graphs. Features are the mark of the source and a number at random; shift and noise "
    "fall on both. Where edges are dropped, distances are those of the graph that is left, and nodes without a path do "
    "not count. Other graphs are drawn by generators that no training has seen: points in a square that are joined if "
    "they are near (80 to 240 nodes), and trees drawn uniformly (40 to 120 nodes), 100 of each, at most 40 hops.",
    {
        "as they are": Changed("echo-sssp", 240),
        "shift 0.1": Changed("echo-sssp", 240, Shift(0.1)),
        "shift 0.5": Changed("echo-sssp", 240, Shift(0.5)),
        "noise 0.05": Changed("echo-sssp", 240, Noise(0.05)),
        "noise 0.2": Changed("echo-sssp", 240, Noise(0.2)),
        "2 % fewer edges": Changed("echo-sssp", 240, Drop(0.02, relabel_paths)),
        "10 % fewer edges": Changed("echo-sssp", 240, Drop(0.1, relabel_paths)),
        "geometric graphs": OtherGraphs("geometric", 100),
        "uniform trees": OtherGraphs("uniform trees", 100),
    },
)
LRIM_SHIFTS = ShiftGroup(
    LRIM_COLUMNS[0],
    choose(LRIM_SYSTEMS, "ghr-gated-gcn", "ghr-sum", "ghr-sum-plain", "gated-gcn", "gps"),
    "Local energies on 100 test lattices of side 16. Targets stay those of the true spins, also where edges are "
    "dropped: energies do not depend on what a model is told of the lattice. Other lattices are drawn at other "
    "temperatures, with the same couplings: more ordered at 0.8 of the benchmark's, less at twice it, and nearly at "
    "random at a hundred times it. `sum` with places and directions knows the lattice and reads no edges at all.",
    {
        "as they are": Changed("lrim-16-hard", 100),
        "shift 0.1": Changed("lrim-16-hard", 100, Shift(0.1)),
        "shift 0.5": Changed("lrim-16-hard", 100, Shift(0.5)),
        "noise 0.05": Changed("lrim-16-hard", 100, Noise(0.05)),
        "noise 0.2": Changed("lrim-16-hard", 100, Noise(0.2)),
        "2 % fewer edges": Changed("lrim-16-hard", 100, Drop(0.02)),
        "10 % fewer edges": Changed("lrim-16-hard", 100, Drop(0.1)),
        "temperature x 0.8": OtherTemperature(0.8, 100),
        "temperature x 2": OtherTemperature(2, 100),
        "temperature x 100": OtherTemperature(100, 100),
    },
)


@dataclass(frozen=True)
class ShiftTable:
    """Errors of trained models on graphs that differ from those of their benchmark."""

    name: str = "table-shift"
    title: str = "Left open by the paper: other features, other edges, other graphs"
    groups: tuple[ShiftGroup, ...] = (ECHO_SHIFTS, LRIM_SHIFTS)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Some rows of the tables on ECHO and LRIM, which are asked more here."""
        return tuple(row for group in self.groups for system in group.systems if (row := group.row(system)) is not None)

    def report(self, place: Place) -> Report:
        """Make a table of every group."""
        text, record = [_SETTING], []
        for group in self.groups:
            lines, remarks, header = [], [], ["system", *group.tests, "seeds"]
            for system in group.systems:
                scores, why, seeds = _ask(group, system, place)
                digits = group.column.digits
                lines.append([system.title, *(any_size(scores.get(title), digits) for title in group.tests), seeds])
                remarks += [f"- {system.title}, {title}: {said}" for title, said in why.items()]
                remarks += _judge(system, scores, digits)
                record.append({"column": group.column.key, "system": system.key, "scores": scores, "why": why})
            text += [f"## {group.column.title}", fill(group.text, 120), markdown_table(header, lines)]
            text.append("\n".join(remarks))
        return Report("\n\n".join(part for part in text if part), {"rows": record})


def _ask(group: ShiftGroup, system: System, place: Place) -> tuple[dict[str, float], dict[str, str], str]:
    """Return the scores of a finished run by the title of the test, why it has none on some, and how many runs are."""
    scores: dict[str, float] = {}
    why: dict[str, str] = {}
    row = group.row(system)
    if row is None:
        return scores, why, "not run"
    results = gather([row], place.runs, place.seeds)[0]
    for seed in list(results.results)[:1]:
        run = RowRun(row, seed, place.runs)
        for title, test in group.tests.items():
            found = run.ask(test, AS_TRAINED, place.data)
            if found is None:
                folder = run.path.relative_to(place.runs).parent
                why["not asked"] = f"its run was kept without weights; take {folder} out of results to train it again."
            elif found.get(SCORE) is not None:
                scores[title] = float(found[SCORE])
            elif "why" in found:
                why[title] = found["why"]
    return scores, why, results.seeds


def _judge(system: System, scores: dict[str, float], digits: int) -> list[str]:
    """Return under what a system suffers most, in words."""
    clean, *others = scores.items() if scores else [("", 0.0)]
    if not others:
        return []
    title, worst = max(others, key=lambda pair: pair[1])
    return [f"- {system.title}: worst at {title}, {any_size(clean[1], digits)} becomes {any_size(worst, digits)}."]
