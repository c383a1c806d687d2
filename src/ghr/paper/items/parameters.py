"""Error against the number of parameters."""

from dataclasses import dataclass

from matplotlib.figure import Figure

from ghr.paper.figures import COLOURS
from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table, spread
from ghr.paper.results import RowResults, gather
from ghr.paper.rgg import ABLATIONS, FULL, REDUCED
from ghr.paper.row import Row

_CLAIM = """\
The paper shows this on ECHO, where GHR has 10-20 thousand parameters and the models it is compared with have more. Here
it is on the random geometric graphs of the ablations, whose rows and budgets these are. Mean absolute error in hops,
mean ± standard deviation over seeds, with the numbers of steps with which the paper goes beyond the trained range:"""


@dataclass(frozen=True)
class Parameters:
    """Errors of all variants against their size."""

    name: str = "figure-parameters"
    title: str = "Error against the number of parameters on RGG-SSSP"

    @property
    def rows(self) -> tuple[Row, ...]:
        """As in the table of ablations."""
        return ABLATIONS

    def report(self, place: Place) -> Report:
        """Draw the error within and beyond the trained range over the number of parameters."""
        gathered = [gather(row, place.runs, place.seeds) for row in (*FULL, *REDUCED)]
        lines = [
            [
                each.row.title,
                f"{each.parameters:,}",
                spread(each.spread("in_range", each.row.beyond)),
                spread(each.spread("out_of_range", each.row.beyond)),
                each.row.beyond.label,
                each.seeds,
                each.row.budget,
            ]
            for each in sorted(gathered, key=lambda each: each.parameters)
        ]
        header = ["model", "parameters", "ID", "OOR", "steps at test", "seeds", "budget"]
        record = {"rows": [each.record() for each in gathered]}
        figure = _draw([each for each in gathered if each.results])
        return Report(f"{_CLAIM}\n\n{markdown_table(header, lines)}", record, figure)


def _draw(gathered: list[RowResults]) -> Figure:
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    both = figure.subplots(1, 2)
    names = {"in_range": "within the trained range (<= 20)", "out_of_range": "beyond it (21-40)"}
    colours = [_colour(each) for each in gathered]
    for axes, (name, title) in zip(both, names.items(), strict=True):
        for place, each in enumerate(gathered):
            value = each.spread(name, each.row.beyond)
            if value is not None:
                axes.errorbar(each.parameters, value.mean, value.std, fmt="o", color=colours[place], capsize=3)
                axes.annotate(str(place + 1), (each.parameters, value.mean), (5, 4), textcoords="offset points")
        axes.set(xscale="log", title=title, xlabel="parameters")
        axes.margins(x=0.12)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    both[0].set_ylabel("mean absolute error (hops)")
    legend = [f"{place + 1} {each.row.title}" for place, each in enumerate(gathered)]
    if legend:
        handles = [both[0].plot([], [], " ")[0] for _ in legend]
        figure.legend(
            handles, legend, loc="outside right center", frameon=False, handlelength=0, fontsize=9, labelcolor=colours
        )
    return figure


def _colour(each: RowResults) -> str:
    return next(
        colour
        for colour, family in zip(COLOURS, ("GHR", "Recurrent", "Deep"), strict=False)
        if each.row.title.startswith(family)
    )
