"""Errors on ECHO by distance and by diameter, all systems."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ghr.paper.equal import Column, System
from ghr.paper.item import Place, Report
from ghr.paper.markdown import any_size, markdown_table
from ghr.paper.results import gather
from ghr.paper.row import AS_TRAINED, Row
from ghr.paper.runs import RowRun
from ghr.paper.systems import ECHO_COLUMNS, ECHO_SYSTEMS
from ghr.plots.curves import Panel, draw_curves

_SETTING = """\
The runs of [`table-echo`](table-echo.md): every system at equal cost, one seed. First the error of `sssp` by the
distance from the source, then the errors of all tasks by the diameter of the graph. Every distance was seen in
training. A system that cannot see far enough has an error that grows where its layers end. Mean absolute error in
hops."""

_SHOWN = (5, 10, 20, 30, 40)
_WIDE = (20, 25, 30, 35, 40)
_Curve = Mapping[int, tuple[float, float | None]]


@dataclass(frozen=True)
class EchoRange:
    """Errors on ECHO by distance and by diameter, from the runs of ``table-echo``."""

    name: str = "figure-echo-range"
    title: str = "ECHO: errors by distance and by diameter"
    systems: tuple[System, ...] = ECHO_SYSTEMS
    columns: tuple[Column, ...] = ECHO_COLUMNS

    @property
    def rows(self) -> tuple[Row, ...]:
        """Those of ``table-echo`` with one seed."""
        return tuple(row for column in self.columns for system in self.systems if (row := column.row(system)))

    def report(self, place: Place) -> Report:
        """Draw all curves, and list some of their points."""
        panels, text, record = [], [_SETTING], {}
        for column in self.columns:
            by_distance, by_diameter = self._read(column, place)
            titles = [system.title for system in self.systems if column.row(system) is not None]
            if by_distance:
                panels.append(Panel(f"{column.key}, by distance", None, by_distance))
                text += [f"## {column.key}, by distance", _table(by_distance, _SHOWN, titles)]
            panels.append(Panel(f"{column.key}, by diameter", None, by_diameter, "diameter of the graph (hops)"))
            text += [f"## {column.key}, by diameter", _table(by_diameter, _WIDE, titles)]
            record[column.key] = {"by_distance": _plain(by_distance), "by_diameter": _plain(by_diameter)}
        figure = draw_curves(panels, [system.title for system in self.systems], logarithmic=True)
        return Report("\n\n".join(text), {"curves": record}, figure)

    def _read(self, column: Column, place: Place) -> tuple[dict[str, _Curve], dict[str, _Curve]]:
        """Return the curves of all finished rows: by distance, where the task has any, and by diameter."""
        by_distance: dict[str, _Curve] = {}
        by_diameter: dict[str, _Curve] = {}
        for system in self.systems:
            row = column.row(system)
            results = None if row is None else gather([row], place.runs, place.seeds)[0]
            if row is None or results is None or not results.results:
                continue
            distances: dict[int, tuple[float, float | None]] = {
                d: (found.mean, found.std) for d, found in results.by_distance().items()
            }
            if distances:
                by_distance[system.title] = distances
            for seed in results.results:
                found = RowRun(row, seed, place.runs).ask(column.tests[0], AS_TRAINED, place.data)
                if found is not None:
                    by_diameter[system.title] = {int(width): (float(error), None) for width, error in found.items()}
        return by_distance, by_diameter


def _table(curves: Mapping[str, _Curve], shown: tuple[int, ...], titles: Sequence[str]) -> str:
    """Return some points of every curve; a system without one was not run."""
    lines = [
        [title, *(any_size(curve[d][0] if d in curve else None) for d in shown)]
        if (curve := curves.get(title))
        else [title, "not run", *[""] * (len(shown) - 1)]
        for title in titles
    ]
    return markdown_table(["system", *(f"{d} hops" for d in shown)], lines)


def _plain(curves: Mapping[str, _Curve]) -> dict[str, Any]:
    return {title: {d: round(value[0], 5) for d, value in curve.items()} for title, curve in curves.items()}
