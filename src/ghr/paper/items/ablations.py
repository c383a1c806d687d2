"""The ablations on random geometric graphs: their table, and their figure of the error by distance."""

from dataclasses import dataclass

from ghr.paper.claims import Claim, claims_table
from ghr.paper.curves import Panel, draw_curves
from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table, number, spread
from ghr.paper.results import RowResults, Spread, gather
from ghr.paper.rgg import ABLATIONS, FULL, REDUCED
from ghr.paper.row import AS_TRAINED, Row

_SETTING = """\
Random geometric graphs of 300-350 nodes with distances up to 20 hops in training (ID), tested on graphs of 300-500
nodes with distances up to 40 (OOR: beyond 20). Mean absolute error in hops, mean ± standard deviation over seeds. The
paper prints a deviation too, without saying over what.

**Budgets differ.** Rows of full protocol are trained as the paper says. All other rows are trained with a reduced
budget, about the same time for each, stated on every row: compare them with each other, and with the paper's numbers
only with that in mind. "Steps at test" are those with which the paper goes beyond the trained range. "Training" is the
mean over seeds; its time is that of the clock, which grows with whatever else the machine does."""


def _values(reported: tuple[float, float] | None) -> Spread | None:
    return None if reported is None else Spread(*reported)


@dataclass(frozen=True)
class AblationTable:
    """Errors of all variants within and beyond the trained range, beside the paper's."""

    name: str = "table-ablations"
    title: str = "Ablations of GHR on RGG-SSSP"

    @property
    def rows(self) -> tuple[Row, ...]:
        """All 13 rows of the paper, two of them by full protocol too."""
        return ABLATIONS

    def report(self, place: Place) -> Report:
        """List our numbers and the paper's, and ours with other numbers of steps."""
        gathered = [gather(row, place.runs, place.seeds) for row in (*FULL, *REDUCED)]
        text = [_SETTING, _main_table(gathered)]
        text += ["## What holds", claims_table(_claims(gathered[: len(FULL)], gathered[len(FULL) :]))]
        text += ["## Other numbers of steps at inference", _steps_table(gathered)]
        return Report("\n\n".join(text), {"rows": [each.record() for each in gathered]})


@dataclass(frozen=True)
class AblationFigure:
    """Error by distance of all variants, up to 40 hops."""

    name: str = "figure-ablations"
    title: str = "Ablations of GHR on RGG-SSSP, by distance"

    @property
    def rows(self) -> tuple[Row, ...]:
        """As in the table."""
        return ABLATIONS

    def report(self, place: Place) -> Report:
        """Draw all variants with the numbers of steps with which the paper goes beyond the trained range."""
        gathered = [gather(row, place.runs, place.seeds) for row in (*FULL, *REDUCED)]
        groups = {
            "GHR": [each for each in gathered if each.row.title.startswith("GHR")],
            "flat models": [each for each in gathered if not each.row.title.startswith("GHR")],
        }
        in_range = REDUCED[0].recipe.data.in_range
        panels = [
            Panel(title, in_range, {each.row.title: each.by_distance(each.row.beyond) for each in rows if each.results})
            for title, rows in groups.items()
        ]
        header = ["model", "steps at test", *(str(d) for d in _SHOWN), "seeds", "budget"]
        lines = [
            [each.row.title, each.row.beyond.label, *_errors(each), each.seeds, each.row.budget] for each in gathered
        ]
        return Report(
            f"{_SETTING}\n\nMean absolute error at some distances:\n\n{markdown_table(header, lines)}",
            {"rows": [each.record() for each in gathered]},
            draw_curves(panels),
        )


_SHOWN = (1, 5, 10, 15, 20, 25, 30, 35, 40)


def _errors(each: RowResults) -> list[str]:
    at = each.by_distance(each.row.beyond)
    return [number(at[d].mean if d in at else None, 2) for d in _SHOWN]


def _claims(full: list[RowResults], reduced: list[RowResults]) -> list[Claim]:
    by_title = {each.row.title: each for each in reduced}
    deep = [each for each in reduced if each.row.title.startswith("Deep")]
    return [
        Claim.below(
            "GHR-GatedGINE keeps working beyond the range (the paper's OOR is 0.578; at most 1, full protocol)",
            1.0,
            {full[0].row.title: full[0].mean("out_of_range", full[0].row.beyond)},
        ),
        Claim.lowest(
            "GHR-GatedGINE has the lowest OOR of all variants (reduced budget)",
            {title: each.mean("out_of_range", each.row.beyond) for title, each in by_title.items()},
        ),
        Claim.below(
            "deep flat models stop near the trained depth of 20 (largest prediction at most 25)",
            25.0,
            {each.row.title: each.mean("largest_prediction") for each in deep},
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
    header = [
        "model",
        "Test",
        "paper",
        "ID",
        "paper",
        "OOR",
        "paper",
        "largest",
        "paper",
        "steps at test",
        "seeds",
        "budget",
        "training",
    ]
    lines = []
    for each in gathered:
        paper, beyond = each.row.reported, each.row.beyond
        line = [each.row.title]
        for name in ("mae", "in_range", "out_of_range"):
            line += [spread(each.spread(name, beyond)), spread(_values(getattr(paper, name, None)))]
        line += [
            number(each.mean("largest_prediction", beyond), 2),
            number(None if paper is None else paper.largest_prediction, 2),
        ]
        lines.append([*line, beyond.label, each.seeds, each.row.budget, each.cost])
    return markdown_table(header, lines)


def _steps_table(gathered: list[RowResults]) -> str:
    header = ["model", "steps at test", "Test", "ID", "OOR", "largest", "seeds"]
    lines = []
    for each in gathered:
        for counts in (AS_TRAINED, *each.row.inference):
            if each.results:
                values = [spread(each.spread(name, counts)) for name in ("mae", "in_range", "out_of_range")]
                lines.append(
                    [
                        each.row.title,
                        counts.label,
                        *values,
                        number(each.mean("largest_prediction", counts), 2),
                        each.seeds,
                    ]
                )
    return markdown_table(header, lines)
