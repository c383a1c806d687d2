"""The figure that compares GHR with fixed-depth models at small distances."""

from dataclasses import dataclass

from ghr.paper.claims import Claim, claims_table
from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table, number, spread
from ghr.paper.results import RowResults, Spread, gather
from ghr.paper.rgg import SMALL
from ghr.paper.row import AS_TRAINED, Row
from ghr.plots.curves import Panel, draw_curves

_CLAIM = """\
The paper trains GHR, a deep GINE and a GPS-style model on random geometric graphs of 40-60 nodes whose distances are
capped at 5 (left) or 8 (right), and tests all of them up to 8 hops. It prints no numbers. In words: trained to 5, all
three are close to zero error within the range; out of it the two fixed-depth models grow to about 3 hops of error at
distance 8, and GHR stays near zero; trained to 8, all three are accurate.

Below are the numbers of our runs: mean absolute error in hops, mean ± standard deviation over seeds. GHR is trained
with R = 4, T_H = T_L = 2; rows of other loops are the same weights, and those of T_H = 3 and of R = 6 agree because
both take twelve updates of the high level, which is all that R and T_H decide at test. Our deep GINE reads the input at
every layer, as the flat models of the ablation table do. "Training" is the mean over seeds; its time is that of the
clock, which grows with whatever else the machine does."""

_SHOWN = (6, 7, 8)


@dataclass(frozen=True)
class SmallRange:
    """Error by distance of GHR, a deep GINE and GPS, trained up to 5 and up to 8 hops."""

    name: str = "figure-small-range"
    title: str = "Out-of-range generalisation on RGG-SSSP, small distances"
    rows: tuple[Row, ...] = (*SMALL[5], *SMALL[8])

    def report(self, place: Place) -> Report:
        """Draw both panels and list every number."""
        gathered = {cap: gather(rows, place.runs, place.seeds) for cap, rows in SMALL.items()}
        panels = [Panel(f"trained up to {cap} hops", cap, _curves(rows)) for cap, rows in gathered.items()]
        tables = [f"## Trained up to {cap} hops\n\n{_table(rows)}" for cap, rows in gathered.items()]
        record = {"rows": [results.record() for rows in gathered.values() for results in rows]}
        text = [_CLAIM, "## What holds", claims_table(_claims(gathered[5], gathered[8])), *tables]
        return Report("\n\n".join(text), record, draw_curves(panels))


def _claims(five: list[RowResults], eight: list[RowResults]) -> list[Claim]:
    ghr, *fixed = five
    return [
        Claim.below(
            "trained to 5, all are accurate in range (error at most 0.1, as trained)",
            0.1,
            {results.row.title: results.mean("in_range") for results in five},
        ),
        Claim.above(
            "trained to 5, the fixed-depth models are about 3 hops off at distance 8 (at least 2)",
            2.0,
            {results.row.title: results.at_distance(8) for results in fixed},
        ),
        Claim.below(
            "trained to 5, GHR stays near zero out of range (error over distances 6-8 at most 0.5)",
            0.5,
            {loops.label: ghr.mean("out_of_range", loops) for loops in (ghr.row.far_loops, AS_TRAINED)},
        ),
        Claim.below(
            "trained to 8, all are accurate up to 8 (error at distance 8 at most 0.5, as trained)",
            0.5,
            {results.row.title: results.at_distance(8) for results in eight},
        ),
    ]


def _curves(rows: list[RowResults]) -> dict[str, dict[int, Spread]]:
    curves = {}
    for results in rows:
        row = results.row
        if row.far_loops != AS_TRAINED:
            curves[f"{row.title}, {row.far_loops.label} at test"] = results.by_distance(row.far_loops)
        curves[row.title] = results.by_distance()
    return curves


def _table(rows: list[RowResults]) -> str:
    header = ["model", "loops at test", "in range", *(str(d) for d in _SHOWN), "out of range", "parameters", "seeds"]
    lines = [
        [
            results.row.title,
            loops.label,
            spread(results.spread("in_range", loops)),
            *(number(results.at_distance(d, loops)) for d in _SHOWN),
            spread(results.spread("out_of_range", loops)),
            f"{results.parameters:,}",
            results.seeds,
            results.row.budget,
            results.cost,
        ]
        for results in rows
        for loops in results.row.all_loops
    ]
    return markdown_table([*header, "budget", "training"], [*lines, _count_nodes(rows)])


def _count_nodes(rows: list[RowResults]) -> list[str]:
    """Return a line that says how many nodes the numbers at a distance are means of."""
    found = (metrics[AS_TRAINED.label]["by_distance"] for results in rows for metrics in results.metrics.values())
    groups: dict[str, dict[str, int]] = next(found, {})
    counts = (f"{groups[str(d)]['count']:,}" if str(d) in groups else "-" for d in _SHOWN)
    return ["(nodes in the test graphs)", "", "", *counts, *[""] * 5]
