"""The ablations on random geometric graphs: their table, and their figure of the error by distance."""

from dataclasses import dataclass

from ghr.paper.claims import Claim, claims_table
from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table, number, spread
from ghr.paper.results import RowResults, Spread, gather
from ghr.paper.rgg import ABLATIONS, LONG, REDUCED
from ghr.paper.row import Row
from ghr.plots.curves import Panel, draw_curves

_SETTING = """\
Random geometric graphs of 300-350 nodes with distances up to 20 hops in training (ID), tested on graphs of 300-500
nodes with distances up to 40 (OOR: more than 20). Mean absolute error in hops, mean ± standard deviation over seeds.
The paper prints a deviation too, without saying over what.

**Budgets differ.** Rows of full protocol are trained as the paper says; one of them has a rate that falls. All other
rows are trained with a reduced budget, about the same time for each, stated on every row: compare them with each other,
and with the paper's numbers only with that in mind. "Loops at test" are those with which the paper goes out of the
trained range. "Training" is the mean over seeds; its time is that of the clock, which grows with whatever else the
machine does."""

_SHOWN = (1, 5, 10, 15, 20, 25, 30, 35, 40)


@dataclass(frozen=True)
class AblationTable:
    """Errors of all variants in and out of the trained range, beside the paper's."""

    name: str = "table-ablations"
    title: str = "Ablations of GHR on RGG-SSSP"
    rows: tuple[Row, ...] = ABLATIONS

    def report(self, place: Place) -> Report:
        """List our numbers and the paper's, and ours with other loops."""
        full, reduced = (gather(rows, place.runs, place.seeds) for rows in (LONG, REDUCED))
        text = [_SETTING, _main_table([*full, *reduced])]
        text += ["## What holds", claims_table(_claims(full, reduced))]
        text += ["## Other loops at inference", _loops_table([*full, *reduced])]
        return Report("\n\n".join(text), {"rows": [results.record() for results in (*full, *reduced)]})


@dataclass(frozen=True)
class AblationFigure:
    """Error by distance of all variants, up to 40 hops."""

    name: str = "figure-ablations"
    title: str = "Ablations of GHR on RGG-SSSP, by distance"
    rows: tuple[Row, ...] = ABLATIONS

    def report(self, place: Place) -> Report:
        """Draw all variants with the loops with which the paper goes out of the trained range."""
        gathered = gather((*LONG, *REDUCED), place.runs, place.seeds)
        finished = [results for results in gathered if results.results]
        panels = {
            "GHR": [results for results in finished if results.row.family == "GHR"],
            "flat models": [results for results in finished if results.row.family != "GHR"],
        }
        figure = draw_curves(
            [
                Panel(title, self.rows[0].in_range, {results.row.title: _curve(results) for results in chosen})
                for title, chosen in panels.items()
            ]
        )
        header = ["model", "loops at test", *(str(d) for d in _SHOWN), "seeds", "budget"]
        lines = [
            [
                results.row.title,
                results.row.far_loops.label,
                *(number(results.at_distance(d, results.row.far_loops), 2) for d in _SHOWN),
                results.seeds,
                results.row.budget,
            ]
            for results in gathered
        ]
        text = f"{_SETTING}\n\nMean absolute error at some distances:\n\n{markdown_table(header, lines)}"
        return Report(text, {"rows": [results.record() for results in gathered]}, figure)


def _curve(results: RowResults) -> dict[int, Spread]:
    return results.by_distance(results.row.far_loops)


def _claims(full: list[RowResults], reduced: list[RowResults]) -> list[Claim]:
    by_title = {results.row.title: results for results in reduced}
    return [
        Claim.below(
            "GHR-GatedGINE keeps working out of range (the paper's OOR is 0.578; at most 1, full protocol)",
            1.0,
            {full[0].row.title: full[0].mean("out_of_range", full[0].row.far_loops)},
        ),
        Claim.lowest(
            "GHR-GatedGINE has the lowest OOR of all variants (reduced budget)",
            {title: results.mean("out_of_range", results.row.far_loops) for title, results in by_title.items()},
        ),
        Claim.below(
            "deep flat models stop near the trained depth of 20 (largest prediction at most 25)",
            25.0,
            {title: got.mean("largest_prediction") for title, got in by_title.items() if got.row.family == "Deep"},
        ),
        *(
            Claim.lowest(
                f"global recurrence makes Recurrent-{conv} more accurate in range (ID, as trained)",
                {title: by_title[title].mean("in_range") for title in (f"Recurrent-{conv} + GR", f"Recurrent-{conv}")},
            )
            for conv in ("GINE", "GatedGINE")
        ),
    ]


def _main_table(gathered: list[RowResults]) -> str:
    errors = [word for name in ("Test", "ID", "OOR", "largest") for word in (name, "paper")]
    lines = []
    for results in gathered:
        row, paper = results.row, results.row.reported
        line = [row.title]
        for name in ("mae", "in_range", "out_of_range"):
            printed = None if paper is None else Spread(*getattr(paper, name))
            line += [spread(results.spread(name, row.far_loops)), spread(printed)]
        line.append(number(results.mean("largest_prediction", row.far_loops), 2))
        line.append(number(None if paper is None else paper.largest_prediction, 2))
        lines.append([*line, row.far_loops.label, results.seeds, row.budget, results.cost])
    return markdown_table(["model", *errors, "loops at test", "seeds", "budget", "training"], lines)


def _loops_table(gathered: list[RowResults]) -> str:
    lines = [
        [
            results.row.title,
            loops.label,
            *(spread(results.spread(name, loops)) for name in ("mae", "in_range", "out_of_range")),
            number(results.mean("largest_prediction", loops), 2),
            results.seeds,
        ]
        for results in gathered
        if results.results
        for loops in results.row.all_loops
    ]
    return markdown_table(["model", "loops at test", "Test", "ID", "OOR", "largest", "seeds"], lines)
