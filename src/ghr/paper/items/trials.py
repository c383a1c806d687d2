"""Past the paper: what each part of the min-plus extension is for, and questions other than distances."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from ghr.hierarchy import HierarchicalData
from ghr.paper.beyond import FAR, FarTest, judge_far
from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table, spread
from ghr.paper.results import Spread
from ghr.paper.row import Row
from ghr.paper.runs import Run, runs_of
from ghr.paper.trial_data import constant_coarse_edges, exact_centre_paths
from ghr.paper.trials import COARSE_EDGES, OTHER_QUESTIONS, PARTS_REPLACED
from ghr.train.evaluate import Examples

_SETTING = """\
**Nothing here is in the paper.** The rows are variants of `MinPlusGHR`, each trained on distances up to 5 hops (1,000
graphs of 40-60 nodes) and tested on fresh graphs to {distance} hops (300-500 nodes). Errors are mean absolute errors
over the nodes within and beyond 5 hops, mean ± standard deviation over seeds; "constant" is the error beyond 5 hops of
the best constant prediction, the median of the targets there."""

_REPLACED = """\
## What the parts are for

Distances in hops; one part replaced at a time, {updates} updates, trained for 12 epochs where nothing else is said. The
soft minimum is a weighted mean of all neighbours whose sharpness is learned. It starts at one: a neighbour that is one
hop nearer counts e times as much. So this cell does not start as the algorithm of Bellman and Ford."""

_QUESTIONS = """\
## Other questions

On graphs with lengths, {updates} updates. "Offsets": edges carry the difference of their ends' positions, and the
length has to be learned. "Widest path": the longest edge on the way on which it is shortest. "Budget": whether a node
is within half of the longest distance in its graph, 0 or 1; the model is told the budget."""

_COARSE = """\
## Coarse edges

Distances in hops, {updates} updates, half of what the distance needs: the weights of the row of `table-beyond` with two
levels, on coarse edges as long as paths through the edge that joins two clusters (what `CentrePaths` computes), as the
shortest paths between the centres, and all of the same length."""

_HEADER = ("row", "in range", "out of range", "constant", "training (s)", "seeds")
_COARSE_EDGES: dict[str, Callable[[HierarchicalData], HierarchicalData]] = {
    "paths through the joining edge": lambda data: data,
    "shortest paths between centres": exact_centre_paths,
    "all of the same length": constant_coarse_edges,
}


@dataclass(frozen=True)
class TrialsTable:
    """Errors of the min-plus extension with parts replaced, on other questions and with other coarse edges."""

    name: str = "table-trials"
    title: str = "Beyond the paper: what min-plus message passing needs, and what it cannot do"
    replaced: tuple[Row, ...] = PARTS_REPLACED
    questions: tuple[Row, ...] = OTHER_QUESTIONS
    coarse: Row = COARSE_EDGES
    test: FarTest = FAR[0]

    @property
    def rows(self) -> tuple[Row, ...]:
        """All that is trained."""
        return (*self.replaced, *self.questions, self.coarse)

    def report(self, place: Place) -> Report:
        """Judge every finished run."""
        text = [_SETTING.format(distance=self.test.distance)]
        record: list[dict[str, Any]] = []
        for heading, rows in ((_REPLACED, self.replaced), (_QUESTIONS, self.questions)):
            updates = self.test.updates(1)
            judged = {row.title: self._judge(row, place, updates) for row in rows}
            text += [heading.format(updates=updates), _table(judged)]
            record += [each for found in judged.values() for each in found]
        updates = self.test.updates(2)
        judged = {
            name: [{**each, "coarse_edges": name} for each in self._judge(self.coarse, place, updates, change)]
            for name, change in _COARSE_EDGES.items()
        }
        text += [_COARSE.format(updates=updates), _table(judged)]
        record += [each for found in judged.values() for each in found]
        return Report("\n\n".join(text), {"rows": [row.describe() for row in self.rows], "judged": record})

    def _judge(
        self,
        row: Row,
        place: Place,
        updates: int,
        change: Callable[[HierarchicalData], HierarchicalData] | None = None,
    ) -> list[dict[str, Any]]:
        finished = [run for run in runs_of([row], place.runs, seeds=place.seeds) if run.result() is not None]
        if not finished:
            return []
        graphs: Examples = self.test.load(place.data, row.recipe)
        if change is not None:
            graphs = [change(graphs[i]) for i in range(len(graphs))]
        constant = _constant_error(graphs, row.recipe.data.in_range)
        return [_short(judge_far(run.model(), row, graphs, updates), run, constant) for run in finished]


def _constant_error(graphs: Examples, in_range: int) -> float:
    beyond = [graphs[i].y[graphs[i].hops > in_range] for i in range(len(graphs))]
    target = torch.cat(beyond)
    return float((target - target.median()).abs().mean())


def _short(judged: dict[str, Any], run: Run, constant: float) -> dict[str, Any]:
    result = run.result()
    assert result is not None
    kept = {name: judged[name] for name in ("in_range", "out_of_range", "updates")}
    return {"row": run.row.name, "seed": run.seed, **kept, "constant": constant, "seconds": result["seconds"]}


def _table(judged: dict[str, list[dict[str, Any]]]) -> str:
    return markdown_table(_HEADER, [_line(title, found) for title, found in judged.items()])


def _line(title: str, judged: list[dict[str, Any]]) -> list[str]:
    if not judged:
        return [title, *["-"] * 4, "not run"]
    digits = {"in_range": 4, "out_of_range": 4, "constant": 4, "seconds": 0}
    cells = [spread(Spread.over([each[name] for each in judged]), count) for name, count in digits.items()]
    return [title, *cells, str(len(judged))]
