"""Error against the number of parameters."""

from dataclasses import dataclass
from typing import get_args

from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table, spread
from ghr.paper.results import RowResults, gather
from ghr.paper.rgg import ABLATIONS, LONG, REDUCED
from ghr.paper.row import Family, Row
from ghr.plots.parameters import Sized, draw_parameters

_CLAIM = """\
The paper shows this on ECHO, where GHR has 10-20 thousand parameters and the models it is compared with have more. Here
it is on the random geometric graphs of the ablations, whose rows and budgets these are. Mean absolute error in hops,
mean ± standard deviation over seeds, with the loops with which the paper goes out of the trained range:"""

_PANELS = {"in range (<= 20)": "in_range", "out of range (21-40)": "out_of_range"}


@dataclass(frozen=True)
class Parameters:
    """Errors of all variants against their size."""

    name: str = "figure-parameters"
    title: str = "Error against the number of parameters on RGG-SSSP"
    rows: tuple[Row, ...] = ABLATIONS

    def report(self, place: Place) -> Report:
        """Draw the error in and out of the trained range over the number of parameters."""
        gathered = gather((*LONG, *REDUCED), place.runs, place.seeds)
        lines = [
            [
                results.row.title,
                f"{results.parameters:,}",
                *(spread(results.spread(name, results.row.far_loops)) for name in _PANELS.values()),
                results.row.far_loops.label,
                results.seeds,
                results.row.budget,
            ]
            for results in sorted(gathered, key=lambda results: results.parameters)
        ]
        header = ["model", "parameters", "ID", "OOR", "loops at test", "seeds", "budget"]
        figure = draw_parameters([_size(results) for results in gathered if results.results], [*_PANELS])
        record = {"rows": [results.record() for results in gathered]}
        return Report(f"{_CLAIM}\n\n{markdown_table(header, lines)}", record, figure)


def _size(results: RowResults) -> Sized:
    row = results.row
    errors = {title: results.spread(name, row.far_loops) for title, name in _PANELS.items()}
    return Sized(row.title, get_args(Family).index(row.family), results.parameters, errors)
