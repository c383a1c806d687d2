"""Left open by the paper: how much its numbers of steps, its levels, its pooling and its partition matter."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ghr.datasets import BENCHMARKS
from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table, number
from ghr.paper.results import RowResults, gather
from ghr.paper.row import Row
from ghr.paper.sensitivity import ECHO, LRIM, Sensitivity, used_factors
from ghr.plots.importances import draw_all_importances

_SETTING = """\
The paper names the sensitivity to its numbers as a question that it leaves open. Here the recipe of a benchmark is
varied, one number or choice at a time; the model is the paper's, with our start, and every row has about the same
processor time on one thread, a few minutes: what takes more updates gets fewer epochs, fixed beforehand. **So this
tells what is worth its cost in a short training, not what is best in a long one.** The recipe has three seeds, all
other rows one: a difference that is smaller than the spread of the recipe means nothing.

Further rows have a value at random for every factor at once. From all finished rows together the importances are
computed, as `ghr search` does it (PED-ANOVA of Optuna: what sets the better tenth of trials apart from the rest, by the
error on the validation graphs). Rows without a coarse level have no T_H, no pooling and no partition: there the table
has a dash for them, and the importances are computed without these rows."""


@dataclass(frozen=True)
class SensitivityTable:
    """Errors of the recipe with one factor changed, and which factors matter."""

    name: str = "table-sensitivity"
    title: str = "Left open by the paper: which of its numbers matter"
    studies: tuple[Sensitivity, ...] = (ECHO, LRIM)

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows: of both benchmarks first the recipe, then one factor at a time, then those at random."""
        return tuple(
            row
            for rows in ("base", "single_rows", "drawn_rows")
            for study in self.studies
            for row in ([study.base] if rows == "base" else getattr(study, rows))
        )

    def report(self, place: Place) -> Report:
        """Make a table of every benchmark, and draw the importances."""
        text, record, panels = [_SETTING], [], {}
        for study in self.studies:
            found = {results.row.folder: results for results in gather(study.rows, place.runs, place.seeds)}
            importances = _weigh(study, found)
            panels[study.title] = importances
            text += [f"## {study.title}", _describe(study), _table(study, found), _judge(study, found)]
            text += ["### Importances", _list(study, importances, found), "### Rows at random", _drawn(study, found)]
            record.append(
                {
                    "benchmark": study.benchmark,
                    "importances": importances,
                    "rows": [
                        {**found[row.folder].row.describe(), **_numbers(study, found[row.folder])} for row in study.rows
                    ],
                }
            )
        figure = draw_all_importances(panels) if any(panels.values()) else None
        return Report("\n\n".join(part for part in text if part), {"studies": record}, figure)


_Found = dict[str, RowResults]


def _describe(study: Sensitivity) -> str:
    graphs = " / ".join(f"{count:,}" for count in study.graphs.values())
    shown = ", ".join(f"{factor.title} = {factor.recipe}" for factor in study.factors)
    return f"`{study.benchmark}`, {graphs} graphs for training, validation and test. The recipe: {shown}."


def _table(study: Sensitivity, found: _Found) -> str:
    header = ["factor", "value", "error", "to the recipe", "epochs", "CPU min", "seeds"]
    base = found[study.base.folder]
    middle = _mean(study, base)
    lines = [["the recipe", "", _spread(study, base), "", *_cost(base)]]
    for factor in study.factors:
        for value in factor.others:
            results = found[study.row(factor, value).folder]
            error = _mean(study, results)
            change = None if error is None or middle is None else error - middle
            told = "-" if change is None else f"{change:+.{study.digits}f}"
            lines.append([factor.title, str(value), number(error, study.digits), told, *_cost(results)])
    return markdown_table(header, lines)


