"""The paper's first figure: one graph with its true distances and those that two models predict."""

from dataclasses import dataclass
from pathlib import Path

from torch import Tensor
from torch_geometric.data import Data

from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table, number
from ghr.paper.results import RowResults, gather
from ghr.paper.rgg import PREDICTION
from ghr.paper.row import AS_TRAINED, Loops, Row
from ghr.paper.runs import RowRun
from ghr.plots.distances import draw_predictions, find_furthest

_CLAIM = """\
The paper shows one random geometric graph on which a deep GIN of 10 layers and GHR (T_H = 3, T_L = 4), both trained on
distances up to 10 hops, predict the distance from a source: both are right in range, only GHR out of it. It prints no
numbers, and neither the size of its graphs nor the loops at inference.

Our graphs have 300-350 nodes and a mean degree of 12 in training; the figure shows the graph of the test set (300-500
nodes) that reaches furthest. Mean absolute error in hops, over all test graphs and on the graph shown:"""

_HEADER = (
    "model",
    "loops at test",
    "in range",
    "out of range",
    "shown: in range",
    "shown: out of range",
    "shown: largest",
    "seeds",
    "budget",
    "training",
)


@dataclass(frozen=True)
class Prediction:
    """True and predicted distances on one graph."""

    name: str = "figure-prediction"
    title: str = "Distances predicted out of the trained range, on one graph"
    rows: tuple[Row, ...] = PREDICTION

    def report(self, place: Place) -> Report:
        """Predict the distances of the furthest reaching graph by the first seed of both models."""
        gathered = gather(self.rows, place.runs, place.seeds)
        finished = [results for results in gathered if results.results]
        shown: dict[tuple[str, Loops], list[str]] = {}
        figure, in_range = None, self.rows[0].in_range
        if finished:
            graph = find_furthest(self.rows[0].experiment().data.load(place.data).named()["test"])
            predictions = {
                (results.row.title, loops): _predict(results, loops, place.runs, graph)
                for results in finished
                for loops in dict.fromkeys((AS_TRAINED, results.row.far_loops))
            }
            shown = {key: _measure(graph, prediction, in_range) for key, prediction in predictions.items()}
            titles = {f"{title}, {loops.label}": prediction for (title, loops), prediction in predictions.items()}
            figure = draw_predictions(graph, titles, in_range)
        lines = [
            [
                results.row.title,
                loops.label,
                *(number(results.mean(name, loops)) for name in ("in_range", "out_of_range")),
                *shown.get((results.row.title, loops), ["", "", ""]),
                results.seeds,
                results.row.budget,
                results.cost,
            ]
            for results in gathered
            for loops in results.row.all_loops
        ]
        text = f"{_CLAIM}\n\n{markdown_table(_HEADER, lines)}"
        return Report(text, {"rows": [results.record() for results in gathered]}, figure)


def _predict(results: RowResults, loops: Loops, runs: Path, graph: Data) -> Tensor:
    """Return what the first finished seed predicts."""
    run = RowRun(results.row, next(iter(results.results)), runs).open()
    return run.predict(graph, **loops.given)[0]


def _measure(graph: Data, prediction: Tensor, in_range: int) -> list[str]:
    error, mask, hops = (prediction - graph["y"]).abs().squeeze(1), graph["mask"], graph["hops"]
    parts = (error[mask & (hops <= in_range)].mean(), error[mask & (hops > in_range)].mean())
    return [*(number(float(part)) for part in parts), number(float(prediction[mask].max()), 1)]
