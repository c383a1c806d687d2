"""Past the paper: the min-plus extension at distances far beyond those of its training."""

from dataclasses import dataclass
from typing import Any

from ghr.paper.beyond import BEYOND, FAR, PARTS, FarTest, judge_far
from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table, spread
from ghr.paper.results import Spread
from ghr.paper.row import Row
from ghr.paper.runs import Run, runs_of

_SETTING = """\
**Nothing here is in the paper.** The rows are `MinPlusGHR`, an extension: minima instead of sums, no norm. With its
mixing weights at zero it is the algorithm of Bellman and Ford with scaled lengths; training mostly learns the scale.

Trained on distances up to 5 hops (graphs of 40-60 nodes) or 20 (300-350 nodes), tested on fresh graphs to 40 hops
(300-500 nodes) and to 90 (2,000 nodes). "Updates" are low-level updates in all: as many as the largest distance has
hops, half, and a third. A flat model cannot reach further than it has updates; a node it has not reached is predicted
at the start value, which is larger than any path of its graph could be, hence the large errors. So beside OOR, the
mean absolute error beyond the trained range, stand the share of the nodes beyond it that are lost, that is predicted
at more than twice their distance, and the error of the others. With two levels every low-level update is preceded by
one of the coarse level. Errors are in hops or in units of length (the square that the graphs lie in has sides of one),
mean ± standard deviation over seeds; "worst distance" is the error at the distance where it is largest; CPU is the
time of predicting all test graphs, on one thread where the process has one; training is the time on the clock, which
grows with whatever else the machine does."""

_HEADER = ("model", "in range", "OOR", "lost", "others", "worst distance", "CPU (s)", "training (s)", "seeds")


@dataclass(frozen=True)
class BeyondTable:
    """Errors of the min-plus extension far beyond its training, with enough updates and with too few."""

    name: str = "table-beyond"
    title: str = "Beyond the paper: min-plus message passing far out of range"
    rows: tuple[Row, ...] = BEYOND
    tests: tuple[FarTest, ...] = FAR

    def report(self, place: Place) -> Report:
        """Judge every finished run on all test graphs."""
        text, record = [_SETTING], []
        for test in self.tests:
            judged = {row.title: self._judge(row, test, place) for row in self.rows}
            record += [each for rows in judged.values() for each in rows]
            for part in PARTS:
                updates = test.updates(part)
                text.append(f"## To {test.distance} hops, {updates} low-level updates")
                chosen = {title: [each for each in rows if each["part"] == part] for title, rows in judged.items()}
                text.append(markdown_table(_HEADER, [_line(title, rows) for title, rows in chosen.items()]))
        return Report("\n\n".join(text), {"rows": [row.describe() for row in self.rows], "judged": record})

    def _judge(self, row: Row, test: FarTest, place: Place) -> list[dict[str, Any]]:
        finished = [run for run in runs_of([row], place.runs, seeds=place.seeds) if run.result() is not None]
        if not finished:
            return []
        graphs = test.load(place.data, row.recipe)
        return [
            {**_short(judge_far(run.model(), row, graphs, test.updates(part))), **_origin(run, test), "part": part}
            for run in finished
            for part in PARTS
        ]


def _short(judged: dict[str, Any]) -> dict[str, Any]:
    worst = max(group["mae"] for group in judged["by_distance"].values())
    kept = ("in_range", "out_of_range", "lost", "found", "updates", "cpu_seconds")
    return {**{name: judged[name] for name in kept}, "worst": worst}


def _origin(run: Run, test: FarTest) -> dict[str, Any]:
    result = run.result()
    assert result is not None
    return {"row": run.row.name, "seed": run.seed, "distance": test.distance, "seconds": result["seconds"]}


def _line(title: str, judged: list[dict[str, Any]]) -> list[str]:
    if not judged:
        return [title, *["-"] * 7, "not run"]
    digits = {"in_range": 4, "out_of_range": 4, "lost": 3, "found": 4, "worst": 4, "cpu_seconds": 1, "seconds": 1}
    found = {name: [each[name] for each in judged if each[name] is not None] for name in digits}
    cells = [spread(Spread.over(found[name]), count) for name, count in digits.items()]
    return [title, *cells, str(len(judged))]
