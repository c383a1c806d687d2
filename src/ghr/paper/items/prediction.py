"""The paper's first figure: one graph with its true distances and those that two models predict."""

from dataclasses import dataclass

import torch
from matplotlib.figure import Figure
from torch import Tensor
from torch_geometric.data import Data

from ghr.paper.figures import draw_graph
from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table, number
from ghr.paper.results import RowResults, gather
from ghr.paper.rgg import PREDICTION
from ghr.paper.row import AS_TRAINED, Counts, Row
from ghr.paper.runs import runs_of

_CLAIM = """\
The paper shows one random geometric graph on which a deep GIN of 10 layers and GHR (T_H = 3, T_L = 4), both trained on
distances up to 10 hops, predict the distance from a source: both are right in range, only GHR beyond it. It prints no
numbers, and neither the size of its graphs nor the number of steps at inference.

Our graphs have 300-350 nodes and a mean degree of 12 in training; the figure shows the graph of the test set (300-500
nodes) that reaches furthest. Mean absolute error in hops, over all test graphs and on the graph shown:"""


@dataclass(frozen=True)
class Prediction:
    """True and predicted distances on one graph."""

    name: str = "figure-prediction"
    title: str = "Distances predicted beyond the trained range, on one graph"
    rows: tuple[Row, ...] = PREDICTION

    def report(self, place: Place) -> Report:
        """Predict the distances of the furthest reaching graph by the first seed of both models."""
        gathered = [gather(row, place.runs, place.seeds) for row in self.rows]
        finished = [each for each in gathered if each.results]
        header = ["model", "steps at test", "in range", "beyond", "shown: in range", "shown: beyond", "shown: largest"]
        in_range, lines, figure, shown = self.rows[0].recipe.data.in_range, [], None, {}
        if finished:
            graph = _furthest(self.rows[0], place)
            shown = {
                (each.row.title, counts): _predict(each, counts, place, graph)
                for each in finished
                for counts in dict.fromkeys((AS_TRAINED, each.row.beyond))
            }
            figure = _draw(graph, {f"{title}, {counts.label}": y for (title, counts), y in shown.items()}, in_range)
        for each in gathered:
            for counts in (AS_TRAINED, *each.row.inference):
                line = [each.row.title, counts.label]
                line += [number(each.mean(name, counts)) for name in ("in_range", "out_of_range")]
                here = shown.get((each.row.title, counts))
                line += ["", "", ""] if here is None else _errors(graph, here, in_range)
                lines.append([*line, each.seeds, each.row.budget, each.cost])
        text = f"{_CLAIM}\n\n{markdown_table([*header, 'seeds', 'budget', 'training'], lines)}"
        return Report(text, {"rows": [each.record() for each in gathered]}, figure)


def _furthest(row: Row, place: Place) -> Data:
    graph = max(row.recipe.data.load(place.data, "test"), key=lambda each: (int(each.hops.max()), each.num_nodes))
    assert isinstance(graph, Data)
    return graph


def _predict(each: RowResults, counts: Counts, place: Place, graph: Data) -> Tensor:
    run = next(run for run in runs_of([each.row], place.runs) if run.seed in each.results)
    with torch.no_grad():
        prediction: Tensor = run.model()(graph, **counts.given)
    return prediction.squeeze(1)


def _errors(graph: Data, prediction: Tensor, in_range: int) -> list[str]:
    error = (prediction - graph["y"].squeeze(1)).abs()
    near = graph.mask & (graph["hops"] <= in_range)
    far = graph.mask & (graph["hops"] > in_range)
    return [number(float(error[rows].mean())) for rows in (near, far)] + [
        number(float(prediction[graph.mask].max()), 1)
    ]


def _draw(graph: Data, shown: dict[str, Tensor], in_range: int) -> Figure:
    true, mask = graph["y"].squeeze(1), graph.mask
    top = float(true[mask].max())
    figure = Figure(figsize=(4.2 * (1 + len(shown)) + 1, 4.6), layout="constrained")
    all_axes = figure.subplots(1, 1 + len(shown))
    pictures = {
        f"true distance, up to {top:.0f} hops": true,
        **{f"predicted by {name}": y for name, y in shown.items()},
    }
    for axes, (title, value) in zip(all_axes, pictures.items(), strict=True):
        points = draw_graph(axes, graph, value.numpy(), mask.numpy(), top)
        axes.set_title(title, fontsize=11)
    bar = figure.colorbar(points, ax=all_axes, label="hops", shrink=0.8)
    bar.ax.axhline(in_range, color="white", linewidth=2)
    bar.ax.text(-0.3, in_range, "trained to", ha="right", va="center", fontsize=9)
    return figure
