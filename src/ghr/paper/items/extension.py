"""Past the paper: the min-plus extension at distances far out of its trained range."""

from dataclasses import dataclass
from typing import Any, cast

from ghr.models import MinPlusGHR
from ghr.paper.extension import EXTENSION, FAR_TESTS, PARTS, FarTest, evaluate_far
from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table, spread
from ghr.paper.results import Spread
from ghr.paper.row import Row
from ghr.paper.runs import list_runs

_SETTING = """\
**Nothing here is in the paper.** The rows are `MinPlusGHR`, an extension: minima instead of sums, no norm. With its
mixing weights at zero it is the algorithm of Bellman and Ford with scaled lengths; training mostly learns the scale.

Trained on distances up to 5 hops (graphs of 40-60 nodes) or 20 (300-350 nodes), tested on fresh graphs to 40 hops
(300-500 nodes) and to 90 (2,000 nodes). "Updates" are low-level updates in all: as many as the largest distance has
hops, half, and a third. A flat model cannot reach further than it has updates; a node it has not reached is predicted
at the start value, which is larger than any path of its graph could be, hence the large errors. So beside OOR, the
mean absolute error out of the trained range, stand the share of the nodes there that are lost, that is predicted at
more than twice their distance, and the error of the others. With two levels every low-level update is preceded by
one of the coarse level. Errors are in hops or in units of length (the square that the graphs lie in has sides of one),
mean ± standard deviation over seeds; "worst distance" is the error at the distance where it is largest; CPU is the
time of predicting all test graphs, on one thread where the process has one; training is the time on the clock, which
grows with whatever else the machine does."""

_HEADER = ("model", "in range", "OOR", "lost", "others", "worst distance", "CPU (s)", "training (s)", "seeds")
_DIGITS = {"in_range": 4, "out_of_range": 4, "lost": 3, "found": 4, "worst": 4, "cpu_seconds": 1, "seconds": 1}
_KEPT = ("in_range", "out_of_range", "lost", "found", "updates", "cpu_seconds")


@dataclass(frozen=True)
class ExtensionTable:
    """Errors of the min-plus extension far out of its trained range, with enough updates and with too few."""

    name: str = "table-beyond"
    title: str = "Beyond the paper: min-plus message passing far out of range"
    rows: tuple[Row, ...] = EXTENSION
    tests: tuple[FarTest, ...] = FAR_TESTS

    def report(self, place: Place) -> Report:
        """Evaluate every finished run on all test graphs."""
        text, record = [_SETTING], []
        for test in self.tests:
            evaluated = {row.title: _evaluate(row, test, place) for row in self.rows}
            record += [errors for found in evaluated.values() for errors in found]
            for part in PARTS:
                text.append(f"## To {test.distance} hops, {test.updates(part)} low-level updates")
                chosen = {
                    title: [errors for errors in found if errors["part"] == part] for title, found in evaluated.items()
                }
                text.append(markdown_table(_HEADER, [_line(title, found) for title, found in chosen.items()]))
        return Report("\n\n".join(text), {"rows": [row.describe() for row in self.rows], "evaluated": record})


def _evaluate(row: Row, test: FarTest, place: Place) -> list[dict[str, Any]]:
    evaluated = []
    for run in list_runs([row], place.runs, seeds=place.seeds):
        result = run.result()
        if result is None:
            continue
        model = cast(MinPlusGHR, run.open().model)
        graphs = test.load(place.data, weighted=row.setup.settings.get("weighted", False), transform=model.transform)
        origin = {"row": row.folder, "seed": run.seed, "distance": test.distance, "seconds": result["seconds"]}
        for part in PARTS:
            errors = evaluate_far(model, graphs, graphs.task, row.in_range, test.updates(part))
            worst = max(group["mae"] for group in errors["by_distance"].values())
            kept = {name: errors[name] for name in _KEPT}
            evaluated.append({**kept, "worst": worst, **origin, "part": part})
    return evaluated


def _line(title: str, evaluated: list[dict[str, Any]]) -> list[str]:
    if not evaluated:
        return [title, *["-"] * len(_DIGITS), "not run"]
    found = {name: [errors[name] for errors in evaluated if errors[name] is not None] for name in _DIGITS}
    cells = [spread(Spread.over(found[name]), count) for name, count in _DIGITS.items()]
    return [title, *cells, str(len(evaluated))]