def _judge(study: Sensitivity, found: _Found) -> str:
    """Return in words what is better than the recipe by more than chance; nothing before the recipe has two seeds."""
    errors = _errors(study, found[study.base.folder])
    if len(errors) < 2:
        return ""
    low, high = min(errors), max(errors)
    single = {row.title: value for row in study.single_rows if (value := _mean(study, found[row.folder])) is not None}
    better = [title for title, value in single.items() if value < low]
    worse = [title for title, value in single.items() if value > high]
    parts = [f"- better than every seed of the recipe: {'; '.join(better) or 'nothing'}."]
    parts.append(f"- worse than every seed of it: {'; '.join(worse) or 'nothing'}.")
    return "\n".join(parts)


def _weigh(study: Sensitivity, found: _Found) -> dict[str, float]:
    """Return the importances among rows with a coarse level; nothing before every factor has had two values there."""
    from ghr.search import weigh_settings  # Optuna takes a second to import

    scores = {
        folder: float(next(iter(results.results.values()))["best_val"])
        for folder, results in found.items()
        if results.results and next(iter(results.results.values()))["best_val"] is not None
    }
    higher = BENCHMARKS[study.benchmark].task.score.higher_is_better
    trials = [trial for trial in study.trials(scores) if trial.chosen["levels"] != 1]
    if any(len({trial.chosen[factor.name] for trial in trials}) < 2 for factor in study.factors):
        return {}
    weights = weigh_settings(trials, study.space, higher_is_better=higher)
    titles = {factor.name: factor.title for factor in study.factors}
    return {titles[name]: weight for name, weight in weights.items()}


def _list(study: Sensitivity, importances: dict[str, float], found: _Found) -> str:
    done = sum(bool(results.results) for results in found.values())
    if not importances:
        return f"Nothing can be said yet: {done} of {len(study.rows)} rows are finished."
    ordered = sorted(importances.items(), key=lambda pair: -pair[1])
    told = f"Of {done} of {len(study.rows)} rows, without those that have no coarse level; shares that add up to one."
    return f"{told}\n\n{markdown_table(['factor', 'importance'], [[name, f'{share:.2f}'] for name, share in ordered])}"


def _drawn(study: Sensitivity, found: _Found) -> str:
    header = ["row", *(factor.title for factor in study.factors), "error", "epochs", "CPU min", "seeds"]
    lines = []
    for place, row in enumerate(study.drawn_rows):
        chosen, results = study.draw(place), found[row.folder]
        used = used_factors(chosen)
        values = [str(chosen[factor.name]) if factor.name in used else "-" for factor in study.factors]
        lines.append([row.title, *values, number(_mean(study, results), study.digits), *_cost(results)])
    return markdown_table(header, lines) if lines else ""


def _errors(study: Sensitivity, results: RowResults) -> list[float]:
    return [float(result["metrics"][study.number]) for result in results.results.values()]


def _mean(study: Sensitivity, results: RowResults) -> float | None:
    errors = _errors(study, results)
    return fmean(errors) if errors else None


def _spread(study: Sensitivity, results: RowResults) -> str:
    errors, digits = _errors(study, results), study.digits
    if len(errors) < 2:
        return number(errors[0] if errors else None, digits)
    return f"{fmean(errors):.{digits}f} ({min(errors):.{digits}f} to {max(errors):.{digits}f})"


def _cost(results: RowResults) -> Sequence[str]:
    times = [result.get("cpu_seconds", result["seconds"]) for result in results.results.values()]
    minutes = f"{fmean(times) / 60:.1f}" if times else "-"
    return [str(results.row.experiment().train.epochs), minutes, results.seeds]


def _numbers(study: Sensitivity, results: RowResults) -> dict[str, Any]:
    return {
        "seeds": [
            {
                "seed": seed,
                "error": result["metrics"][study.number],
                **{name: result[name] for name in ("epochs", "best_val", "parameters", "seconds")},
                "cpu_seconds": result.get("cpu_seconds"),
                "versions": result["versions"],
                "machine": result["machine"],
            }
            for seed, result in results.results.items()
        ]
    }
