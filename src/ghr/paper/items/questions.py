"""Questions beside shortest paths, beyond the range of the training."""

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table
from ghr.paper.questions import LARGE, QUESTIONS, SMALL, QuestionRow
from ghr.paper.results import gather
from ghr.paper.row import AS_TRAINED
from ghr.paper.runs import RowRun

TARGET = 0.1
ROWS = tuple(QuestionRow.on(question) for question in QUESTIONS)

_CLAIM = f"""\
`ghr-select` is trained on random geometric graphs of {SMALL[0][0]}-{SMALL[0][1]} nodes to answer a question about every
node, and tested on graphs of {LARGE[0][0]}-{LARGE[0][1]} nodes with four times the updates. "Beyond" are nodes there
whose answer is larger than any in training. Nothing in the model knows the question: it learns whom to listen to, what
a step adds and where values start. Mean absolute errors of the worst seed; the constant is the best one for those
nodes. The aim is an error of at most a tenth of it."""


@dataclass(frozen=True)
class Questions:
    """Every question, asked with several seeds.

    Args:
        rows: What is asked.
    """

    name: str = "table-questions"
    title: str = "Questions beside shortest paths, beyond the range of the training"
    rows: tuple[QuestionRow, ...] = ROWS

    def report(self, place: Place) -> Report:
        """Show how the finished runs answer."""
        lines, record, met = [], [], 0
        for row in self.rows:
            results = gather([row], place.runs, place.seeds)[0]
            (test,) = row.tests
            found = {
                seed: {**answer, "ratio": answer["beyond"] / answer["constant"]}
                for seed in results.results
                if (answer := RowRun(row, seed, place.runs).ask(test, AS_TRAINED, place.data)) is not None
            }
            seconds = [results.results[seed]["cpu_seconds"] for seed in found]
            met += bool(found) and all(answer["ratio"] <= TARGET for answer in found.values())
            numbers = _line(found, results.parameters, seconds) if found else ["-"] * 7
            lines.append([f"{row.question.name}: {row.question.text}", *numbers, results.seeds])
            record.append({**row.describe(), "seeds": [{"seed": seed, **answer} for seed, answer in found.items()]})
        header = ["question", "trained to", "in range", "beyond", "constant", "beyond / constant"]
        table = markdown_table([*header, "parameters", "CPU s", "seeds"], lines)
        text = (
            f"{_CLAIM}\n\n{table}\n\nAt most a tenth of the constant's error with every finished seed: {met} of "
            f"{len(self.rows)} questions."
        )
        return Report(text, {"rows": record})


def _line(found: dict[int, dict[str, Any]], parameters: int, seconds: list[float]) -> list[str]:
    worst = max(found.values(), key=lambda answer: float(answer["ratio"]))
    return [
        f"{worst['largest']:.1f}",
        f"{worst['in_range']:.4f}",
        f"{worst['beyond']:.4f}",
        f"{worst['constant']:.3f}",
        f"{worst['ratio']:.4f}",
        f"{parameters:,}",
        f"{fmean(seconds):.0f}",
    ]
